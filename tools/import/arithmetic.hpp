// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on values while a model is lowered: with each other, with constants, with broadcasting.
#pragma once

#include "lowering.hpp"

#include <string>

namespace ago::importer {

/// A layer that takes elements one by one.
view unary(context& c, view x, layer_value layer);
/// map{[](auto x) { return <expression>; }}
view mapped(context& c, view x, std::string expression);
/// A float as it is written in C++.
std::string literal(float x);

/// A number as a register, in an expression of x.
std::string wide(float x);
/// `yes` where a < b, `no` elsewhere: expressions of x.
std::string where_less(std::string const& a, std::string const& b, std::string const& yes, std::string const& no);

/// ONNX's broadcasting of two shapes.
extents broadcast(extents const& a, extents const& b);
/// `x` with the dims that it is broadcast to, elements repeated.
view expanded(context& c, view x, extents const& dims);

enum class arithmetic { add, subtract, multiply, divide, maximum, minimum, power };
view combined(context& c, arithmetic what, view a, view b);
/// With numbers known beforehand.
view combined(context& c, arithmetic what, view a, extents const& dims, std::vector<float> const& b);
view combined(context& c, arithmetic what, extents const& dims, std::vector<float> const& a, view b);

/// The constant's elements repeated over `dims`, in row-major order.
std::vector<float> broadcast_values(context const& c, extents const& from, std::vector<float> const& values,
                                    extents const& dims);

/// Elements along `axis` become linear combinations of themselves: result i is the sum of matrix[i][k] * element k.
view times_matrix(context& c, view x, int axis, std::vector<float> const& matrix);
/// The same with a number added to each result, or none.
view linear_along(context& c, view x, int axis, std::int64_t out, std::vector<float> weights,
                  std::vector<float> const& shift);

/// For the elements of some axes, as they lie in memory, their numbers in row-major order of these axes alone.
std::vector<std::int64_t> order_within(layout const& l, std::vector<int> const& axes);

}  // namespace ago::importer
