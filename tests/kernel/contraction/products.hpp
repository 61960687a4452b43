// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of many kinds, for the tests of their kernels.
#pragma once

#include <ago/kernel/contraction/kernel.hpp>

#include "expression/operators.hpp"
#include "kernel/drawn_expression.hpp"
#include "kernel/expression_support.hpp"

namespace contraction_test {

using namespace expression_kernel_test;

/// `weights`: the operand that is packed ahead, or -1.
template <index_expression const& E, isa I, op... Stages>
constexpr kernel_key key_of(int weights, factor_layout how = factor_layout::chosen) {
  kernel_key k{.what = structure::contraction, .target = I, .described = &E};
  k.weight_operand = std::int8_t(weights);
  k.factors = how;
  int i = 0;
  ((k.after.stages[i++].kind = Stages), ...);
  return k;
}

template <unsigned Seed>
struct drawn_product {
  static constexpr unsigned seed = Seed;
  static constexpr expression::definition all = drawn::any_product(Seed);
  static_assert(all.bad.what == expression::fault::none);
  static constexpr index_expression of = all.expressions[0];
  static constexpr bool counts = expression::matrix_form_of(of).why_not == expression::no_matrix::none;
};

using namespace operators;
using expression::extents;

// Rows in several blocks of K, few of them left over.
inline constexpr expression::definition deep = matrix_product(extents(17, 1100), extents(1100, 21));
inline constexpr index_expression deep_product = deep.expressions[0];
// Rows that are neighbours in memory, columns that are not, and a number.
inline constexpr expression::definition turned = compute("turned", [](operand a, operand b) {
  var i, j, k;
  return result(j, i) = sum(k)(.5 * a(k, i) * b(j, k));
})(extents(19, 45), extents(70, 19));
inline constexpr index_expression turned_product = turned.expressions[0];
// Runs of 8 and of 4 results.
inline constexpr expression::definition capsules = capsule_convolution(5, 3, 2)(extents(2, 3, 7, 8, 4, 4));
inline constexpr index_expression capsule_product = capsules.expressions[0];
inline constexpr expression::definition dilated = dilated_convolution(24, 3, 2, 2)(extents(2, 9, 8, 5));
inline constexpr index_expression dilated_product = dilated.expressions[0];
// Heads, in both factors.
inline constexpr expression::definition heads = compute("heads", [](operand q, operand k) {
  var n, h, i, j, c;
  return result(n, h, i, j) = sum(c)(q(n, i, h, c) * k(n, j, h, c));
})(extents(2, 13, 3, 10), extents(2, 18, 3, 10));
inline constexpr index_expression heads_product = heads.expressions[0];
// A convolution of planes: rows are neighbours in the result, columns are not.
inline constexpr expression::definition planes = compute("planes", [](operand x, weights p) {
  operand const w = p("w", 32, x.extent(0), 3, 3);
  var k, i, j, c, r, s;
  return result(k, i, j) = sum(c, r, s)(x(c, i + r, j + s) * w(k, c, r, s));
})(extents(12, 9, 11));
inline constexpr index_expression plane_product = planes.expressions[0];
// Likewise, and columns in two axes that are not equally spaced.
inline constexpr expression::definition parted = compute("parted", [](operand x, weights p) {
  operand const w = p("w", 5, 4, 40);
  var k, l, i, j, c;
  return result(k, i, l, j) = sum(c)(x(i, c, j) * w(k, l, c));
})(extents(3, 40, 33));
inline constexpr index_expression parted_product = parted.expressions[0];
// One element times itself, shifted: the same operand twice.
inline constexpr expression::definition shifted = compute("shifted", [](operand x) {
  var i{9}, j{40}, k{30};
  return result(i, j) = sum(k)(x(i + k) * x(j + k));
})(extents(70));
inline constexpr index_expression shifted_product = shifted.expressions[0];

// Gradients of depthwise convolutions, whose channels are batches: of the weights, in blocks of K and with a scattered
// result, and of the input.
inline constexpr expression::definition taps = compute("taps", [](operand dy, operand x) {
  var n, h, w, c, r{3}, s{3};
  return result(c, r, s) = sum(n, h, w)(dy(n, h, w, c) * padded(x, 0)(n, h + r - 1, w + s - 1, c));
})(extents(2, 5, 17, 53), extents(2, 5, 17, 53));
inline constexpr index_expression tap_product = taps.expressions[0];
// Likewise of small images, of whose rows several are a block: half the rows, or all.
template <int Images, int Rows>
constexpr expression::definition small_taps = compute("small_taps", [](operand dy, operand x) {
  var n, h, w, c, r{3}, s{3};
  return result(c, r, s) = sum(n, h, w)(dy(n, h, w, c) * padded(x, 0)(n, h + r - 1, w + s - 1, c));
})(extents(Images, Rows, 7, 53), extents(Images, Rows, 7, 53));
inline constexpr index_expression small_tap_product = small_taps<8, 6>.expressions[0];
inline constexpr index_expression square_tap_product = small_taps<4, 7>.expressions[0];
template <int Images>
constexpr expression::definition flipped = compute("flipped", [](operand dy, weights p) {
  operand const k = p("k", dy.extent(3), 3, 3);
  var n, h{dy.extent(1)}, w{dy.extent(2)}, c, r, s;
  return result(n, h, w, c) = sum(r, s)(.5 * padded(dy, 0)(n, h + 1 - r, w + 1 - s, c) * k(c, r, s));
})(extents(Images, 4, 13, 37));
inline constexpr index_expression flipped_product = flipped<2>.expressions[0];
inline constexpr index_expression large_flipped_product = flipped<4>.expressions[0];
inline constexpr expression::definition strided = compute("strided", [](operand dy, operand x) {
  var n, h, w, c, r{3}, s{3};
  return result(c, r, s) = sum(n, h, w)(dy(n, h, w, c) * padded(x, 0)(n, 2 * h + r - 1, 2 * w + s - 1, c));
})(extents(2, 5, 17, 21), extents(2, 10, 34, 21));
inline constexpr index_expression strided_product = strided.expressions[0];
// The gradient of a strided one's input: columns are phases of the stride, and some of their taps are padding.
template <int Channels, int Shift>
constexpr expression::definition phases_of = compute("phases", [](operand dy, weights p) {
  operand const k = p("k", Channels - Shift, 3, 3);
  var n, h{2 * dy.extent(1)}, w{2 * dy.extent(2)}, c, r{2}, s{2};
  return result(n, h, w, c) = sum(r, s)(padded(dy, 0)(n, h / 2 + 1 - r, w / 2 + 1 - s, c) *
                                        padded(k, 0)(c - Shift, h % 2 + 2 * r - 1, w % 2 + 2 * s - 1));
})(extents(2, 5, 7, Channels));
inline constexpr index_expression phase_product = phases_of<37, 0>.expressions[0];
inline constexpr index_expression wide_phase_product = phases_of<53, 0>.expressions[0];
// Channels have padding too.
inline constexpr index_expression shifted_phase_product = phases_of<53, 1>.expressions[0];
// Rows that have padding, and are in another order.
inline constexpr expression::definition lines = compute("lines", [](operand a, operand b) {
  var p, j, z, r;
  return result(p, j, z) = sum(r)(padded(a, 0)(z, p + r - 1) * b(r, j, z));
})(extents(40, 7), extents(3, 5, 40));
inline constexpr index_expression line_product = lines.expressions[0];
// Few rows and columns, neither of which is one, and both factors are in another order.
inline constexpr expression::definition many = compute("many", [](operand a, operand b) {
  var z, i, j, k;
  return result(i, z, j) = sum(k)(a(i, k, z) * b(z, k, j));
})(extents(3, 7, 48), extents(48, 7, 5));
inline constexpr index_expression many_products = many.expressions[0];

// The gradient of a convolution's weights, whose columns are runs in another order than in the result.
inline constexpr expression::definition windows = compute("windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{3}, s{3};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * x(n, h + r, w + s, c));
})(extents(2, 7, 9, 11), extents(2, 9, 11, 6));
inline constexpr index_expression window_product = windows.expressions[0];

// Likewise, of runs that fill registers: nine of them, of which tiles take a few.
inline constexpr expression::definition full_windows = compute("full_windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{3}, s{3};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * x(n, 2 * h + r, 2 * w + s, c));
})(extents(2, 7, 9, 13), extents(2, 16, 20, 16));
inline constexpr index_expression full_window_product = full_windows.expressions[0];
// Several blocks of K, a number, and columns that are one run of the result.
inline constexpr expression::definition deep_windows = compute("deep_windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{5}, s{5};
  return result(k, r, s, c) = sum(n, h, w)(.5 * dy(n, h, w, k) * padded(x, 0)(n, h + r - 2, w + s - 2, c));
})(extents(2, 9, 13, 53), extents(2, 9, 13, 6));
inline constexpr index_expression deep_window_product = deep_windows.expressions[0];
// One channel: a register has five columns.
inline constexpr expression::definition grey_windows = compute("grey_windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{5}, s{5};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * padded(x, 0)(n, h + r - 2, w + s - 2, c));
})(extents(2, 28, 28, 6), extents(2, 28, 28, 1));
inline constexpr index_expression grey_window_product = grey_windows.expressions[0];

// Likewise with padding, in the order of the result: columns are copied with their channels in front.
inline constexpr expression::definition wide_windows = compute("wide_windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{5}, s{5};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * padded(x, 0)(n, h + r - 1, w + s - 1, c));
})(extents(1, 6, 7, 24), extents(1, 8, 9, 18));
inline constexpr index_expression wide_window_product = wide_windows.expressions[0];
// The gradient of the weights of a first convolution, of three channels: its pixels give the rows.
inline constexpr expression::definition first_windows = compute("first_windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{3}, s{3};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * padded(x, 0)(n, 2 * h + r - 1, 2 * w + s - 1, c));
})(extents(2, 15, 17, 32), extents(2, 30, 34, 3));
inline constexpr index_expression first_window_product = first_windows.expressions[0];
// Each channel from another place of the image, so that steps go back in one extent and forth in another.
inline constexpr expression::definition slanted = compute("slanted", [](operand dy, operand x) {
  var n, h, w, k, c{16}, r{5}, s{5};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * padded(x, 0)(n, h + r - 1, w + s - c + 14, c));
})(extents(1, 6, 7, 24), extents(1, 8, 24, 16));
inline constexpr index_expression slanted_product = slanted.expressions[0];
// As in gradients of capsules, but of few pixels: rows are read one channel at a time, in the order of columns.
inline constexpr expression::definition channel_planes = compute("channel_planes", [](operand x, operand w) {
  var p, q, k, c, r, s;
  return result(p, q, k) = sum(c, r, s)(x(p + r, q + s, c) * w(k, c, r, s));
})(extents(8, 8, 16), extents(40, 16, 5, 5));
inline constexpr index_expression channel_plane_product = channel_planes.expressions[0];
inline constexpr expression::definition padded_planes = compute("padded_planes", [](operand x, operand w) {
  var p{8}, q{8}, k, c, r, s;
  return result(p, q, k) = sum(c, r, s)(padded(x, 0)(p + r - 2, q + s - 2, c) * w(k, c, r, s));
})(extents(8, 8, 19), extents(130, 19, 5, 5));
inline constexpr index_expression padded_plane_product = padded_planes.expressions[0];
// Every second channel of pixels that overlap: two loops are one, whose steps go from one pixel to the next.
inline constexpr expression::definition overlapping_columns = compute("overlapping_columns", [](operand y, operand x) {
  var k, u{5}, c{16}, v{5}, h, w;
  return result(k, u, c, v) = sum(h, w)(y(h, w, k) * x(h, w + u + v, 2 * c));
})(extents(4, 30, 7), extents(4, 38, 32));
inline constexpr index_expression overlapping_columns_product = overlapping_columns.expressions[0];
inline constexpr expression::definition overlapping_rows = compute("overlapping_rows", [](operand x, operand w) {
  var u{5}, c{16}, n, t, v;
  return result(u, c, n) = sum(t, v)(x(t, u + v, 2 * c) * w(n, t, v));
})(extents(6, 9, 32), extents(18, 6, 5));
inline constexpr index_expression overlapping_rows_product = overlapping_rows.expressions[0];
// Columns that are packed in panels, of which the next one is prefetched: by rows, and by columns.
inline constexpr expression::definition many_rows = matrix_product(extents(90, 70), extents(70, 150));
inline constexpr index_expression many_rows_product = many_rows.expressions[0];
inline constexpr expression::definition both_turned = compute("both_turned", [](operand a, operand b) {
  var i, j, k;
  return result(i, j) = sum(k)(a(k, i) * b(j, k));
})(extents(130, 45), extents(70, 130));
inline constexpr index_expression both_turned_product = both_turned.expressions[0];

// The gradient of a pointwise convolution's weights: both factors have channels as neighbours, and K is all pixels.
inline constexpr expression::definition pixels = compute("pixels", [](operand dy, operand x) {
  var n, h, w, k, c;
  return result(k, c) = sum(n, h, w)(dy(n, h, w, k) * x(n, h, w, c));
})(extents(2, 17, 19, 53), extents(2, 17, 19, 37));
inline constexpr index_expression pixel_product = pixels.expressions[0];
// The same, with more rows than are computed at a time.
inline constexpr expression::definition many_channels = compute("many_channels", [](operand dy, operand x) {
  var p, k, c;
  return result(k, c) = sum(p)(dy(p, k) * x(p, c));
})(extents(2, 1300), extents(2, 32));
inline constexpr index_expression many_channel_product = many_channels.expressions[0];
// The same, with so few columns that rows become columns, and in batches.
inline constexpr expression::definition narrow_pixels = compute("narrow_pixels", [](operand dy, operand x) {
  var n, h, w, k, c;
  return result(n, k, c) = sum(h, w)(dy(n, h, w, k) * x(n, h, w, c));
})(extents(2, 11, 13, 70), extents(2, 11, 13, 5));
inline constexpr index_expression narrow_pixel_product = narrow_pixels.expressions[0];

// Few rows, so that columns are read where they are: in blocks of K, and in batches, with a rest of the columns.
inline constexpr expression::definition few_rows = matrix_product(extents(19, 1900), extents(1900, 35));
inline constexpr index_expression few_rows_product = few_rows.expressions[0];
inline constexpr expression::definition rows_in_batches = compute("rows_in_batches", [](operand a, operand b) {
  var z, i, j, k;
  return result(z, i, j) = sum(k)(a(z, i, k) * b(k, z, j));
})(extents(5, 23, 9), extents(9, 5, 21));
inline constexpr index_expression rows_in_batches_product = rows_in_batches.expressions[0];
// More rows than are computed at a time, all of K at once.
inline constexpr expression::definition tall = matrix_product(extents(170, 33), extents(33, 37));
inline constexpr index_expression tall_product = tall.expressions[0];

// Steps of K are consecutive in both factors, or in columns, while rows are copied; several blocks of K, columns of the
// last panel and rows of the last tile that are few, and one row of batches.
constexpr expression::definition dot_products_of(int rows, int columns, int depth) {
  return compute("dot_products", [](operand a, operand b) {
    var i, j, k;
    return result(i, j) = sum(k)(.5 * a(i, k) * b(j, k));
  })(extents(rows, depth), extents(columns, depth));
}
inline constexpr expression::definition dot_products = dot_products_of(8, 21, 131);
inline constexpr index_expression dot_product = dot_products.expressions[0];
inline constexpr expression::definition deep_dot_products = dot_products_of(4, 12, 6500);
inline constexpr index_expression deep_dot_product = deep_dot_products.expressions[0];
inline constexpr expression::definition one_row = compute("one_row", [](operand x, operand w) {
  var z, n, k;
  return result(z, n) = sum(k)(x(z, k) * w(z, n, k));
})(extents(3, 67), extents(3, 19, 67));
inline constexpr index_expression one_row_product = one_row.expressions[0];
inline constexpr expression::definition capsule_values = compute("capsule_values", [](operand x, operand w) {
  var k, p, q, j, c, r, s;
  return result(k, p, q, j) = sum(c, r, s)(x(2 * p + r, 2 * q + s, c) * w(k, j, c, r, s));
})(extents(7, 9, 30), extents(5, 8, 30, 3, 3));
inline constexpr index_expression capsule_values_product = capsule_values.expressions[0];
// Several blocks of K, and runs of five steps in rows, which are longer in columns.
constexpr expression::definition deep_planes_of(int height, int channels, int results) {
  return compute("deep_planes", [](operand x, operand w) {
    var p, q, k, c, r, s;
    return result(p, q, k) = sum(c, r, s)(x(p + r, q + s, c) * w(k, c, r, s));
  })(extents(height, 9, channels), extents(results, channels, 5, 5));
}
inline constexpr expression::definition few_deep_planes = deep_planes_of(7, 52, 21);
inline constexpr index_expression few_deep_planes_product = few_deep_planes.expressions[0];
inline constexpr expression::definition many_deep_planes = deep_planes_of(16, 21, 128);
inline constexpr index_expression many_deep_planes_product = many_deep_planes.expressions[0];
// Runs so long that blocks are not whole ones.
inline constexpr expression::definition long_windows = compute("long_windows", [](operand x, operand w) {
  var p, k, c, s;
  return result(p, k) = sum(c, s)(x(p + s, c) * w(k, c, s));
})(extents(44, 31), extents(21, 31, 37));
inline constexpr index_expression long_window_product = long_windows.expressions[0];

/// In which padded operands are copied a few rows at a time, and nothing else stays.
inline constexpr device small_cache{.l2_bytes = 1 << 12};

}  // namespace contraction_test
