// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of values moved while a model is lowered: other dims, parts, repetitions, joints.
#pragma once

#include "lowering.hpp"

namespace ago::importer {

/// The same elements counted by other dims.
view with_dims(context& c, view x, extents const& dims);
view transposed(view x, std::vector<int> const& order);
/// `count` elements of an axis, `step` apart, from `begin` on; the step may be negative.
view sliced(context& c, view x, int axis, std::int64_t begin, std::int64_t count, std::int64_t step = 1);
/// The elements of an axis that `indices` name.
view selected(context& c, view x, int axis, std::vector<std::int64_t> const& indices);
view joined(context& c, std::vector<view> const& parts, int axis);
/// Elements before and behind those of an axis: `value`, or what `mode` says.
view padded(context& c, view x, int axis, std::int64_t before, std::int64_t after, float value,
            pad_mode mode = pad_mode::constant);
/// So many copies of an axis in a row.
view tiled(context& c, view x, int axis, std::int64_t times);

enum class reduction { sum, mean, largest, smallest, product };
/// Over some axes, which stay with one element.
view reduced(context& c, reduction what, view x, std::vector<int> const& axes);
/// `values`, a number for each element of some axes, in the order in which these lie in memory; so many times
/// `otherwise` if there are none.
std::vector<float> in_memory_order(view const& x, std::vector<int> const& axes, std::vector<float> const& values,
                                   float otherwise);
/// Minus mean, over the root of variance and epsilon, with both taken over some axes; times and plus, if given, a
/// number for each element of these axes.
view normalised(context& c, view x, std::vector<int> const& axes, float epsilon, std::vector<float> const& gamma = {},
                std::vector<float> const& beta = {});
view softmax_over(context& c, view x, std::vector<int> const& axes);
/// a times b, of at least two axes each.
view matrix_product(context& c, view a, view b);

}  // namespace ago::importer
