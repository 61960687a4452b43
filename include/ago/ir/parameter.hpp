// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trained tensor of a layer: its role and its place in the weight blob.
#pragma once

#include <ago/ir/op.hpp>

#include <cstdint>

namespace ago::ir {

/// The role of a parameter in its layer. `mean` and `variance` are batch norm's running statistics.
enum class role : std::uint8_t { weight, bias, gamma, beta, mean, variance };

constexpr char const* name_of(role what) {
  constexpr char const* names[] = {"weight", "bias", "gamma", "beta", "mean", "variance"};
  static_assert(has_enumerators<role, lines_of(names)>());
  return names[int(what)];
}

/// A trained tensor, stored contiguously in PyTorch's order.
struct parameter {
  op kind{};  ///< the operator that uses it
  ago::ir::role role{};
  int dims[6]{};        ///< outermost first: convolutions [out][in / groups][kh][kw], linear [out][in], others [c]
  int rank{};           ///< number of `dims`
  int offset{};         ///< offset of its first float in the blob
  int layer{}, line{};  ///< number of the layer, its source line
  char const* name{};   ///< from named(), with enclosing names: "encoders.1.norm2"; or null

  constexpr int count() const {
    int floats = 1;
    for (int i = 0; i < rank; ++i) floats *= dims[i];
    return floats;
  }
};

}  // namespace ago::ir

namespace ago {
using ir::name_of;
using ir::parameter;
using ir::role;
}  // namespace ago
