// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a depthwise convolution computes for a tile of one vector of channels, one action a cycle, without loads.
#pragma once

#include <ago/kernel/depthwise/geometry.hpp>

#include <cstdint>

namespace ago::kernel {

/// What the order depends on.
struct depthwise_shape {
  int kernel_h, kernel_w, stride_h, stride_w, rows, columns;
  int bounds;  ///< of results: none, the lower one, both; or -1: another epilogue, which is not divided
};

/// One instruction.
struct depthwise_action {
  enum class kind : std::uint8_t {
    // Each of these occupies the first slot of a cycle.
    nothing,
    start,     ///< accumulator (y, z) = shift
    multiply,  ///< accumulator (y, z) += value * tap
    bound,     ///< sets the lower bound, or, if y is 1, the upper one
    raise,     ///< accumulator (y, z) to the lower bound
    lower,     ///< accumulator (y, z) to the upper bound
    store,     ///< accumulator (y, z)
    finish,    ///< the epilogue of row y
    // Each of these issues beside one of the others.
    point,   ///< computes the address of a value at a side
    high,    ///< loads the upper half of a value into a general register
    low,     ///< loads the lower half, and clears the upper one
    join,    ///< inserts the upper half
    move,    ///< moves a stream to its group of values
    unmove,  ///< undoes what `move` advanced, if this is the last iteration
    rewind,  ///< moves the results' row y back to its start, and on
    fetch,   ///< prefetches line `value` of later weights
    count,
    is_last,
  };
  kind what = kind::nothing;
  std::int8_t y = 0, z = 0;
  std::int16_t value = 0, tap = 0;  ///< `value` also: the stream, or a line; `tap`: its group
  bool next = false;                ///< belongs to the iteration after the one in which it is issued
};

/// Values are the inputs of the tile by rows, the taps, and the shift. A stream is what one pointer reads: a row of
/// inputs, whose columns form groups with known distances from the pointer, or the weights.
template <depthwise_shape D>
class depthwise_sequence
    : public depthwise_geometry<D.kernel_h, D.kernel_w, D.stride_h, D.stride_w, D.rows, D.columns> {
  using base = depthwise_geometry<D.kernel_h, D.kernel_w, D.stride_h, D.stride_w, D.rows, D.columns>;

 public:
  using base::kh, base::kw, base::sh, base::sw, base::rows, base::columns, base::in_rows, base::in_columns, base::sides,
      base::is_side, base::meets, base::uses;
  static constexpr int taps = kh * kw;
  static constexpr int values = in_rows * in_columns + taps + 1, shift = values - 1, streams = in_rows + 1;
  /// Do the bounds of results stay in registers? With a stride, more rows of taps are in use.
  static constexpr bool keeps_bounds = sh == 1 || rows == 1;

  static constexpr bool is_input(int v) { return v < in_rows * in_columns; }

  /// Index of a column at a side among those.
  static constexpr int side(int c) { return c < sides ? c : c - (in_columns - 2 * sides); }
  static constexpr int side_columns = columns > 1 ? 2 * sides : kw;
  /// Do columns at a side have two registers of distances? Otherwise their addresses are computed.
  static constexpr bool has_side_distances = side_columns <= 3;
  /// The column that a stream begins at, the columns between the sides, and how many of them make a group.
  static constexpr int first = columns > 1 ? sides : 0, inner = columns > 1 ? in_columns - 2 * sides : 0;
  static constexpr int group_columns = [] {
    int const sides = has_side_distances ? 2 * side_columns : side_columns + 2;
    int const general = 30 - in_rows - rows - (sw > 1 ? 15 : 13) - sides;
    int const most = general / 2 < 0 ? 1 : general / 2 + 1, enough = most < 4 ? most : 4;
    return inner == 0 ? 1 : inner < enough ? inner : enough;
  }();
  static constexpr int groups = inner == 0 ? 1 : (inner + group_columns - 1) / group_columns;
  static constexpr int group_of(int c) {
    return inner == 0 || c < first ? 0 : c >= in_columns - sides ? groups - 1 : (c - first) / group_columns;
  }

  /// Bits of the mask: rows of inputs inside the image, rows of results that exist, columns of inputs inside.
  static constexpr int result_bit(int y) { return in_rows + y; }
  static constexpr int column_bit(int c) { return in_rows + rows + c; }
  static_assert(in_rows + rows + in_columns <= 64, "the mask has 64 bits");

 protected:
  using action = depthwise_action;
  using kind = action::kind;
  static constexpr int most_main = rows * columns * (taps + 4) + in_rows * columns + 64;
  static constexpr int none = 1 << 20;

  struct guarded {
    action a;
    int outer = -1, inner = -1;  ///< bits
    int row = 0;                 ///< of inputs, which are loaded meanwhile
  };
  guarded sequence_[most_main]{};
  int length_ = 0;

  int row_ = 0;  ///< of inputs, of what is being written

  constexpr void issue(action a, int outer = -1, int inner = -1) { sequence_[length_++] = {a, outer, inner, row_}; }

  static constexpr action on_result(kind what, int y, int z, bool next = false) {
    return {what, std::int8_t(y), std::int8_t(z), 0, 0, next};
  }
  /// Enough for four products, or for three where there are more loads than products, which are then spread.
  static constexpr int lag(int r) { return base::lag(r, sw > 1 ? 3 * sw : 4); }

  /// Everything that occupies the first slot. The first row's accumulators are started at the end of the iteration
  /// before.
  constexpr void write_main() {
    for (int r = 0; r < in_rows; ++r) {
      row_ = r;
      if (r > 0 && r % sh == 0 && r / sh < rows)
        for (int z = 0; z < columns; ++z) issue(on_result(kind::start, r / sh, z));
      for (int t = 0; t < in_columns + lag(r) * (kw - 1); ++t)
        for (int kx = 0; kx < kw; ++kx) {
          int const c = t - lag(r) * kx;
          if (c < 0 || !meets(c, kx)) continue;
          for (int ky = 0; ky < kh; ++ky) {
            int const y = r - ky;
            if (y < 0 || y % sh != 0 || y / sh >= rows) continue;
            issue({kind::multiply, std::int8_t(y / sh), std::int8_t((c - kx) / sw), std::int16_t(r * in_columns + c),
                   std::int16_t(in_rows * in_columns + ky * kw + kx)},
                  r, is_side(c) ? column_bit(c) : -1);
          }
        }
      int const y = r - kh + 1;
      row_ = (r + 1) % in_rows;
      if (y >= 0 && y % sh == 0 && y / sh < rows) finish_row(y / sh);
    }
  }

  /// Bounds and stores the results of a row, four cycles after what they wait for, and stores not in neighbouring
  /// cycles.
  constexpr void finish_row(int y) {
    int const bit = result_bit(y);
    int starts = y == rows - 1 ? 0 : columns;
    auto const start = [&] { issue(on_result(kind::start, 0, starts++, true), bit, none); };
    if constexpr (D.bounds < 0) {
      issue(on_result(kind::finish, y, 0), bit);
      for (int i = 0; sh > 1 && i < 3 * columns; ++i) issue({}, bit);  // time to load, as beside bounds and stores
      while (starts < columns) issue(on_result(kind::start, 0, starts++, true));
      return;
    }
    int ready[columns]{}, done[4]{};
    for (int i = 0; i < length_; ++i)
      if (sequence_[i].a.what == kind::multiply && sequence_[i].a.y == y) ready[sequence_[i].a.z] = i + 4;
    auto const act = [&](kind what, int stage) {
      int const z = done[stage]++;
      issue(on_result(what, y, z), bit);
      ready[z] = length_ + 3;
    };
    auto const can = [&](int stage) {
      int const z = done[stage];
      return z < columns && (stage == 0 || z < done[stage - 1]) && ready[z] <= length_;
    };
    if (!keeps_bounds)
      for (int b = 0; b < D.bounds; ++b) issue({kind::bound, std::int8_t(b)}, bit);
    int last_store = -2;
    while (done[2] < columns) {
      if (D.bounds < 1 && done[0] < columns) done[0] = columns;
      if (D.bounds < 2) done[1] = done[0];
      if (can(2) && length_ >= last_store + 2) {
        last_store = length_;
        act(kind::store, 2);
      } else if (D.bounds > 1 && can(1)) {
        act(kind::lower, 1);
      } else if (D.bounds > 0 && can(0)) {
        act(kind::raise, 0);
      } else if (starts < columns && (rows > 1 || starts < done[2])) {
        start();
      } else {
        issue({}, bit);
      }
    }
    while (starts < columns) start();
  }
};

}  // namespace ago::kernel
