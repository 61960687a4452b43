// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement of elements while a model is lowered: other dims, slices, repetitions, concatenations.
#pragma once

#include "lowering.hpp"

namespace ago::importer {

/// The same elements with other dims.
view with_dims(context& c, view x, extents const& dims);
view transposed(view x, std::vector<int> const& order);
/// `count` elements of an axis from `begin` on, at distance `step`, which may be negative.
view sliced(context& c, view x, int axis, std::int64_t begin, std::int64_t count, std::int64_t step = 1);
/// The elements of an axis at `indices`.
view selected(context& c, view x, int axis, std::vector<std::int64_t> const& indices);
view joined(context& c, std::vector<view> const& parts, int axis);
/// Pads an axis with `value`, or as `mode` says.
view padded(context& c, view x, int axis, std::int64_t before, std::int64_t after, float value,
            pad_mode mode = pad_mode::constant);
/// Repeats an axis as a whole.
view tiled(context& c, view x, int axis, std::int64_t times);

enum class reduction { sum, mean, largest, smallest, product };
/// Reduces some axes, which keep one element.
view reduced(context& c, reduction what, view x, std::vector<int> const& axes);
/// `values`, a number for each element of some axes, in the memory order of these axes; all `otherwise` if `values` is
/// empty.
std::vector<float> in_memory_order(view const& x, std::vector<int> const& axes, std::vector<float> const& values,
                                   float otherwise);
/// Subtracts the mean and divides by the root of variance plus epsilon, both over some axes; then scales and shifts, if
/// given, by a number for each element of these axes.
view normalised(context& c, view x, std::vector<int> const& axes, float epsilon, std::vector<float> const& gamma = {},
                std::vector<float> const& beta = {});
view softmax_over(context& c, view x, std::vector<int> const& axes);
/// a times b, matrix products over the last two axes.
view matrix_product(context& c, view a, view b);

}  // namespace ago::importer
