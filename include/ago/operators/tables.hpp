// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trained values: embedding, constant, positions.
#pragma once

#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

/// Rows of a trained table: {n, h, w, 1} becomes {n, h, w, width}. Row numbers are integers stored as float32; those
/// outside the table are clamped to its first or last row. Weights [entries][width].
struct embedding {
  int entries = 1, width = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::embedding, line, x);
    shape const in = x.dims();
    if (in.c != 1) r.complain(ir::fault::channels_differ, 1, in.c);
    ir::node n{.kind = op::embedding, .out = {in.n, in.h, in.w, r.positive(width)}};
    n.entries = r.positive(entries);
    if (n.entries > 1 << 24)
      r.complain(ir::fault::too_many_elements, 1 << 24, n.entries);  // float32 skips integers above
    n.weight = r.place(op::embedding, role::weight, n.entries, n.out.c);
    return r.append(n, x);
  }
};

/// A trained value, independent of x: `x + (x | constant{.h = 8, .w = 8, .c = 3})`. Weights [n][h][w][c].
struct constant {
  int n = 1, h = 1, w = 1, c = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::constant, line, x);
    ir::node made{.kind = op::constant, .out = {r.positive(n), r.positive(h), r.positive(w), r.positive(c)}};
    made.weight = r.place(op::constant, role::weight, made.out.n, made.out.h, made.out.w, made.out.c);
    return r.append(made, tensor{x.recorder, 0});  // every operator has an operand; this one does not read it
  }
};

/// Adds a trained number to each element, the same for all images. Weights [h][w][channels].
struct positions {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::positions, line, x);
    ir::node n{.kind = op::positions, .out = x.dims()};
    n.weight = r.place(op::positions, role::weight, n.out.h, n.out.w, n.out.c);
    return r.append(n, x);
  }
};

namespace described {

/// The rows of a table at indices that are values.
constexpr operand embedding(node const& n, std::same_as<operand> auto row, parameters const& parameter) {
  operand const table = parameter("table", n.weight, n.entries, n.out.c);
  var i, y, j, c;
  return result(i, y, j, c) = table(row(i, y, j, 0), c);
}

/// Parameters as a value.
constexpr operand constant(node const& n, std::same_as<parameters> auto const& parameter) {
  operand const value = parameter("value", n.weight, n.out.n, n.out.h, n.out.w, n.out.c);
  var i, y, j, c;
  return result(i, y, j, c) = value(i, y, j, c);
}

/// A table for the pixels of an image.
constexpr operand positions(node const& n, std::same_as<operand> auto x, parameters const& parameter) {
  operand const table = parameter("table", n.weight, n.out.h, n.out.w, n.out.c);
  var i, y, j, c;
  return result(i, y, j, c) = x(i, y, j, c) + table(y, j, c);
}

}  // namespace described

}  // namespace ago
