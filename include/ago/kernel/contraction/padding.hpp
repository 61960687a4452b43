// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of operands with their padding: of all of one, or of a few rows at a time.
#pragma once

#include <ago/kernel/contraction/batched_schedule.hpp>
#include <ago/kernel/movement/strided_copy.hpp>

namespace ago::kernel {

/// Writes `count` numbers.
template <isa I>
AGO_INLINE void fill_run(float x, float* to, long count) {
  constexpr int V = lanes(I);
  long i = 0;
  for (; i + V <= count; i += V) vec<I>(x).store(to + i);
  if (i < count) vec<I>(x).store(to + i, int(count - i));
}

/// Copies elements of an operand as they are.
template <isa I>
struct plain_copy {
  AGO_INLINE void operator()(float const* from, float* to, long count) const { copy_run<I>(from, to, count); }
};

/// Copies an operand of extents `of` into a larger one, with `pad` around it; dimensions from `d` on. A template, so
/// that objects built for different machines share no code. `copy`: plain_copy, or what computes the elements.
template <isa I, class Copy = plain_copy<I>>
[[gnu::noinline]] void copy_with_padding(expression::extents const& of, expression::matrix_operand const& o, float pad,
                                         float const* from, float* to, int d = 0, Copy const& copy = {}) {
  long const step = o.padded.stride(d), before = o.before[d] * step, inside = of.of[d] * step;
  fill_run<I>(pad, to, before);
  if (of.stride(d) == step) {  // nothing inside is padded
    copy(from, to + before, inside);
  } else {
    for (int i = 0; i < of.of[d]; ++i)
      copy_with_padding<I>(of, o, pad, from + i * of.stride(d), to + before + i * step, d + 1, copy);
  }
  fill_run<I>(pad, to + before + inside, o.padded.of[d] * step - before - inside);
}

/// Copies a padded operand row by row when it is read; `window` rows are there at a time.
template <isa I, class Copy = plain_copy<I>>
class sliding_copy {
 public:
  constexpr sliding_copy(expression::extents const& of, expression::matrix_operand const& o, float pad, int window,
                         float const* from, float* to, Copy const& copy = {})
      : of_(of), o_(o), pad_(pad), window_(window), row_floats_(padded_rows(o).floats), from_(from), to_(to),
        copy_(copy) {}

  /// Makes the elements from place `lowest` to `highest` of the padded operand available; returns the place of the
  /// first element in the copy.
  long operator()(long lowest, long highest) {
    long const first = lowest / row_floats_, last = highest / row_floats_;
    if (first < first_ || first > end_ || last >= first_ + window_) first_ = end_ = first;
    for (; end_ <= last; ++end_) copy(end_, to_ + (end_ - first_) * row_floats_);
    return first_ * row_floats_;
  }
  /// Where the operand is read next.
  float const* next() const { return next_; }

 private:
  [[gnu::noinline]] void copy(long row, float* to) {
    int const inner = of_.rank - 2;
    long source = 0;
    for (int d = inner; d-- > 0; row /= o_.padded.of[d]) {
      long const i = row % o_.padded.of[d] - o_.before[d];
      if (i < 0 || i >= of_.of[d]) return fill_run<I>(pad_, to, row_floats_);
      source += i * of_.stride(d);
    }
    copy_with_padding<I>(of_, o_, pad_, from_ + source, to, inner, copy_);
    next_ = from_ + source + (inner > 0 ? of_.stride(inner - 1) : 0);
  }

  expression::extents const& of_;
  expression::matrix_operand const& o_;
  float pad_;
  int window_;
  long row_floats_;
  float const* from_;
  float* to_;
  Copy copy_;
  long first_ = 0, end_ = 0;  ///< the rows that are there
  float const* next_ = nullptr;
};

/// An element of an operand with its padding, by its place there.
struct padded_reader {
  expression::extents const& of;
  expression::matrix_operand const& o;
  float pad;
  float const* from;
  float operator()(long place) const {
    long const source = source_of(of, o, place);
    return source < 0 ? pad : from[source];
  }
};

}  // namespace ago::kernel
