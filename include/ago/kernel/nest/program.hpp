// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any index expression as a loop nest: one loop runs along registers, several of which are computed together; a node is
// computed in the outermost loop that has all of its variables. Functions over numbers of loops and nodes, which the
// compiler inlines into one.
#pragma once

#include <ago/kernel/nest/choice.hpp>
#include <ago/kernel/nest/elements.hpp>
#include <ago/kernel/nest/value.hpp>
#include <ago/simd/reduce.hpp>
#include <ago/simd/transpose.hpp>

#include <bit>
#include <utility>

namespace ago::kernel {

/// The nest of expression E with layout L. `Some`: it folds some pixels after the others; `Made`: the operand of which
/// these are in scratch, or registers; -1: none.
template <expression::index_expression const& E, nest_layout const& L, bool Some = false, int Made = -1,
          bool InRegisters = false>
class nest_program : protected nest_elements<E, L, Made, InRegisters> {
 public:
  /// Computes the part of the result with iterations first ... last - 1 of loop 0. `Some`: pixels from ... to - 1 are
  /// folded, after those before; `made`: where operand `Made` would begin.
  static void run(float const* const* operands, float* result, [[maybe_unused]] float* scratch, int first, int last,
                  int from = 0, int to = 0, float const* made = nullptr) {
    state s;
    for (int i = 0; i < E.operand_count; ++i) s.operand[i] = operands[i];
    s.made = made;
    s.result = result;
    s.first = first;
    s.last = last;
    s.from = from;
    s.to = to;
    if constexpr (turns) {
      constexpr int operand = E.body.accesses[0].operand;
      s.operand[operand] = scratch;
      for (; s.lane < vector_extent; s.lane += L.turn.lanes) {
        s.lanes = s.lane + L.turn.lanes < vector_extent ? s.lane + L.turn.lanes : vector_extent;
        turn(s, operands[operand], scratch);
        all_levels(s);
      }
    } else {
      all_levels(s);
    }
  }

 protected:
  using base = nest_elements<E, L, Made, InRegisters>;
  using typename base::loops;
  using typename base::state;
  using nodes = std::uint64_t;
  using base::I, base::U, base::V, base::vector_extent;
  static constexpr int node_count = E.body.node_count, root = node_count - 1;
  static constexpr nodes every = ~nodes(0);
  static constexpr bool turns = L.turn.turns();
  static constexpr int later_of_pair = L.pair[0] < L.pair[1] ? L.pair[1] : L.pair[0];
  static constexpr long second_of_pair = L.pair_loop < 0 ? 0 : L.loops[L.pair_loop < 0 ? 0 : L.pair_loop].result;
  static constexpr bool is_spread = L.vector_loop >= 0 && !L.along_fold;  ///< the result is

  static constexpr int block_loop = L.block_loop < 0 ? 0 : L.block_loop;
  static constexpr int rows = L.blocks_in_result ? L.loops[block_loop].extent : 1;
  /// The loop over pixels.
  static constexpr int pixel_loop = Some ? std::countr_zero(L.folds_over[L.pair_loop < 0 ? root : L.pair[0]]) : -1;
  static constexpr loops in_blocks_of_registers = L.block_loop < 0 || L.blocks_in_result ? 0 : loops(1) << block_loop;

  /// Copies the elements of the lanes, which are in front then. Those of the next index of the dimensions before are
  /// prefetched meanwhile.
  static void turn(state const& s, float const* operand, float* to) {
    constexpr nest_turn t = L.turn;
    constexpr long next = vector_extent * t.inner;
    int const lanes = s.lanes - s.lane;
    float const* from = operand + s.lane * t.inner;
    for (long i = 0; i < t.outer; ++i, from += next, to += t.inner * t.lanes) {
      if (i + 1 < t.outer)
        for (long k = 0; k < lanes * t.inner; k += line_floats) __builtin_prefetch(from + next + k, 0, 2);
      transpose<I>(from, t.inner, to, t.lanes, t.inner, lanes);
    }
  }

  // Loops of the result.

  AGO_INLINE static void all_levels(state& s) {
    compute<every, 0, 0, 1, 1>(s);
    level<0, 0>(s);
  }
  /// The iterations of a loop along registers that are computed now.
  template <int LOOP>
  AGO_INLINE static index_range lanes_now(state const& s) {
    if constexpr (LOOP == 0) return {s.first, s.last};
    else if constexpr (turns) return {s.lane, s.lanes};
    else return {0, vector_extent};
  }

  template <int LOOP, loops BOUND>
  AGO_INLINE static void level(state& s) {
    if constexpr (LOOP == L.result_loops) {
      if constexpr (!is_spread) store(s);
    } else if constexpr (LOOP == L.pair_loop) {
      level<LOOP + 1, BOUND>(s);
    } else if constexpr (is_spread && LOOP == L.vector_loop) {
      static_assert(LOOP + 1 == L.result_loops, "registers run along the innermost loop");
      AGO_UNROLL(1)
      for (s.row = 0; s.row < rows; s.row += L.block)
        along<LOOP>(s, lanes_now<LOOP>(s).first, lanes_now<LOOP>(s).last,
                    [&]<int COUNT, int VALID>() AGO_INLINE_LAMBDA {
                      compute<every, BOUND, loops(1) << LOOP, COUNT, VALID>(s);
                      store_registers<COUNT, VALID>(s);
                    });
    } else {
      constexpr loops bit = L.loops[LOOP].extent > 1 ? loops(1) << LOOP : 0;
      int const end = LOOP == 0 ? s.last : L.loops[LOOP].extent;
      for (s.at[LOOP] = LOOP == 0 ? s.first : 0; s.at[LOOP] < end; ++s.at[LOOP]) {
        if constexpr (bit != 0) compute<every, BOUND, bit, 1, 1>(s);
        level<LOOP + 1, BOUND | bit>(s);
      }
    }
  }

  /// Runs a loop along registers: f<registers, lanes of the last>().
  template <int LOOP, class F>
  AGO_INLINE static void along(state& s, int first, int last, F f) {
    constexpr int chunk = U * V, whole = vector_extent / chunk * chunk, left = vector_extent - whole;
    int& at = s.at[LOOP];
    int const end = last < whole ? last : whole;
    if constexpr (whole > 0) {
      AGO_UNROLL(1)
      for (at = first; at < end; at += chunk) f.template operator()<U, V>();
    }
    if constexpr (left > 0) {
      if (last <= whole) return;
      at = whole;
      f.template operator()<(left + V - 1) / V, (left - 1) % V + 1>();
    }
  }

  AGO_INLINE static long place_in_result(state const& s) {
    long r = 0;
    [&]<int... D>(std::integer_sequence<int, D...>) AGO_INLINE_LAMBDA {
      ((r += L.loops[D].result * s.at[D]), ...);
    }(std::make_integer_sequence<int, L.result_loops>{});
    return r;
  }
  AGO_INLINE static void store(state& s) { s.result[place_in_result(s)] = s.one[root]; }
  template <int COUNT, int VALID>
  AGO_INLINE static void store_registers(state& s) {
    float* const to = s.result + place_in_result(s);
    if constexpr (L.pair_loop >= 0) {
      store_node<L.pair[0], COUNT, VALID>(s, to);
      store_node<L.pair[1], COUNT, VALID>(s, to + L.loops[L.pair_loop].result);
    } else {
      store_node<root, COUNT, VALID>(s, to);
    }
  }
  template <int N, int COUNT, int VALID>
  AGO_INLINE static void store_node(state& s, float* to) {
    AGO_UNROLL(16)
    for (int u = 0; u < COUNT; ++u) {
      vec<I> const x = value<N>(s, u);
      u + 1 < COUNT || VALID == V ? x.store(to + u * V) : x.store(to + u * V, VALID);
    }
  }

  // Nodes.

  /// Computes those nodes of WHICH that depend on FRESH, and otherwise on BOUND alone; without FRESH, those that depend
  /// on nothing. In a loop along registers, COUNT of them, with VALID lanes in the last one.
  template <nodes WHICH, loops BOUND, loops FRESH, int COUNT, int VALID>
  AGO_INLINE static void compute(state& s) {
    constexpr nodes all = nodes_of(WHICH, BOUND, FRESH);
    compute_all<all, BOUND | FRESH, COUNT, VALID>(s, std::make_integer_sequence<int, std::popcount(all)>{});
  }
  static constexpr nodes nodes_of(nodes which, loops bound, loops fresh) {
    nodes r = 0;
    for (int n = 0; n < node_count; ++n) {
      loops const on = L.depends[n];
      bool const is_new = !(on & ~(bound | fresh)) && (fresh == 0 || (on & fresh));
      if ((which >> n & 1) && is_new) r |= nodes(1) << n;
    }
    return r;
  }
  static constexpr int number_of(nodes all, int k) {
    while (k-- > 0) all &= all - 1;
    return std::countr_zero(all);
  }
  template <nodes ALL, loops BOUND, int COUNT, int VALID, int... K>
  AGO_INLINE static void compute_all([[maybe_unused]] state& s, std::integer_sequence<int, K...>) {
    (compute_node<number_of(ALL, K), BOUND, COUNT, VALID>(s), ...);
  }
  template <int N, loops BOUND, int COUNT, int VALID>
  AGO_INLINE static void compute_node(state& s) {
    constexpr expression::node x = E.body.nodes[N];
    if constexpr (x.kind == node_kind::number) {
      s.one[N] = x.number();
    } else if constexpr (x.kind == node_kind::read) {
      base::template read<N, COUNT, VALID>(s);
    } else if constexpr (x.kind == node_kind::position) {
      base::template position<N, COUNT, VALID>(s);
    } else if constexpr (L.pair_loop >= 0 && is_fold(x.kind)) {
      if constexpr (N == later_of_pair) folds<BOUND, COUNT, VALID, L.pair[0], L.pair[1]>(s);
    } else if constexpr (is_fold(x.kind)) {
      fold<N, BOUND, COUNT, VALID>(s);
    } else if constexpr (L.varies(N)) {
      AGO_UNROLL(16)
      for (int u = 0; u < COUNT; ++u) s.many[N][u] = result_of<N, I>(s, u);
    } else {
      s.one[N] = result_of<N, isa::scalar>(s, 0).v;
    }
    if constexpr (base::is_index(N) && !L.varies(N)) s.index[N] = base::whole(s.one[N]);
  }
  /// Register u of an elementwise node, or its float.
  template <int N, isa T>
  AGO_INLINE static vec<T> result_of(state const& s, int u) {
    constexpr expression::node x = E.body.nodes[N];
    constexpr int a = x.operand[0], b = x.operand[1] < 0 ? a : x.operand[1], c = x.operand[2] < 0 ? a : x.operand[2];
    if constexpr (x.kind == node_kind::select && is_comparison(a))
      return where<E.body.nodes[a].kind>(value<E.body.nodes[a].operand[0], T>(s, u),
                                         value<E.body.nodes[a].operand[1], T>(s, u), value<b, T>(s, u),
                                         value<c, T>(s, u));
    else return applied<x.kind>(value<a, T>(s, u), value<b, T>(s, u), value<c, T>(s, u));
  }
  static constexpr bool is_comparison(int n) {
    node_kind const k = E.body.nodes[n].kind;
    return k == node_kind::less || k == node_kind::less_equal || k == node_kind::equal;
  }

  /// Register u of node N, or its float.
  template <int N, isa T = I>
  AGO_INLINE static vec<T> value(state const& s, int u) {
    if constexpr (L.varies(N)) return s.many[N][u];
    else return vec<T>(s.one[N]);
  }

  // Folds.

  template <int LOOP>
  AGO_INLINE static int first_of(state const& s) {
    return LOOP == L.block_loop ? s.row : LOOP == pixel_loop ? s.from : 0;
  }
  template <int LOOP>
  AGO_INLINE static int end_of(state const& s) {
    int const end = LOOP == pixel_loop ? s.to : L.loops[LOOP].extent;
    return LOOP == L.block_loop && s.row + L.block < end ? s.row + L.block : end;
  }
  /// What a fold begins with, or has come to in the blocks or pixels before: the result, or what is `beyond` it.
  template <node_kind KIND, int COUNT, int VALID>
  AGO_INLINE static void begin(state const& s, vec<I> (&sum)[COUNT], [[maybe_unused]] long beyond) {
    if constexpr (L.blocks_in_result || Some) {
      if (Some ? s.from > 0 : s.row > 0) {
        float const* const p = s.result + place_in_result(s) + beyond;
        AGO_UNROLL(16)
        for (int u = 0; u < COUNT; ++u)
          sum[u] = u + 1 < COUNT || VALID == V ? vec<I>::load(p + u * V) : vec<I>::load(p + u * V, VALID);
        return;
      }
    }
    start<KIND>(sum);
  }
  template <node_kind KIND, int COUNT>
  AGO_INLINE static void start(vec<I> (&sum)[COUNT]) {
    AGO_UNROLL(16)
    for (int u = 0; u < COUNT; ++u) sum[u] = vec<I>(fold_start<KIND>);
  }

  template <int N, loops BOUND, int COUNT, int VALID>
  AGO_INLINE static void fold(state& s) {
    constexpr node_kind kind = E.body.nodes[N].kind;
    if constexpr (L.folds_lanes(N)) {
      vec<I> sum[U];
      AGO_UNROLL(16)
      for (int u = 0; u < U; ++u) sum[u] = vec<I>(fold_start<kind>);
      fold_loops<-1, L.below[N], BOUND, L.folds_over[N] & ~(loops(1) << L.vector_loop), 1, 1>(
          s, [&]<loops NOW>() AGO_INLINE_LAMBDA {
            along<L.vector_loop>(s, 0, vector_extent, [&]<int MANY, int LANES>() AGO_INLINE_LAMBDA {
              compute<L.below[N], NOW, loops(1) << L.vector_loop, MANY, LANES>(s);
              AGO_UNROLL(16)
              for (int u = 0; u < MANY; ++u) {
                vec<I> const next = add<N>(s, sum[u], u);
                sum[u] = u + 1 == MANY && LANES < V ? first_lanes<LANES>(next, sum[u]) : next;
              }
            });
          });
      AGO_UNROLL(16)
      for (int u = 1; u < U; ++u) sum[0] = folded<kind>(sum[0], sum[u]);
      s.one[N] = reduce(sum[0], [](auto a, auto b) AGO_INLINE_LAMBDA { return folded<kind>(a, b); });
    } else if constexpr (L.varies(N)) {
      folds<BOUND, COUNT, VALID, N>(s);
    } else {
      vec<isa::scalar> sum(fold_start<kind>);
      fold_loops<access_of_fold<N>, L.below[N], BOUND, L.folds_over[N], COUNT, VALID>(
          s, [&]<loops>() AGO_INLINE_LAMBDA { sum = add<N>(s, sum, 0); });
      s.one[N] = sum.v;
    }
  }
  /// A fold in registers along the result, or the two of a pair, whose elements are computed once.
  template <loops BOUND, int COUNT, int VALID, int... N>
  AGO_INLINE static void folds(state& s) {
    constexpr loops over = (L.folds_over[N] | ...);
    using registers = vec<I>[sizeof...(N)][COUNT];
    auto const begin_all = [&](registers& all) AGO_INLINE_LAMBDA {
      int i = 0;
      (begin<E.body.nodes[N].kind, COUNT, VALID>(s, all[i++], N == L.pair[1] ? second_of_pair : 0), ...);
    };
    auto const add_to = [&](registers& all) AGO_INLINE_LAMBDA {
      constexpr int accesses[]{access_of_fold<N>...};
      fold_loops<sizeof...(N) == 1 ? accesses[0] : -1, (L.below[N] | ...), BOUND, over, COUNT, VALID>(
          s, [&]<loops>() AGO_INLINE_LAMBDA {
            AGO_UNROLL(16)
            for (int u = 0; u < COUNT; ++u) {
              int i = 0;
              ((all[i][u] = add<N>(s, all[i][u], u), ++i), ...);
            }
          });
    };
    registers sum;
    begin_all(sum);
    if constexpr ((over & in_blocks_of_registers) != 0) {
      int const end = Some ? s.to : L.loops[block_loop].extent;
      AGO_UNROLL(1)
      for (s.row = s.from; s.row < end; s.row += L.block) {
        registers part;
        int k = 0;
        (start<E.body.nodes[N].kind>(part[k++]), ...);
        add_to(part);
        AGO_UNROLL(16)
        for (int u = 0; u < COUNT; ++u) {
          int i = 0;
          ((sum[i][u] = folded<E.body.nodes[N].kind>(sum[i][u], part[i][u]), ++i), ...);
        }
      }
      s.row = 0;
    } else {
      add_to(sum);
    }
    AGO_UNROLL(16)
    for (int u = 0; u < COUNT; ++u) {
      int i = 0;
      ((s.many[N][u] = sum[i++][u]), ...);
    }
  }
  /// Register u of what is folded, added to `sum`.
  template <int N, isa T>
  AGO_INLINE static vec<T> add(state const& s, vec<T> sum, int u) {
    constexpr int of = E.body.nodes[N].operand[0];
    constexpr expression::node x = E.body.nodes[of];
    if constexpr (E.body.nodes[N].kind == node_kind::sum && x.kind == node_kind::multiply && T != isa::scalar)
      return fma(value<x.operand[0], T>(s, u), value<x.operand[1], T>(s, u), sum);
    else return folded<E.body.nodes[N].kind>(sum, value<of, T>(s, u));
  }
  /// The first COUNT lanes of x, the others of y.
  template <int COUNT>
  AGO_INLINE static vec<I> first_lanes(vec<I> x, vec<I> y) {
    return where_less(lane_numbers<I>::all(), vec<I>(COUNT - .5f), x, y);
  }

  /// The access that is all that is folded; -1: there is more.
  template <int N>
  static constexpr int access_of_fold = [] {
    expression::node const& of = E.body.nodes[E.body.nodes[N].operand[0]];
    return of.kind == node_kind::read ? int(of.operand[0]) : -1;
  }();

  /// Loops over LEFT, the first of which is the outermost, computes of WHICH what varies in them, and calls f<loops
  /// that have values> in the innermost. They leave out what is limited for `ACCESS`.
  template <int ACCESS, nodes WHICH, loops BOUND, loops LEFT, int COUNT, int VALID, class F>
  AGO_INLINE static void fold_loops(state& s, F f) {
    if constexpr (LEFT == 0) {
      f.template operator()<BOUND>();
    } else {
      constexpr int d = __builtin_ctz(LEFT);
      constexpr loops bit = loops(1) << d;
      int first = first_of<d>(s), end = end_of<d>(s);
      if constexpr (ACCESS >= 0) base::template limit<ACCESS, d>(s, first, end);
      AGO_UNROLL(1)
      for (s.at[d] = first; s.at[d] < end; ++s.at[d]) {
        compute<WHICH, BOUND, bit, COUNT, VALID>(s);
        fold_loops<ACCESS, WHICH, BOUND | bit, LEFT & ~bit, COUNT, VALID>(s, f);
      }
    }
  }
};

}  // namespace ago::kernel
