// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algebraic rules that simplify graphs.
#pragma once

#include <ago/ir/enumerators.hpp>

#include <cstdint>

namespace ago::passes {

enum class rule : std::uint8_t {
  // Exact: the same numbers, except for the sign of zero. clamp: relu, relu6 or clip.
  clamp_within_bounds,  ///< clamp(x) = x, if x is within its bounds; leaky_relu(x) = x, if x is not negative
  clamp_of_clamp,       ///< one clamp, with the bounds of both
  clamp_after_pool,     ///< max_pool(clamp(x)) = clamp(max_pool(x)); the same for other monotonic functions
  matmul_of_transpose,  ///< x permute(y) = x y', y read as transposed. (Its kernel sums in another order.)
  permute_of_permute,
  permute_is_reshape,  ///< only axes of extent 1 move; the others stay in order
  reshape_of_reshape,
  slice_of_slice,
  slice_of_concat,   ///< a slice of one of its operands
  concat_of_slices,  ///< adjacent slices of one value become a slice of it
  concat_of_concat,
  shuffle_of_shuffle,  ///< the second restores the order of channels
  fold_of_unfold,      ///< and unfold of fold, with the same patches
  layout_round_trip,   ///< to_nchw(from_nchw(x))
  pad_of_pad,
  pad_into_window,     ///< zeros around the image of a convolution or pooling become its pads
  resize_of_resize,    ///< to the nearest pixel, by integer factors
  global_of_max_pool,  ///< a maximum of maxima
  part_of_constant,    ///< a reshape or contiguous slice of a trained value is a trained value
  // For real numbers: rounding differs.
  common_factor,           ///< x a + x b = x (a + b)
  gates_first,             ///< (x + a) + b = x + (a + b), also for products; a and b have one pixel per image
  average_before_product,  ///< the mean of products by a matrix is the product of the mean
  average_of_averages,
};
inline constexpr int rules = int(rule::average_of_averages) + 1;

constexpr bool is_exact(rule r) { return r < rule::common_factor; }

constexpr char const* name_of(rule r) {
  constexpr char const* names[] = {
      "clamp within bounds", "clamp of clamp",         "clamp after pool",   "matmul of transpose",
      "permute of permute",  "permute is reshape",     "reshape of reshape", "slice of slice",
      "slice of concat",     "concat of slices",       "concat of concat",   "shuffle of shuffle",
      "fold of unfold",      "layout round trip",      "pad of pad",         "pad into window",
      "resize of resize",    "global of max pool",     "part of constant",   "common factor",
      "gates first",         "average before product", "average of averages"};
  static_assert(ir::has_enumerators<rule, rules>() && ir::lines_of(names) == rules);
  return names[int(r)];
}

/// How often each rule was applied.
struct rule_counts {
  int of[rules]{};
  constexpr int operator[](rule r) const { return of[int(r)]; }
  constexpr int total() const {
    int sum = 0;
    for (int const n : of) sum += n;
    return sum;
  }
};

}  // namespace ago::passes
