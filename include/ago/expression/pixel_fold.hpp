// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds of all pixels of an image, for each of its channels: what a batch norm needs to know of a value.
#pragma once

#include <ago/expression/fold_pair.hpp>

namespace ago::expression {

/// An expression that is a fold, or a fold_pair, over the pixels of some of its operands, images [n, h, w, c], the
/// channels of which are the last axis of the result: it can add up some pixels after the others.
class pixel_fold {
 public:
  constexpr explicit pixel_fold(index_expression const& e) : e_(e) {
    int const root = is_fold(e.at_root().kind) ? e.root() : fold_pair(e).fold[0];
    if (is_fold(e.body.nodes[root].kind) && e.result.rank > 0) axes_ = e.body.nodes[root].bits;
  }

  /// Is operand k read pixel by pixel? If so, all operands are that are read at several pixels; elsewhere, elements of
  /// operand k are only read in the first `rows` rows.
  constexpr bool is_over(int k, int rows) const {
    bool any = false;
    for (int a = 0; a < e_.body.access_count && axes_ != 0; ++a) {
      element_access const& x = e_.body.accesses[a];
      bool const folded = axes_of(e_.body, x) & axes_ & e_.wide_axes();
      if (folded && !is_at_pixel(x, k)) return false;
      if (!folded && x.operand == k && !is_in_rows(x, rows)) return false;
      any = any || (folded && x.operand == k);
    }
    return any;
  }

 private:
  /// Is it an element of the pixel that is folded, of an operand with the extents of operand k?
  constexpr bool is_at_pixel(element_access const& x, int k) const {
    if (x.operand < 0 || x.padded || x.rank != 4 || !(e_.operands[x.operand] == e_.operands[k])) return false;
    unsigned pixel = 0;
    for (int d = 0; d < 4; ++d) {
      if (d < 3 && e_.operands[k].of[d] == 1 && !x.is_dependent()) continue;  // of one image, say
      int const axis = plain_axis(e_.body, x.at[d]);
      if (axis < 0 || e_.extent[axis] != e_.operands[k].of[d] || (d == 3) != (axis == e_.result.rank - 1)) return false;
      if (d < 3) pixel |= 1u << axis;
    }
    return pixel == (axes_ & e_.wide_axes());
  }
  constexpr bool is_in_rows(element_access const& x, int rows) const {
    if (x.padded || x.rank != 4 || x.is_dependent()) return false;
    auto const last = [&](int d) { return range_of(e_.body, x.at[d].sum, e_.extent).upper; };
    return last(0) == 0 && last(1) < rows;
  }

  index_expression const& e_;
  unsigned axes_ = 0;
};

}  // namespace ago::expression
