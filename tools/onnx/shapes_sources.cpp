// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of operators whose result depends only on a shape or on the value of a constant.
#include "constants.hpp"
#include "rules.hpp"
#include "tensor_proto.hpp"

namespace ago::onnx::shapes {

void constant_node(site& s) {
  constant const c = constant_of(s);
  s.set(0, c.dims, c.type);
}

void constant_of_shape(site& s) {
  constant const fill = fill_of(s);
  s.set(0, s.integers(0, "shape"), fill.type);
}

void shape(site& s) {
  auto const [first, last] = shape_range(s);
  s.set(0, {static_cast<std::int64_t>(last - first)}, element::integer);
}

void size(site& s) { s.set(0, {}, element::integer); }

void range(site& s) { s.set(0, {range_length(s)}, s.element_type(0)); }

void eye_like(site& s) {
  if (s.rank(0) != 2) throw fault{"", "its input has the shape " + text_of(s.dims(0)) + ", expected a matrix"};
  std::int64_t const type = s.integer("dtype", 0);
  if (type < 0 || type > 1000) throw fault{"dtype", "data type number " + std::to_string(type) + " is not supported"};
  s.set(0, s.dims(0), type == 0 ? s.element_type(0) : element_of(static_cast<int>(type)));
}

void nonzero(site& s) {
  constant const& x = s.known(0, "X");
  std::int64_t count = 0;
  for (float const v : x.reals) count += v != 0.0f;
  for (std::int64_t const v : x.integers) count += v != 0;
  s.set(0, {static_cast<std::int64_t>(x.dims.size()), count}, element::integer);
}

}  // namespace ago::onnx::shapes
