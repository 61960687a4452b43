// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout, which has an effect in training only.
#pragma once

#include <ago/tracing/recording.hpp>

namespace ago {

/// In training (trainer): each element is 0 with this probability, and the others are scaled so that the mean stays;
/// elsewhere nothing, and it costs nothing: PyTorch's Dropout. `probability`: from 0 up to, but not including, 1.
struct dropout {
  float probability = .5f;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    bool const valid = probability >= 0 && probability < 1;
    if (!valid) tracing::recording(op::identity, line, x).complain(ir::fault::not_a_probability, 0, 0);
    return tracing::record_elementwise(x, line, {.kind = op::identity, .alpha = valid ? probability : 0});
  }
};

namespace tracing {
/// Is it a dropout? (An identity has no other use for a number.)
constexpr bool is_dropout(ir::node const& n) { return n.kind == op::identity && n.alpha > 0; }
}  // namespace tracing

}  // namespace ago
