// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Averages over windows that do not count their padding: a sum divided by the number of pixels inside of the image.
#pragma once

#include <ago/recognition/recognise_windows.hpp>

namespace ago::recognition {

struct average_finder {
  index_view const& view;
  recognition_list& list;
  image_form form{};
  bool needs[2][2]{}, has[2][2]{};  ///< rows, columns; from the first pixel on, up to the last

  using kind = expression::node_kind;

  /// Is node n a sum of elements, divided by the sum of 1 where they are inside?
  constexpr bool find(int n) {
    expression::node const& root = at(n);
    if (root.kind != kind::divide) return false;
    expression::node const &total = at(root.operand[0]), &number = at(root.operand[1]);
    if (total.kind != kind::sum || number.kind != kind::sum || total.bits != number.bits) return false;
    if (at(total.operand[0]).kind != kind::read) return false;
    int const a = at(total.operand[0]).operand[0];
    form = image_form_of(view, a, {total.bits, {.pooling = true}});
    if (!form.fits) return false;
    expect(0, form.rows, form.in.h);
    expect(1, form.columns, form.in.w);
    if (!is_inside(number.operand[0])) return false;
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k)
        if (needs[i][k] && !has[i][k]) return false;
    return recognise_pool(view, list, op::avg_pool, a, total.bits, false);
  }

 private:
  constexpr expression::node const& at(int n) const { return view.e.body.nodes[n]; }
  constexpr bool is_number(int n, float x) const { return at(n).kind == kind::number && at(n).number() == x; }
  constexpr void expect(int i, index_window const& w, int extent) {
    needs[i][0] = w.before > 0;
    needs[i][1] = (w.out - 1L) * w.stride + (w.kernel - 1L) * w.dilation - w.before >= extent;
  }

  /// 1 where all comparisons hold, elsewhere 0.
  constexpr bool is_inside(int n) {
    expression::node const& x = at(n);
    if (x.kind == kind::select)
      return is_number(x.operand[1], 1) && is_number(x.operand[2], 0) && is_inside(x.operand[0]);
    if (x.kind == kind::multiply) return is_inside(x.operand[0]) && is_inside(x.operand[1]);
    if (x.kind != kind::less && x.kind != kind::less_equal) return false;
    // An index is compared with 0.
    if (at(x.operand[0]).kind != kind::position || !is_number(x.operand[1], 0)) return false;
    axis_sum s = view.at(at(x.operand[0]).operand[0], 0);
    if (x.kind == kind::less) ++s.constant;  // s <= 0
    return s.is_exact && (is_bound(0, s, form.rows, form.in.h) || is_bound(1, s, form.columns, form.in.w));
  }
  /// Is s <= 0 where the index of a window is not negative, or where it is below the extent?
  constexpr bool is_bound(int i, axis_sum const& s, index_window const& w, int extent) {
    for (int sign = -1; sign <= 1; sign += 2) {
      axis_sum bound;
      bound.constant = sign < 0 ? w.before : -w.before - (extent - 1L);
      if (w.position >= 0) bound.of[w.position] = sign * w.stride;
      if (w.tap >= 0) bound.of[w.tap] = sign * w.dilation;
      bool same = bound.constant == s.constant;
      for (int x = 0; x < expression::max_axes; ++x) same &= bound.of[x] == s.of[x];
      if (same) return has[i][sign > 0] = true;
    }
    return false;
  }
};

}  // namespace ago::recognition
