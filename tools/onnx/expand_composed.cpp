// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that are a few others.
#include <bit>
#include <limits>

#include "expand.hpp"

namespace ago::onnx::expansion {

void cast_like(parts_of_operation& p) {
  if (p.what().element_type(1) != element::real) {
    throw fault{"target_type", "it is not a float, and integers are not told from booleans"};
  }
  p.finish("Cast", {p.operand(0)}, {{"to", std::int64_t{1}}});
}

void is_infinite(parts_of_operation& p) {
  auto const& s = p.what();
  int const x = p.operand(0), most = p.number(std::numeric_limits<float>::max());
  bool const negative = s.flag("detect_negative", true), positive = s.flag("detect_positive", true);
  if (negative && positive) return p.finish("Greater", {p.make("Abs", {x}), most});
  if (positive) return p.finish("Greater", {x, most});
  if (negative) return p.finish("Less", {x, p.number(std::numeric_limits<float>::lowest())});
  p.finish("Less", {x, p.number(-std::numeric_limits<float>::infinity())});
}

/// Any number is less than 1 or greater than 0.
void is_nan(parts_of_operation& p) {
  int const x = p.operand(0);
  p.finish("Not", {p.make("Or", {p.make("Less", {x, p.number(1)}), p.make("Greater", {x, p.number(0)})})});
}

void global_lp_pool(parts_of_operation& p) {
  extents const dims = p.dims(0);
  if (dims.size() < 3) throw fault{"", "its input has the shape " + text_of(dims) + ", expected images"};
  p.finish("LpPool", {p.operand(0)},
           {{"kernel_shape", extents{dims.begin() + 2, dims.end()}}, {"p", p.what().integer("p", 2)}});
}

/// By cofactors: the determinant of the first rows and some columns, for each set of columns.
void determinant(parts_of_operation& p) {
  extents const dims = p.dims(0);
  constexpr std::int64_t most = 4;
  if (dims.size() < 2 || dims[dims.size() - 2] != dims.back()) {
    throw fault{"", "its input has the shape " + text_of(dims) + ", expected square matrices"};
  }
  std::int64_t const size = dims.back();
  if (size < 1 || size > most) {
    throw fault{"", "matrices of " + std::to_string(size) + " rows are not supported, only of 1 to 4"};
  }
  extents const out{dims.begin(), dims.end() - 2};
  auto const elements =
      p.split(p.reshape(p.operand(0), {volume(out), size * size}), extents(static_cast<std::size_t>(size * size), 1));
  auto const n = static_cast<unsigned>(size);
  std::vector<int> minors(std::size_t{1} << n, -1);  // by the set of columns
  for (unsigned columns = 1; columns < minors.size(); ++columns) {
    auto const row = static_cast<unsigned>(std::popcount(columns)) - 1;
    int sum = -1;
    for (unsigned k = n; k-- > 0;) {
      if ((columns >> k & 1) == 0) continue;
      int const element = elements[row * n + k], rest = minors[columns & ~(1u << k)];
      int const term = rest < 0 ? element : p.make("Mul", {element, rest});
      bool const odd = std::popcount(columns >> k) % 2 == 0;  // columns behind it
      sum = sum < 0 ? term : p.make(odd ? "Sub" : "Add", {sum, term});
    }
    minors[columns] = sum;
  }
  p.finish("Reshape", {minors.back(), p.list(out)});
}

}  // namespace ago::onnx::expansion
