// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: the scores of each query with all keys, their softmax, and the sum of the values weighted with it.
// Channels are divided among heads, and the pixels of an image among the places of a patch. For each head and place,
// the tokens, one from each patch, attend to each other.
#pragma once

#include <ago/kernel/attention/product.hpp>
#include <ago/kernel/norm/softmax.hpp>

#include <numbers>

namespace ago::kernel {

/// Calls f(image, place in the patch, queries, keys) for every image and place; the queries are pixels of `s`, the keys
/// pixels of `keys`.
template <class F>
AGO_INLINE void for_each_place(shape const& s, shape const& keys, patch const& p, F f) {
  for (int n = 0; n < s.n; ++n)
    for (int py = 0; py < p.h; ++py)
      for (int px = 0; px < p.w; ++px)
        f(n, py * p.w + px, row_pixels::tokens(s, p, n, py, px), row_pixels::tokens(keys, p, n, py, px));
}

/// The channels of `p` from `channel` on, as a matrix whose rows are `pixels`.
AGO_INLINE matrix_rows matrix_at(place const& p, kernel_memory const& m, row_pixels const& pixels, int channel) {
  return {address(p, m) + channel, p.pixel_stride, pixels};
}

/// Replaces the scores of ROWS rows, divided by ln(2), by their exponentials relative to the largest of the row, and
/// writes 1 / their sums to `factors`. `columns`: whole registers.
template <isa I, int ROWS>
AGO_INLINE void weigh_together(float* scores, int columns, float* factors) {
  vec<I> most[ROWS], sum[ROWS];
  AGO_UNROLL(8)
  for (int r = 0; r < ROWS; ++r) {
    most[r] = vec<I>(row_max<I>(scores + long(r) * columns, columns));
    sum[r] = vec<I>(0.f);
  }
  AGO_UNROLL(1)
  for (int i = 0; i < columns; i += lanes(I)) {
    AGO_UNROLL(8)
    for (int r = 0; r < ROWS; ++r) {
      float* const score = scores + long(r) * columns + i;
      vec<I> const x = exp2_of_negative(vec<I>::load(score) - most[r]);
      x.store(score);
      sum[r] = sum[r] + x;
    }
  }
  AGO_UNROLL(8)
  for (int r = 0; r < ROWS; ++r) factors[r] = 1.f / sum_of_lanes(sum[r]);
}

/// The same for any number of rows. (On Zen 5 four rows take 0.7 to 0.8 times as long as one after another.)
template <isa I>
void weigh_rows(float* scores, int rows, int columns, float* factors) {
  constexpr int together = 4;
  int i = 0;
  for (; i + together <= rows; i += together)
    weigh_together<I, together>(scores + long(i) * columns, columns, factors + i);
  for (; i < rows; ++i) weigh_together<I, 1>(scores + long(i) * columns, columns, factors + i);
}

/// out[pixel(t), head * d + j] = epilogue(sum over u of weight[t, u] * values[pixel(u), head * d + j]), where the
/// weights are softmax over u of alpha * sum over j of queries[pixel(t), head * d + j] * keys[pixel(u), head * d + j],
/// with d channels per head. pixel(t) is the pixel of patch t at one place; every place is computed separately. NaN as
/// in softmax.
///
/// A few rows of scores exist at a time. If scores have an error of e (rounding of sums of d products), results have an
/// error of 2 e + (u + 16) * 2^-24 of the largest value, with u keys.
template <kernel_key K>
struct attention_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    product_step<K> const step(s, m);
    step_details const& d = m.details(s);
    int const channels = s.in.c / s.groups;
    float const factor = d.alpha * std::numbers::log2e_v<float>;
    for_each_place(s.in, d.other_shape, d.patch, [&](int, int, auto const& queries, auto const& keys) {
      for (int channel = 0; channel < s.in.c; channel += channels) {
        auto const at = [&](place const& p, auto const& pixels) { return matrix_at(p, m, pixels, channel); };
        pack_columns<I>(step.layout.first, at(d.other[0], keys), step.first_operand());
        pack_rows<I>(step.layout.second, at(d.other[1], keys), step.second_operand());
        step.multiply(at(s.source, queries), factor, [&](int first, int count) {
          weigh_rows<I>(step.first_results(), count, step.layout.first.padded_columns(), step.factors());
          step.multiply_again(count);
          for (int i = 0; i < count; ++i)
            step.finish(step.layout.second, step.second_results() + long(i) * step.layout.second.padded_columns(),
                        step.factors()[i], queries.pixel(first + i), channel);
        });
      }
    });
  }

 private:
  static constexpr isa I = K.target;
};

/// out[(image, place), head, t, u] = epilogue(alpha * sum over j of queries[pixel(t), head * d + j] *
/// keys[pixel(u), head * d + j]), as in attention.
template <kernel_key K>
struct attention_scores_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    product_step<K> const step(s, m);
    step_details const& d = m.details(s);
    int const channels = s.in.c / s.groups, places = d.patch.pixels();
    for_each_place(s.in, d.other_shape, d.patch, [&](int n, int place, auto const& queries, auto const& keys) {
      for (int head = 0; head < s.groups; ++head) {
        long const row = ((long(n) * places + place) * s.groups + head) * step.layout.rows;
        pack_columns<K.target>(step.layout.first, matrix_at(d.other[0], m, keys, head * channels),
                               step.first_operand());
        step.multiply(matrix_at(s.source, m, queries, head * channels), d.alpha, [&](int first, int count) {
          for (int i = 0; i < count; ++i)
            step.finish(step.layout.first, step.first_results() + long(i) * step.layout.first.padded_columns(), 1.f,
                        row + first + i, 0);
        });
      }
    });
  }
};

/// out[pixel(t), head * d + j] = epilogue(sum over u of in[(image, place), head, t, u] *
/// values[pixel(u), head * d + j]), as in attention.
template <kernel_key K>
struct attention_values_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    product_step<K> const step(s, m);
    step_details const& d = m.details(s);
    int const channels = s.out.c / s.groups, places = d.patch.pixels();
    for_each_place(s.out, d.other_shape, d.patch, [&](int n, int place, auto const& results, auto const& values) {
      for (int head = 0; head < s.groups; ++head) {
        long const row = ((long(n) * places + place) * s.groups + head) * step.layout.rows;
        auto const weights = row_pixels::dense(row, step.layout.rows);
        pack_rows<K.target>(step.layout.first, matrix_at(d.other[0], m, values, head * channels), step.first_operand());
        step.multiply(matrix_at(s.source, m, weights, 0), 1.f, [&](int first, int count) {
          for (int i = 0; i < count; ++i)
            step.finish(step.layout.first, step.first_results() + long(i) * step.layout.first.padded_columns(), 1.f,
                        results.pixel(first + i), head * channels);
        });
      }
    });
  }
};

}  // namespace ago::kernel
