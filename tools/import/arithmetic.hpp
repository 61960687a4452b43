// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on values while a model is lowered: of values and constants, with broadcasting.
#pragma once

#include "lowering.hpp"

#include <string>

namespace ago::importer {

/// Applies an elementwise layer.
view unary(context& c, view x, layer_value layer);
/// map{[](auto x) { return <expression>; }}
view mapped(context& c, view x, std::string expression);
/// A float as a C++ literal.
std::string literal(float x);

/// A number as a register, in an expression of x.
std::string wide(float x);
/// `yes` where a < b, otherwise `no`: expressions of x.
std::string where_less(std::string const& a, std::string const& b, std::string const& yes, std::string const& no);

/// ONNX's broadcasting of two shapes.
extents broadcast(extents const& a, extents const& b);
/// `x` broadcast to dims, by repeating elements.
view expanded(context& c, view x, extents const& dims);

enum class arithmetic { add, subtract, multiply, divide, maximum, minimum, power };
view combined(context& c, arithmetic what, view a, view b);
/// With constant numbers.
view combined(context& c, arithmetic what, view a, extents const& dims, std::vector<float> const& b);
view combined(context& c, arithmetic what, extents const& dims, std::vector<float> const& a, view b);

/// The constant's elements repeated over `dims`, in row-major order.
std::vector<float> broadcast_values(context const& c, extents const& from, std::vector<float> const& values,
                                    extents const& dims);

/// Replaces the elements along `axis` by linear combinations: result i is the sum of matrix[i][k] * element k.
view times_matrix(context& c, view x, int axis, std::vector<float> const& matrix);
/// The same, plus an optional number for each result.
view linear_along(context& c, view x, int axis, std::int64_t out, std::vector<float> weights,
                  std::vector<float> const& shift);

/// Numbers given in row-major order of some axes, reordered as the elements of these axes lie in memory.
std::vector<std::int64_t> order_within(layout const& l, std::vector<int> const& axes);

}  // namespace ago::importer
