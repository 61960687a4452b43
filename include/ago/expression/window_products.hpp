// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of an operand that windows read, in two expressions: products for each point of each window, and sums of
// them, as a matrix product followed by col2im computes it.
//
// Solved for the operand's indices, a sum of products has points of windows that do not exist, for which zeros are
// read: where windows of 9x9 move by 2 on 20x20 pixels, 3.4 times the products of the convolution. These have as many.
#pragma once

#include <ago/expression/access_gradient.hpp>

#include <cstdint>

namespace ago::expression::detail {

struct window_products {
  definition_writer& out;
  computed_value const& y;
  int flow;  ///< the value that is the gradient of y
  int access;
  long step_price;  ///< how many multiply-adds take as long as another step

  index_expression const& e{y.e};
  element_access const& a{e.body.accesses[access]};
  plain_fold const fold{e};
  unsigned wide{e.wide_axes()};
  unsigned kept{axes_of(e.body, a) & wide};  ///< axes of the products: where they are read
  unsigned summed{(e.result_axes() | fold.axes) & wide & ~kept};

  /// How many multiply-adds take as long as the sum of a product, with its way through memory.
  static constexpr long sum_price = 8;

  /// Does this take fewer operations than access_gradient?
  constexpr bool pays() const {
    if (!fold.is(node_kind::sum) || summed == 0 || __builtin_popcount(kept) > max_rank || !has_windows()) return false;
    access_gradient other{out, y, flow, access};
    long all = 1;
    for (int x = 0; x < other.made.e.axis_count; ++x) all *= other.made.e.extent[x];
    return all > points(kept | summed) + sum_price * points(kept) + step_price;
  }

  /// Adds it to the operator; returns its value, or -1 if it is 0 everywhere.
  constexpr int emit() {
    int const weight = larger_factor();
    axis_list const order = kept_axes(weight < 0 ? a : e.body.accesses[weight]);
    int const products = emit_products(order);
    if (products < 0 || out.to.bad.what != fault::none) return -1;
    index_expression windows;  // what the windows read
    canonical into{windows};
    axis_values axes{e, into};
    place(axes, order);
    element_access read = a;
    read.operand = 0;
    for (int d = 0; d < a.rank; ++d) read.at[d].sum = axes.copy(a.at[d].sum);
    windows.operands[windows.operand_count++] = e.operands[a.operand];
    windows.result = out.to.values[products].extents;
    into.add(node{node_kind::read, {std::int16_t(into.add(read)), -1, -1}});
    std::int16_t const reads[]{y.reads[a.operand]};
    return access_gradient{out, {windows, reads, -1}, products, 0}.emit();
  }

 private:
  /// Do several axes move along one dimension, at indices that no value decides?
  constexpr bool has_windows() const {
    bool r = false;
    for (int d = 0; d < a.rank; ++d) {
      if (a.at[d].node >= 0) return false;
      r |= __builtin_popcount(axes_of(e.body, a.at[d].sum) & wide) > 1;
    }
    return r;
  }
  constexpr long points(unsigned axes) const {
    long r = 1;
    for (int x = 0; x < e.axis_count; ++x)
      if (axes >> x & 1) r *= e.extent[x];
    return r;
  }

  struct axis_list {
    int of[max_axes]{};
    int count{};

    constexpr bool operator==(axis_list const&) const = default;
    constexpr void add(unsigned set) {
      for (int x = 0; x < max_axes; ++x) {
        bool is_new = set >> x & 1;
        for (int i = 0; i < count; ++i) is_new = is_new && of[i] != x;
        if (is_new) of[count++] = x;
      }
    }
  };
  /// The kept axes: those of the result, then those of a window in the order in which `like` has them.
  constexpr axis_list kept_axes(element_access const& like) const {
    axis_list r;
    r.add(kept & e.result_axes());
    for (int d = 0; d < like.rank; ++d) r.add(kept & axes_of(e.body, like.at[d].sum));
    r.add(kept);
    return r;
  }
  /// The access of a factor larger than the products: it is read in its order, and products are written so. -1: none.
  constexpr int larger_factor() const {
    for (int i = 0; i < e.body.access_count; ++i) {
      int const operand = e.body.accesses[i].operand;
      if (i != access && operand >= 0 && e.operands[operand].count() > points(kept)) return i;
    }
    return -1;
  }

  /// Gives the new expression such axes.
  constexpr void place(axis_values& axes, axis_list const& which) const {
    index_expression& to = axes.into.to;
    for (int i = 0; i < which.count; ++i) {
      to.extent[to.axis_count] = e.extent[which.of[i]];
      axes.set_axis(which.of[i], axes.axis(to.axis_count++));
    }
  }
  constexpr int emit_products(axis_list which) {
    draft made;
    axis_values axes{e, made.into};
    int const rank = which.count;
    which.add(summed);
    place(axes, which);
    arithmetic_writer const write{made.into};
    rewriter from{e, y.reads, y.value, axes, made.reads};
    auto const value = [&](int n) { return from.copy(n); };
    derivative<decltype(value)> change{e, access, write, value};
    int x = change.of(fold.body);
    if (x < 0) return -1;
    if (fold.factor != 1) x = write.multiply(x, write.number(fold.factor));
    x = write.multiply(from.read(flow, e.result_axes()), x);
    unsigned const of_sum = (1u << made.e.axis_count) - (1u << rank);
    int const root = made.into.add(node{node_kind::sum, {std::int16_t(x), -1, -1}, of_sum});
    if (!axes.fits) out.complain(canonical::max_terms);
    return made.emit(out, root, rank);
  }
};

}  // namespace ago::expression::detail
