// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the loops of a nest are, and the elements and indices that it reads there.
#pragma once

#include <ago/kernel/expression_operands.hpp>
#include <ago/kernel/nest/layout.hpp>
#include <ago/simd/fetch.hpp>
#include <ago/simd/spaced.hpp>

#include <cstdint>
#include <utility>

namespace ago::kernel {

/// Of expression E with layout L. `Made`: the operand whose folded pixels are in scratch, or registers; -1: none.
template <expression::index_expression const& E, nest_layout const& L, int Made, bool InRegisters>
class nest_elements {
 protected:
  using loops = std::uint32_t;
  static constexpr isa I = L.target;
  static constexpr int V = lanes(I), U = L.registers;
  static constexpr int vector_extent = L.vector_loop >= 0 ? L.loops[L.vector_loop].extent : 1;

  /// Where the loops are, and what nodes are there: floats, or registers if they vary along these.
  struct state {
    float const* operand[expression::index_expression::max_operands];
    float const* made;  ///< where operand `Made` is, as far as pixels are folded
    vec<I> made_now;    ///< or the register of it that is folded now
    float* result;
    int first, last;
    int from, to;                         ///< the pixels that are folded now, if not all are
    int row;                              ///< the first of a block
    int lane = 0, lanes = vector_extent;  ///< first and last + 1 of those that an operand has been turned for
    int at[nest_index::max_loops]{};
    float one[nest_layout::max_nodes];
    vec<I> many[nest_layout::max_nodes][U];
    long index[nest_layout::max_nodes];  ///< of a float that is an index, rounded down
  };

  template <int A>
  static constexpr expression::element_access const& access_of = E.body.accesses[A];
  template <int A, int D>
  static constexpr int extent_of = E.operands[access_of<A>.operand].of[D];
  template <int A, int D>
  static constexpr expression::range all_of = range_of(L.index[A][D], L.loops);

  static constexpr std::make_integer_sequence<int, L.count> all_loops{};

  /// Does access A go through the loops of folds?
  template <int A>
  static constexpr bool is_folded = [] {
    bool r = false;
    for (int d = L.result_loops; d < L.count; ++d) r |= L.place[A].of[d] != 0;
    return r;
  }();
  template <int A>
  AGO_INLINE static float const* operand_of(state const& s) {
    if constexpr (access_of<A>.operand == Made && is_folded<A>) return s.made;
    else return s.operand[access_of<A>.operand];
  }

  /// The value of a sum of loops, in the first lane.
  template <class Index, int... D>
  AGO_INLINE static long sum_of(state const& s, Index, std::integer_sequence<int, D...>) {
    return (Index::at.constant + ... + (Index::at.of[D] != 0 ? long(Index::at.of[D]) * s.at[D] : 0));
  }
  template <int A>
  struct place_of {
    static constexpr nest_index const& at = L.place[A];
  };
  template <int A, int D>
  struct index_of {
    static constexpr nest_index const& at = L.index[A][D];
  };

  /// The value of an index that loops do not resolve, by the variables.
  AGO_INLINE static long sum_by_axes(state const& s, expression::affine_sum const& sum, int lane) {
    int axes[expression::max_axes]{};
    for (int d = 0; d < L.count; ++d)
      axes[L.loops[d].axis] += int(L.loops[d].weight) * (s.at[d] + (d == L.vector_loop ? lane : 0));
    return value_of(E.body, sum, axes);
  }
  /// Rounded down; far values stay far.
  AGO_INLINE static long whole(float x) {
    x = x < -1e9f ? -1e9f : x < 1e9f ? x : x == x ? 1e9f : -1e9f;
    long const i = long(x);
    return i - (float(i) > x);
  }
  static constexpr bool is_index(int n) {
    bool r = false;
    for (int a = 0; a < E.body.access_count; ++a)
      for (int d = 0; d < E.body.accesses[a].rank; ++d) r |= E.body.accesses[a].at[d].node == n;
    return r;
  }
  /// The index of dimension D of access A, `lane` lanes after the first one.
  template <int A, int D>
  AGO_INLINE static long index_at(state const& s, int lane) {
    constexpr expression::index_map m = access_of<A>.at[D];
    if constexpr (m.node >= 0) {
      constexpr int last = extent_of<A, D> - 1;
      long i = 0;
      if constexpr (L.varies(m.node)) {
        float all[V];
        s.many[m.node][lane / V].store(all);
        i = whole(all[lane % V]);
      } else {
        i = s.index[m.node];
      }
      return access_of<A>.padded ? i : i < 0 ? 0 : i > last ? last : i;
    } else if constexpr (!L.index[A][D].is_exact) {
      return sum_by_axes(s, m.sum, lane);
    } else {
      long const i = sum_of(s, index_of<A, D>{}, all_loops);
      if constexpr (L.vector_loop >= 0) return i + L.index[A][D].of[L.vector_loop] * lane;
      else return i;
    }
  }
  /// The element of access A, `lane` lanes after the first one.
  template <int A>
  AGO_INLINE static float element(state const& s, int lane) {
    long place = 0;
    bool inside = true;
    [&]<int... D>(std::integer_sequence<int, D...>) AGO_INLINE_LAMBDA {
      (([&]() AGO_INLINE_LAMBDA {
         long const i = index_at<A, D>(s, lane);
         if constexpr (access_of<A>.padded && L.limited_by[A][D] < 0) inside = inside && i >= 0 && i < extent_of<A, D>;
         place = place * extent_of<A, D> + i;
       }()),
       ...);
    }(std::make_integer_sequence<int, access_of<A>.rank>{});
    return inside ? operand_of<A>(s)[place] : access_of<A>.pad();
  }
  /// The place of the first lane.
  template <int A>
  AGO_INLINE static long first_place(state const& s) {
    if constexpr (L.turn.turns()) return sum_of(s, place_of<A>{}, all_loops) - s.lane;
    else if constexpr (L.place[A].is_exact) return sum_of(s, place_of<A>{}, all_loops);
    long place = 0;
    [&]<int... D>(std::integer_sequence<int, D...>) AGO_INLINE_LAMBDA {
      ((place = place * extent_of<A, D> + index_at<A, D>(s, 0)), ...);
    }(std::make_integer_sequence<int, access_of<A>.rank>{});
    return place;
  }
  /// Are all lanes from the first one to `last` inside of a padded operand?
  template <int A>
  AGO_INLINE static bool is_inside(state const& s, int last) {
    bool inside = true;
    [&]<int... D>(std::integer_sequence<int, D...>) AGO_INLINE_LAMBDA {
      (([&]() AGO_INLINE_LAMBDA {
         constexpr bool is_bounded = access_of<A>.at[D].node < 0 && L.index[A][D].is_exact;
         if constexpr (L.limited_by[A][D] >= 0) return;
         else if constexpr (!is_bounded || all_of<A, D>.lower < 0 || all_of<A, D>.upper >= extent_of<A, D>) {
           long const i = index_at<A, D>(s, 0), end = index_at<A, D>(s, last);
           inside = inside && i >= 0 && i < extent_of<A, D> && end >= 0 && end < extent_of<A, D>;
         }
       }()),
       ...);
    }(std::make_integer_sequence<int, access_of<A>.rank>{});
    return inside;
  }

  /// Narrows iterations first ... end - 1 of a loop to those at which the dimensions of access A that it limits are not
  /// in the padding.
  template <int A, int LOOP>
  AGO_INLINE static void limit(state& s, [[maybe_unused]] int& first, [[maybe_unused]] int& end) {
    s.at[LOOP] = 0;
    auto const by = [&]<int D>() AGO_INLINE_LAMBDA {
      constexpr long step = L.index[A][D].of[LOOP], extent = extent_of<A, D>;
      long const start = index_at<A, D>(s, 0);
      long const below = step > 0 ? -start : start - extent + 1, above = step > 0 ? extent - start : start + 1;
      constexpr long size = step > 0 ? step : -step;
      if (below > 0 && (below + size - 1) / size > first) first = int((below + size - 1) / size);
      if (above <= 0) end = first;
      else if ((above + size - 1) / size < end) end = int((above + size - 1) / size);
    };
    [&]<int... D>(std::integer_sequence<int, D...>) AGO_INLINE_LAMBDA {
      (([&]() AGO_INLINE_LAMBDA {
         if constexpr (L.limited_by[A][D] == LOOP) by.template operator()<D>();
       }()),
       ...);
    }(std::make_integer_sequence<int, access_of<A>.rank>{});
  }

  /// Of a regular access: do all lanes read the padding if one does?
  template <int A>
  static constexpr bool lanes_share_padding() {
    for (int d = 0; d < access_of<A>.rank; ++d) {
      nest_index const& i = L.index[A][d];
      if (!i.is_exact || i.of[L.vector_loop] == 0) continue;
      expression::range const all = range_of(i, L.loops);
      if (all.lower < 0 || all.upper >= E.operands[access_of<A>.operand].of[d]) return false;
    }
    return true;
  }

  template <int N, int COUNT, int VALID>
  AGO_INLINE static void read(state& s) {
    constexpr int A = E.body.nodes[N].operand[0];
    if constexpr (InRegisters && access_of<A>.operand == Made && L.moves_with_folds(A)) {
      s.many[N][0] = s.made_now;
    } else if constexpr (!L.varies(N)) {
      constexpr bool plain = L.place[A].is_exact && !access_of<A>.padded;
      if constexpr (plain) s.one[N] = operand_of<A>(s)[sum_of(s, place_of<A>{}, all_loops)];
      else s.one[N] = element<A>(s, 0);
    } else if constexpr (L.is_regular[A]) {
      constexpr int step = L.lane_step[A], end = (COUNT - 1) * V + VALID;
      if constexpr (access_of<A>.padded)
        if (!is_inside<A>(s, end - 1)) {
          if constexpr (lanes_share_padding<A>()) {
            AGO_UNROLL(16)
            for (int u = 0; u < COUNT; ++u) s.many[N][u] = vec<I>(access_of<A>.pad());
            return;
          } else {
            return assemble<N, A, COUNT, VALID>(s);
          }
        }
      float const* const from = operand_of<A>(s) + first_place<A>(s);
      if constexpr (L.is_streamed[A]) {
        AGO_UNROLL(16)
        for (int u = 0; u < COUNT; ++u) fetch_page<I, L.exceeds_l3[A]>(from + u * V);
      }
      AGO_UNROLL(16)
      for (int u = 0; u + 1 < COUNT; ++u) s.many[N][u] = load<step, V>(from + long(u) * V * step);
      s.many[N][COUNT - 1] = load<step, VALID>(from + long(COUNT - 1) * V * step);
    } else {
      assemble<N, A, COUNT, VALID>(s);
    }
  }
  template <int STEP, int VALID>
  AGO_INLINE static vec<I> load(float const* from) {
    if constexpr (STEP == 0) return vec<I>(*from);
    else if constexpr (STEP == 1) return VALID == V ? vec<I>::load(from) : vec<I>::load(from, VALID);
    else return load_spaced<I, VALID, STEP>(from);
  }
  template <int N, int A, int COUNT, int VALID>
  AGO_INLINE static void assemble(state& s) {
    AGO_UNROLL(16)
    for (int u = 0; u < COUNT; ++u) {
      float all[V]{};
      int const valid = u + 1 < COUNT ? V : VALID;
      AGO_UNROLL(1)
      for (int i = 0; i < valid; ++i) all[i] = element<A>(s, u * V + i);
      s.many[N][u] = vec<I>::load(all);
    }
  }

  /// An index as a number.
  template <int N, int COUNT, int VALID>
  AGO_INLINE static void position(state& s) {
    constexpr int A = E.body.nodes[N].operand[0];
    if constexpr (!L.varies(N)) {
      s.one[N] = float(index_at<A, 0>(s, 0));
    } else if constexpr (L.index[A][0].is_exact) {
      constexpr int step = L.index[A][0].of[L.vector_loop];
      long const i = index_at<A, 0>(s, 0);
      AGO_UNROLL(16)
      for (int u = 0; u < COUNT; ++u)
        s.many[N][u] = fma(lane_numbers<I>::all(), vec<I>(float(step)), vec<I>(float(i + u * V * step)));
    } else {
      AGO_UNROLL(16)
      for (int u = 0; u < COUNT; ++u) {
        float all[V];
        AGO_UNROLL(1)
        for (int i = 0; i < V; ++i) all[i] = float(index_at<A, 0>(s, u * V + i));
        s.many[N][u] = vec<I>::load(all);
      }
    }
  }
};

}  // namespace ago::kernel
