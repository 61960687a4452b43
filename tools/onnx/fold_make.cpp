// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folding of operators that make constants.
#include <algorithm>

#include "constants.hpp"
#include "fold.hpp"
#include "view.hpp"

namespace ago::onnx::folding {
namespace {

constant list(extents numbers) {
  auto const size = static_cast<std::int64_t>(numbers.size());
  return {.type = element::integer, .dims = {size}, .integers = std::move(numbers)};
}

constant constant_of_shape(site const& s) {
  constant const fill = fill_of(s);
  constant c = zeros(fill.type, s.integers(0, "shape"));
  both(c, fill, [](auto& to, auto const& from) { std::fill(to.begin(), to.end(), from[0]); });
  return c;
}

constant shape(site const& s) {
  auto const [first, last] = shape_range(s);
  auto const begin = s.dims(0).begin();
  return list({begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)});
}

constant range(site const& s) {
  constant c = zeros(s.element_type(0), {range_length(s)});
  constant const& start = s.known(0, "start");
  constant const& delta = s.known(2, "delta");
  for (std::size_t i = 0; i < c.reals.size(); ++i) c.reals[i] = start.reals[0] + static_cast<float>(i) * delta.reals[0];
  for (std::size_t i = 0; i < c.integers.size(); ++i) {
    // Unsigned: the last element is in range, but an intermediate product may overflow in steps that are never taken.
    c.integers[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(start.integers[0]) +
                                              i * static_cast<std::uint64_t>(delta.integers[0]));
  }
  return c;
}

constant eye_like(site const& s) {
  constant c = zeros(s.output_type(0), s.dims(0));
  std::int64_t const k = s.integer("k", 0), rows = s.dims(0)[0], columns = s.dims(0)[1];
  if (columns == 0) return c;  // an empty result: nothing bounds the number of rows
  for (std::int64_t row = 0; row < rows; ++row) {
    if (k < -row || k >= columns - row) continue;
    with_numbers(c, [&](auto& numbers) { numbers[static_cast<std::size_t>(row * columns + row + k)] = 1; });
  }
  return c;
}

constant nonzero(constant const& x) {
  std::vector<extents> found(x.dims.size());
  extents const strides = strides_of(x.dims);
  with_numbers(x, [&](auto const& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == 0) continue;
      for (std::size_t axis = 0; axis < x.dims.size(); ++axis) {
        found[axis].push_back(static_cast<std::int64_t>(i) / strides[axis] % x.dims[axis]);
      }
    }
  });
  extents all;
  for (extents const& axis : found) all.insert(all.end(), axis.begin(), axis.end());
  std::int64_t const rank = static_cast<std::int64_t>(x.dims.size());
  std::int64_t const count = rank == 0 ? 0 : static_cast<std::int64_t>(found[0].size());
  return {.type = element::integer, .dims = {rank, count}, .integers = std::move(all)};
}

constant size(site const& s) {
  constant c = list({volume(s.dims(0))});
  c.dims = {};
  return c;
}

}  // namespace

results make(site const& s) {
  auto const one = [](constant c) {
    std::vector<constant> all;
    all.push_back(std::move(c));
    return results(std::move(all));
  };
  std::string const& type = s.type();
  if (type == "Constant") return one(constant_of(s));
  if (type == "ConstantOfShape") return one(constant_of_shape(s));
  if (type == "Shape") return one(shape(s));
  if (type == "Size") return one(size(s));
  if (type == "Range") return one(range(s));
  if (type == "NonZero") return s.rank(0) == 0 ? results{} : one(nonzero(s.known(0, "X")));
  if (type == "EyeLike") return one(eye_like(s));
  return {};
}

}  // namespace ago::onnx::folding
