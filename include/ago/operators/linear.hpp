// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix product over the channels of each pixel.
#pragma once

#include <ago/operators/per_channel.hpp>

#include <concepts>

namespace ago {

/// Matrix product over the channels of each pixel, plus bias. Weights [out][channels], then [out].
struct linear {
  int out = 0;
  bool bias = true;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::linear, line, x);
    ir::node n{.kind = op::linear, .out = x.dims()};
    n.out.c = r.positive(out);
    n.weight = r.place(op::linear, role::weight, n.out.c, x.channels());
    tensor const y = r.append(n, x);
    return bias ? tracing::append_bias(r, y) : y;
  }
};

namespace described {

constexpr operand linear(node const& n, std::same_as<operand> auto x, parameters const& parameter) {
  operand const weight = parameter.weight("weight", x.extent(3));
  var i, y, j, k, c;
  scalar const total = sum(c)(x(i, y, j, c) * weight(k, c));
  return result(i, y, j, k) = scaled_by_norm(n, total, k, parameter);
}

}  // namespace described

}  // namespace ago
