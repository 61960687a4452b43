// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of index expressions with expression and layout as data, for networks that are drawn at run time: what
// is compiled for one expression, its loops, registers and orders of sums, is interpreted here. One register is
// computed at a time, in the order of additions that the layout states, so that results have the same bits.
#pragma once

#include <ago/kernel/contraction/copies.hpp>
#include <ago/kernel/nest/choice.hpp>
#include <ago/kernel/nest/value.hpp>
#include <ago/simd/reduce.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace expression_test {

using ago::isa;
using ago::simd::vec;

/// f(std::integral_constant<node_kind, K>)
template <class F>
auto with_kind(ago::expression::node_kind k, F f) {
  using enum ago::expression::node_kind;
  using ago::expression::node_kind;
#define AGO_KIND(K) \
  case K: return f(std::integral_constant<node_kind, K>())
  switch (k) {
    AGO_KIND(sum);
    AGO_KIND(product);
    AGO_KIND(maximum_of);
    AGO_KIND(minimum_of);
    AGO_KIND(add);
    AGO_KIND(subtract);
    AGO_KIND(multiply);
    AGO_KIND(divide);
    AGO_KIND(maximum);
    AGO_KIND(minimum);
    AGO_KIND(less);
    AGO_KIND(less_equal);
    AGO_KIND(equal);
    AGO_KIND(select);
    AGO_KIND(negate);
    AGO_KIND(absolute);
    AGO_KIND(exp);
    AGO_KIND(sqrt);
    AGO_KIND(tanh);
    AGO_KIND(sigmoid);
    AGO_KIND(floor);
    default: throw std::logic_error("random expressions lack this function");
  }
#undef AGO_KIND
}

/// The loop nest of an expression, for registers of T.
template <isa T>
class interpreted_nest {
  static constexpr int V = ago::ir::lanes(T);
  using node_kind = ago::expression::node_kind;
  using loops = std::uint32_t;

 public:
  interpreted_nest(ago::expression::index_expression const& e, ago::kernel::nest_layout const& l,
                   float const* const* operands)
      : e_(e), l_(l), operands_(operands) {}

  void run(float* result) {
    result_ = result;
    compute(~std::uint64_t(0), 0, 0);
    level(0, 0);
  }

 private:
  static loops bit(int loop) { return loops(1) << loop; }
  int extent(int loop) const { return l_.loops[loop].extent; }
  loops bit_if_wide(int loop) const { return extent(loop) > 1 ? bit(loop) : 0; }

  void level(int loop, loops bound) {
    if (loop == l_.result_loops) return store();
    bool const spread = loop == l_.vector_loop;
    for (at_[loop] = 0; at_[loop] < extent(loop); at_[loop] += spread ? V : 1) {
      if (spread) valid_ = std::min(V, extent(loop) - at_[loop]);
      if (bit_if_wide(loop)) compute(~std::uint64_t(0), bound, bit(loop));
      level(loop + 1, bound | bit_if_wide(loop));
    }
  }
  void store() {
    long place = 0, step = 0;
    for (int d = 0; d < l_.result_loops; ++d) {
      place += l_.loops[d].result * at_[d];
      if (d == l_.vector_loop) step = l_.loops[d].result;
    }
    if (!l_.varies(e_.root())) {
      if (step == 0) {
        result_[place] = one_[e_.root()];
        return;
      }
      for (int i = 0; i < valid_; ++i) result_[place + i * step] = one_[e_.root()];
      return;
    }
    float all[V];
    many_[std::size_t(e_.root())].store(all);
    for (int i = 0; i < valid_; ++i) result_[place + i * step] = all[i];
  }

  void compute(std::uint64_t which, loops bound, loops fresh) {
    for (int n = 0; n < e_.body.node_count; ++n) {
      loops const on = l_.depends[n];
      if ((which >> n & 1) && !(on & ~(bound | fresh)) && (fresh == 0 || (on & fresh))) compute_node(n, bound | fresh);
    }
  }
  template <isa X>
  vec<X> value(int n) const {
    if constexpr (X == T) {
      if (l_.varies(n)) return many_[std::size_t(n)];
    }
    return vec<X>(one_[n]);
  }
  template <isa X>
  void set(int n, vec<X> x) {
    if constexpr (X == T) {
      if (l_.varies(n)) {
        many_[std::size_t(n)] = x;
        return;
      }
    }
    x.store(&one_[n], 1);
  }
  void compute_node(int n, loops bound) {
    ago::expression::node const& x = e_.body.nodes[n];
    if (x.kind == node_kind::number) {
      one_[n] = x.number();
    } else if (is_leaf(x.kind)) {
      leaf(n, x.operand[0]);
    } else if (is_fold(x.kind)) {
      with_kind(x.kind, [&]<node_kind K>(std::integral_constant<node_kind, K>) {
        if (l_.folds_lanes(n)) across_lanes<K>(n, bound);
        else if (l_.varies(n)) set<T>(n, folded<K, T>(n, bound));
        else set<isa::scalar>(n, folded<K, isa::scalar>(n, bound));
      });
    } else if (l_.varies(n)) {
      apply<T>(n);
    } else {
      apply<isa::scalar>(n);
    }
  }
  template <isa X>
  void apply(int n) {
    ago::expression::node const& x = e_.body.nodes[n];
    int const a = x.operand[0], b = x.operand[1] < 0 ? a : x.operand[1], c = x.operand[2] < 0 ? a : x.operand[2];
    with_kind(x.kind, [&]<node_kind K>(std::integral_constant<node_kind, K>) {
      if constexpr (!ago::expression::is_fold(K))
        set<X>(n, ago::kernel::applied<K>(value<X>(a), value<X>(b), value<X>(c)));
    });
  }

  // Elements.

  void leaf(int n, int access) {
    if (!l_.varies(n)) {
      one_[n] = element(access, 0);
      return;
    }
    float all[V]{};
    for (int i = 0; i < valid_; ++i) all[i] = element(access, i);
    many_[std::size_t(n)] = vec<T>::load(all);
  }
  long whole(float x) const {
    x = x < -1e9f ? -1e9f : x < 1e9f ? x : x == x ? 1e9f : -1e9f;
    return long(std::floor(x));
  }
  long index(int access, int d, int lane) const {
    ago::expression::element_access const& x = e_.body.accesses[access];
    ago::expression::index_map const& m = x.at[d];
    if (m.node >= 0) {
      float all[V];
      if (l_.varies(m.node)) many_[std::size_t(m.node)].store(all);
      long const i = whole(l_.varies(m.node) ? all[lane] : one_[m.node]), last = e_.operands[x.operand].of[d] - 1;
      return x.padded ? i : std::clamp(i, 0L, last);
    }
    if (l_.index[access][d].is_exact) return sum(l_.index[access][d], lane);
    int axes[ago::expression::max_axes]{};
    for (int k = 0; k < l_.count; ++k) axes[l_.loops[k].axis] += int(l_.loops[k].weight) * place_of(k, lane);
    return value_of(e_.body, m.sum, axes);
  }
  int place_of(int loop, int lane) const { return at_[loop] + (loop == l_.vector_loop ? lane : 0); }
  long sum(ago::kernel::nest_index const& s, int lane) const {
    long r = s.constant;
    for (int k = 0; k < l_.count; ++k) r += long(s.of[k]) * place_of(k, lane);
    return r;
  }
  float element(int access, int lane) const {
    ago::expression::element_access const& x = e_.body.accesses[access];
    if (x.operand < 0) return float(index(access, 0, lane));
    ago::expression::extents const& of = e_.operands[x.operand];
    bool const by_place = !x.padded && l_.place[access].is_exact;  // loops of several axes may be one
    long place = by_place ? sum(l_.place[access], lane) : 0;
    for (int d = 0; d < x.rank && !by_place; ++d) {
      long const i = index(access, d, lane);
      if (x.padded && (i < 0 || i >= of.of[d])) return x.pad();
      place = place * of.of[d] + i;
    }
    if (place < 0 || place >= of.count()) throw std::logic_error("an element outside of an operand");
    return operands_[x.operand][place];
  }

  // Folds.

  template <node_kind K, isa X>
  vec<X> added(int n, vec<X> sum) const {
    int const of = e_.body.nodes[n].operand[0];
    ago::expression::node const& x = e_.body.nodes[of];
    if (K == node_kind::sum && x.kind == node_kind::multiply && X != isa::scalar)
      return fma(value<X>(x.operand[0]), value<X>(x.operand[1]), sum);
    if constexpr (ago::expression::is_fold(K)) return ago::kernel::folded<K>(sum, value<X>(of));
    return sum;
  }
  template <node_kind K, isa X>
  vec<X> folded(int n, loops bound) {
    vec<X> sum(ago::kernel::fold_start<K>);
    fold_loops(n, bound, l_.folds_over[n], [&](loops) { sum = added<K>(n, sum); });
    return sum;
  }
  /// The loop along registers adds to several of them in turn, which are added up at the end.
  template <node_kind K>
  void across_lanes(int n, loops bound) {
    int const v = l_.vector_loop, registers = l_.registers, end = extent(v), chunk = registers * V;
    std::vector<vec<T>> sum(std::size_t(registers), vec<T>(ago::kernel::fold_start<K>));
    fold_loops(n, bound, l_.folds_over[n] & ~bit(v), [&](loops now) {
      for (int first = 0; first < end; first += V) {
        at_[v] = first;
        valid_ = std::min(V, end - first);
        compute(l_.below[n], now, bit(v));
        vec<T>& to = sum[std::size_t(first % chunk / V)];
        float before[V], after[V];
        to.store(before);
        added<K>(n, to).store(after);
        for (int i = valid_; i < V; ++i) after[i] = before[i];
        to = vec<T>::load(after);
      }
    });
    for (int u = 1; u < registers; ++u) sum[0] = add_registers<K>(sum[0], sum[std::size_t(u)]);
    one_[n] = ago::simd::reduce(sum[0], [](auto a, auto b) { return add_registers<K>(a, b); });
  }
  template <node_kind K, isa X>
  static vec<X> add_registers(vec<X> a, vec<X> b) {
    if constexpr (ago::expression::is_fold(K)) return ago::kernel::folded<K>(a, b);
    return a;
  }
  template <class F>
  void fold_loops(int n, loops bound, loops left, F const& f) {
    if (left == 0) return f(bound);
    int const d = __builtin_ctz(left);
    for (at_[d] = 0; at_[d] < extent(d); ++at_[d]) {
      compute(l_.below[n], bound, bit(d));
      fold_loops(n, bound | bit(d), left & ~bit(d), f);
    }
  }

  ago::expression::index_expression const& e_;
  ago::kernel::nest_layout const& l_;
  float const* const* operands_;
  float* result_{};
  int at_[ago::kernel::nest_layout::max_loops]{}, valid_ = 1;
  float one_[ago::kernel::nest_layout::max_nodes]{};
  std::vector<vec<T>> many_ = std::vector<vec<T>>(ago::kernel::nest_layout::max_nodes, vec<T>(0.f));
};

/// For registers of I, or shorter ones.
template <isa I>
void interpret_nest(ago::expression::index_expression const& e, float const* const* operands, float* result) {
  ago::kernel::nest_layout const l = ago::kernel::layout_of_nest(e, I);
  auto const run = [&]<isa T>(std::integral_constant<isa, T>) {
    if constexpr (ago::available(T)) interpreted_nest<T>(e, l, operands).run(result);
  };
  if (l.target == I) return run(std::integral_constant<isa, I>());
  if (l.target == isa::scalar) return run(std::integral_constant<isa, isa::scalar>());
  if constexpr (I == isa::avx512) {
    if (l.target == isa::avx2) return run(std::integral_constant<isa, isa::avx2>());
  }
  if constexpr (I == isa::avx512 || I == isa::avx2) {
    if (l.target == isa::sse2) return run(std::integral_constant<isa, isa::sse2>());
  }
  if constexpr (I == isa::emulated512) {
    if (l.target == isa::emulated128) return run(std::integral_constant<isa, isa::emulated128>());
  }
  throw std::logic_error("no interpreter for these registers");
}

/// A sum of products with the offsets of its layout; a known factor is read from the packed parameter.
template <isa I>
void interpret_contraction(ago::kernel::contraction_layout const& l, ago::expression::index_expression const& e,
                           float const* rows, float const* columns, float* result) {
  using loop = ago::expression::matrix_loop;
  ago::expression::matrix_form const& f = l.form;
  ago::kernel::padded_reader const a{e.operands[f.a.operand], f.a, e.body.accesses[f.a.access].pad(), rows};
  ago::kernel::padded_reader const b{e.operands[f.b.operand], f.b, e.body.accesses[f.b.access].pad(), columns};
  // In a copy whose first extent is the last one of the operand, if `last` > 0.
  auto const place_of = [](long at, ago::expression::matrix_operand const& o, int last) {
    if (last == 0) return at;
    long const others = o.padded.count() / last;
    return at % others * last + at / others;
  };
  auto const row = [&](int z, int m, int k) {
    if (l.rows_known) return rows[l.packed_place(z, m, k)];
    long const at = f.a.start + f.batch.offset(z, &loop::a) + f.m.offset(m, &loop::a) + f.k.offset(k, &loop::a);
    return a(place_of(at, f.a, l.rows_last));
  };
  auto const column = [&](int z, int n, int k) {
    if (l.columns_known) return columns[l.packed_place(z, n, k)];
    long const at = f.b.start + f.batch.offset(z, &loop::b) + f.n.offset(n, &loop::b) + f.k.offset(k, &loop::b);
    return b(place_of(at, f.b, l.columns_last));
  };
  constexpr int V = ago::ir::lanes(I);
  for (int z = 0; z < l.batches; ++z)
    for (int m = 0; m < l.rows; ++m)
      for (int first = 0; first < l.columns; first += V) {
        vec<I> sum(0.f);
        int const valid = std::min(V, l.columns - first);
        for (int k = 0; k < l.depth; ++k) {
          float all[V]{};
          for (int i = 0; i < valid; ++i) all[i] = column(z, first + i, k);
          sum = fma(vec<I>(row(z, m, k)), vec<I>::load(all), sum);
        }
        if (f.scale != 1) sum = sum * vec<I>(f.scale);
        float all[V];
        sum.store(all);
        for (int i = 0; i < valid; ++i)
          result[f.batch.offset(z, &loop::c) + f.m.offset(m, &loop::c) + f.n.offset(first + i, &loop::c)] = all[i];
      }
}

}  // namespace expression_test
