// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value with a fold of its pixels, such as the sums of a batch norm: some pixels at a time are added up right after
// they have been computed, while they are in a cache (Apollo's memory stitching; the value itself stays, too).
#pragma once

#include <ago/kernel/row_pipeline.hpp>
#include <ago/plan/fold_schedule.hpp>
#include <ago/simd/stream.hpp>

#include <algorithm>

namespace ago::kernel {

/// One operator, or several by rows, and then the nest that folds their result. Bit by bit, the value is what it is
/// without the nest; sums of pixels may be added in another order.
template <fused_key F>
class fold_pipeline {
  static constexpr int fold_part = F.parts - 1, value_part = F.parts - 2;
  static constexpr isa target = F.part[fold_part].target;
  using fold = kernel_of<F.part[fold_part]>;
  using value = kernel_of<F.part[value_part]>;

  /// Are pixels made and folded in scratch (pays_to_stream)?
  static constexpr bool streams = [] {
    if constexpr (!fold::adds_pixels || !fold::reads_scratch) {
      return false;
    } else if constexpr (computes_rows<value>) {
      return true;
    } else if constexpr (value::has_pixels_in_order) {
      constexpr kernel_key k = F.part[fold_part];
      expression::extents const& e = k.described->operands[k.made_operand];
      long const block = pixels_folded(e.of[2], e.of[3], target);
      return (block + value::pixels_at_once(block)) * e.of[3] <= streamed_floats(e, target);
    } else {
      return false;
    }
  }();

  /// Do some pixels come after the other, without whole rows of an image?
  static constexpr bool comes_in_parts = [] {
    if constexpr (computes_rows<value>) return false;
    else return value::has_pixels_in_order && fold::adds_pixels;
  }();

 public:
  /// `first`: data of the parts, one after another.
  static void run(step_data const& first, kernel_memory const& m) {
    step_data const *const parts = &first, &s = parts[value_part], &sums = parts[fold_part];
    if constexpr (computes_rows<value>) {
      auto const images = [&](step_data const* all) {
        for (int n = 0; n < s.out.n; ++n) image(all, s, sums, m, n);
      };
      if constexpr (streams) {
        step_data moved[F.parts - 1];
        std::copy(parts, parts + F.parts - 1, moved);
        moved[value_part].destination = {place::area::arena, 0, sums.scratch, s.out.c,
                                         rows_folded(s.out.w, s.out.c, target)};
        images(moved);
      } else {
        images(parts);
      }
      if constexpr (!fold::adds_pixels) fold::run(sums, m);
    } else if constexpr (comes_in_parts) {
      long const block = pixels_folded(s.out.w, s.out.c, target), end = s.out.pixels();
      float* const result = mutable_address(s.destination, m);
      long done = 0;
      auto const written = [&](long there, float* at) {
        if (there - done < block && there < end) return at;
        some_pixels(s, sums, m, done, there);
        done = there;
        return streams ? m.arena + (sums.scratch - done * s.out.c) : result;
      };
      value::template run_with<fold::reads_several>(s, m, streams ? m.arena + sums.scratch : result, block,
                                                    fold::operand_beside(result, sums, m), written);
    } else {
      value::run(s, m);
      fold::run(sums, m);
    }
    if constexpr (streams) finish_streams();
  }

 private:
  /// `s`: data of the value, where it stays.
  static void image(step_data const* parts, step_data const& s, step_data const& sums, kernel_memory const& m, int n) {
    int const rows = rows_folded(s.out.w, s.out.c, target), step = value_part > 0 ? pipeline_rows : rows;
    int done[F.parts - 1]{};
    for (int first = 0; first < s.out.h; first += rows) {
      int const end = first + rows < s.out.h ? first + rows : s.out.h;
      for (int y = first; y < end; y += step) advance<F, value_part>(parts, m, n, y + step, done);
      if constexpr (fold::adds_pixels) {
        long const row = long(n) * s.out.h;
        some_pixels(s, sums, m, (row + first) * s.out.w, (row + end) * s.out.w);
      }
    }
  }

  /// Folds pixels first ... last - 1. From scratch, they are stored before: folds may read elements of the first rows
  /// again later.
  static void some_pixels(step_data const& s, step_data const& sums, kernel_memory const& m, long first, long last) {
    float* const result = mutable_address(s.destination, m);
    if constexpr (streams) {
      float const* const block = m.arena + sums.scratch;
      long const c = s.out.c, step = s.destination.pixel_stride, together = step == c ? last - first : 1;
      for (long p = first; p < last; p += together)
        stream_run<target>(block + (p - first) * c, result + p * step, together * c);
      fold::pixels(sums, m, first, last, block - first * c);
    } else {
      fold::pixels(sums, m, first, last, result);
    }
  }
};

}  // namespace ago::kernel
