// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The symbolic value that layers take and return while a network is traced.
#pragma once

#include <ago/tracing/recorder.hpp>

namespace ago {

/// A value of the network being traced. All values have this type, so that variables, loops and ?: work on them.
/// It exists only during tracing. Its extents are known immediately: `x.channels()` can decide what is recorded next.
struct tensor {
  tracing::recorder* recorder{};  ///< null in a default-constructed tensor, which no layer accepts
  int index{};                    ///< the number of its node
  expression::extents axes{};     ///< as operators by expression see it; rank 0: the four of dims()

  constexpr shape dims() const { return recorder ? recorder->nodes[index].out : shape{}; }
  constexpr int images() const { return dims().n; }
  constexpr int height() const { return dims().h; }
  constexpr int width() const { return dims().w; }
  constexpr int channels() const { return dims().c; }
  /// Up to six extents, outermost first; those of dims() unless it is the result of an operator by expression or of
  /// `view`.
  constexpr expression::extents extents() const {
    shape const s = dims();
    return axes.rank > 0 ? axes : expression::extents(s.n, s.h, s.w, s.c);
  }
};

namespace tracing {
/// Source line of the layer that recorded `x`.
constexpr int line_of(tensor x) { return x.recorder ? x.recorder->nodes[x.index].line : 0; }

/// The left operand of an operator with its source line; operators themselves cannot have default arguments.
struct left_operand {
  tensor value;
  int line;
  constexpr left_operand(tensor x, int at = __builtin_LINE()) : value(x), line(at) {}
};
}  // namespace tracing

}  // namespace ago
