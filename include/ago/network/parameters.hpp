// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of a network: the size and layout of its weight blob.
#pragma once

#include <ago/network/lowering.hpp>

namespace ago {

namespace lowering {

/// Parameters in declaration order; a layer's weight precedes its bias; batch norm: gamma, beta, mean, variance.
template <int N>
struct parameter_table {
  parameter rows[N > 0 ? N : 1]{};

  static constexpr int size() { return N; }
  constexpr parameter const& operator[](int i) const { return rows[i]; }
  constexpr parameter const* begin() const { return rows; }
  constexpr parameter const* end() const { return rows + N; }
};

template <auto const& Net>
constexpr auto list_parameters() {
  constexpr bool is_constant = is_constexpr<Net>;  // compilers would print more about a concept
  static_assert(is_constant,
                "ago: a network must be a constant, as in: inline constexpr auto net = input{...} | layers;");
  constexpr int n = traced<Net>::size.parameters;
  parameter_table<n> table;
  if constexpr (n > 0) {
    recorder r;
    r.names = naming(names_of<Net>());
    record(r, Net);
    for (int i = 0; i < n; ++i) table.rows[i] = r.parameters[i];
  }
  return table;
}

}  // namespace lowering

/// Name, role, shape and offset of every parameter of `Net`.
template <auto const& Net>
inline constexpr auto parameters = lowering::list_parameters<Net>();

/// The number of floats in the weight blob, including running statistics of batch norm.
template <auto const& Net>
inline constexpr int parameter_count = lowering::lowered<Net>::value.parameters;

}  // namespace ago
