// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the loops of a nest.
#pragma once

#include <ago/expression/common_divisor.hpp>
#include <ago/expression/counts.hpp>
#include <ago/expression/fold_pair.hpp>
#include <ago/kernel/nest/layout.hpp>

namespace ago::kernel {

/// `some`: for a nest that folds some pixels after the others, while they are in a cache.
class nest_maker {
 public:
  constexpr nest_maker(expression::index_expression const& e, isa target, bool some = false) : e_(e), some_(some) {
    find_loops();
    find_indices();
    merge();
    find_dependences();
    choose_vector(target);
    consider_turning(target);
    find_pair();
    find_block();
    find_limits();
    find_lane_steps();
    if (!some) find_streams();
  }
  nest_layout made{};

 private:
  using digits = expression::digits;
  using node_kind = expression::node_kind;

  constexpr void find_loops() {
    digits const in(e_);
    made.count = in.count;
    for (int i = 0; i < in.count; ++i) {
      expression::digit const& d = in.all[i];
      bool const result = d.axis < e_.result.rank;
      made.loops[i] = {d.axis, d.extent, d.weight, result ? d.weight * e_.result.stride(d.axis) : 0};
      made.result_loops += result;
    }
  }

  constexpr nest_index index_of(expression::digit_sum const& s) const {
    nest_index r{s.is_exact, int(s.constant)};
    for (int i = 0; i < made.count; ++i) r.of[i] = made.loops[i].extent > 1 ? int(s.of[i]) : 0;
    return r;
  }
  constexpr void find_indices() {
    digits const in(e_);
    for (int a = 0; a < e_.body.access_count; ++a) {
      expression::element_access const& x = e_.body.accesses[a];
      expression::digit_sum place;
      for (int d = 0; d < x.rank; ++d) {
        expression::digit_sum s = in(e_, x.at[d].sum);
        if (x.at[d].node >= 0) s = {false};
        made.index[a][d] = index_of(s);
        long const stride = x.operand >= 0 ? e_.operands[x.operand].stride(d) : 1;
        place.is_exact &= s.is_exact;
        place.constant += stride * s.constant;
        for (int i = 0; i < in.count; ++i) place.of[i] += stride * s.of[i];
      }
      made.place[a] = index_of(place);
    }
  }

  /// The axes of indices that are not sums of loops, as bits.
  constexpr unsigned unresolved(int a) const {
    unsigned r = 0;
    for (int d = 0; d < e_.body.accesses[a].rank; ++d)
      if (!made.index[a][d].is_exact) r |= axes_of(e_.body, e_.body.accesses[a].at[d].sum);
    return r;
  }
  static constexpr bool is_one(nest_index const& s, int outer, int inner, int extent) {
    return !s.is_exact || s.of[outer] == s.of[inner] * extent;
  }
  /// Can loop i and the one after it be one?
  constexpr bool merges(int i) const {
    nest_loop const& outer = made.loops[i];
    nest_loop const& inner = made.loops[i + 1];
    if ((i < made.result_loops) != (i + 1 < made.result_loops)) return false;
    if (outer.extent == 1 || inner.extent == 1) return true;
    if (i < made.result_loops && outer.result != inner.result * inner.extent) return false;
    for (int n = 0; n < e_.body.node_count; ++n) {
      expression::node const& x = e_.body.nodes[n];
      if (is_fold(x.kind) && (x.bits >> outer.axis & 1) != (x.bits >> inner.axis & 1)) return false;
    }
    for (int a = 0; a < e_.body.access_count; ++a) {
      unsigned const odd = unresolved(a);
      if ((odd >> outer.axis & 1) || (odd >> inner.axis & 1)) return false;
      expression::element_access const& x = e_.body.accesses[a];
      if (!is_one(made.place[a], i, i + 1, inner.extent)) return false;
      for (int d = 0; d < x.rank; ++d)
        if ((x.padded || !made.place[a].is_exact) && !is_one(made.index[a][d], i, i + 1, inner.extent)) return false;
    }
    return true;
  }
  constexpr void merge() {
    for (int i = made.count - 1; i-- > 0;) {
      if (!merges(i)) continue;
      nest_loop& outer = made.loops[i];
      nest_loop const inner = made.loops[i + 1];
      bool const keeps_outer = inner.extent == 1;
      if (!keeps_outer) outer = {inner.axis, outer.extent * inner.extent, inner.weight, inner.result};
      made.result_loops -= i + 1 < made.result_loops;
      for (int k = i + 1; k + 1 < made.count; ++k) made.loops[k] = made.loops[k + 1];
      for (int a = 0; a < e_.body.access_count; ++a) {
        erase(made.place[a], keeps_outer ? i + 1 : i);
        for (nest_index& s : made.index[a]) erase(s, keeps_outer ? i + 1 : i);
      }
      made.loops[--made.count] = {};
    }
  }
  constexpr void erase(nest_index& s, int k) const {
    for (; k + 1 < made.count; ++k) s.of[k] = s.of[k + 1];
    s.of[made.count - 1] = 0;
  }

  constexpr std::uint32_t loops_of(unsigned axes) const {
    std::uint32_t r = 0;
    for (int i = 0; i < made.count; ++i)
      if (made.loops[i].extent > 1 && (axes >> made.loops[i].axis & 1)) r |= 1u << i;
    return r;
  }
  constexpr void find_dependences() {
    for (int n = 0; n < e_.body.node_count; ++n) {
      expression::node const& x = e_.body.nodes[n];
      if (is_leaf(x.kind) && x.kind != node_kind::number) {
        int const a = x.operand[0];
        made.depends[n] |= loops_of(unresolved(a));
        for (int d = 0; d < e_.body.accesses[a].rank; ++d)
          for (int i = 0; i < made.count; ++i)
            if (made.index[a][d].is_exact && made.index[a][d].of[i] != 0) made.depends[n] |= 1u << i;
      }
      for_each_node_read(e_.body, x, [&](int k) {
        made.depends[n] |= made.depends[k];
        made.below[n] |= made.below[k] | std::uint64_t(1) << k;
      });
      if (is_fold(x.kind)) {
        made.folds_over[n] = loops_of(x.bits);
        made.depends[n] &= ~made.folds_over[n];
      }
    }
  }

  /// The registers for a loop along the result: short loops take short ones.
  static constexpr isa registers_for(isa target, int extent) {
    if (extent <= 4) return of_four(target);
    return extent <= lanes(narrower(target)) ? narrower(target) : target;
  }
  /// Loads, operations, and lanes that are assembled one by one, if loop v runs along registers of so many lanes.
  constexpr double cost(int v, int lanes, bool along_fold) const {
    double r = 0;
    for (int n = 0; n < e_.body.node_count; ++n) {
      expression::node const& x = e_.body.nodes[n];
      if (x.kind == node_kind::number) continue;
      double points = 1;
      std::uint32_t const loops = made.depends[n] | made.folds_over[n];
      for (int i = 0; i < made.count; ++i)
        if (loops >> i & 1) points *= made.loops[i].extent;
      if (v < 0 || !(loops >> v & 1)) {
        r += points;
        continue;
      }
      if (along_fold && (made.folds_over[n] >> v & 1)) r += 10 * points / made.loops[v].extent;  // across the lanes
      bool const assembled = is_leaf(x.kind) && x.kind == node_kind::read &&
                             !(made.place[x.operand[0]].is_exact && made.place[x.operand[0]].of[v] == 1);
      int const extent = made.loops[v].extent, registers = (extent + lanes - 1) / lanes;
      r += assembled ? 1.5 * points : points / extent * registers;
    }
    return r;
  }

  /// Copies an operand with the lanes in front, and has the loop over them along registers, if that takes less than
  /// what has been chosen.
  constexpr void consider_turning(isa target) {
    nest_turn const t = turn_of_nest(e_, target);
    if (!t.turns()) return;
    int const v = made.result_loops - 1, last = e_.result.rank - 1;
    if (v < 1 || made.loops[v].axis != last || made.loops[v].extent != e_.extent[last]) return;
    double points = 1;
    for (int i = 0; i < made.count; ++i) points *= made.loops[i].extent;
    double const copied = double(e_.operands[e_.body.accesses[0].operand].count()) + 2 * points / lanes(target);
    if (copied >= cost(made.vector_loop, lanes(made.target), made.along_fold)) return;
    nest_index place;
    expression::element_access const& x = e_.body.accesses[0];
    for (int d = 0; d < x.rank; ++d) {
      nest_index const& s = made.index[0][d];
      if (!s.is_exact) return;
      int const step = int(d == t.dimension ? 1 : e_.operands[x.operand].stride(d) * t.lanes);
      int const steps = d < t.dimension ? step / e_.operands[x.operand].of[t.dimension] : step;
      place.constant += steps * s.constant;
      for (int i = 0; i < made.count; ++i) place.of[i] += steps * s.of[i];
    }
    made.place[0] = place;
    made.turn = t;
    made.vector_loop = v;
    made.along_fold = false;
    made.target = target;
    made.registers = t.lanes / lanes(target);
  }

  constexpr void choose_vector(isa target) {
    made.target = target;
    if (lanes(target) == 1) return;
    double least = cost(-1, 1, false);
    for (int i = 0; i < made.count; ++i) {
      bool const in_fold = i >= made.result_loops;
      int const extent = made.loops[i].extent;
      isa const registers = registers_for(target, extent);
      if (extent == 1 || (in_fold ? extent < lanes(registers) : made.loops[i].result != 1)) continue;
      double const c = cost(i, lanes(registers), in_fold);
      if (c >= least) continue;
      least = c;
      made.vector_loop = i;
      made.along_fold = in_fold;
      made.target = registers;
    }
    if (made.vector_loop < 0) {
      made.target = isa::scalar;
      return;
    }
    int const width = lanes(made.target), whole = (made.loops[made.vector_loop].extent + width - 1) / width;
    bool folds = made.along_fold;
    for (int n = 0; n < e_.body.node_count; ++n) folds |= made.folds_over[n] != 0 && made.varies(n);
    int const most = most_registers(), passes = (whole + most - 1) / most;
    made.registers = !folds ? 1 : made.along_fold ? (whole < 4 ? whole : 4) : (whole + passes - 1) / passes;
  }
  constexpr bool reads_in_place() const {
    bool r = true;
    for (int a = 0; a < e_.body.access_count; ++a) {
      nest_index const& place = made.place[a];
      r = r && !e_.body.accesses[a].padded && place.is_exact && place.of[made.vector_loop] <= 1;
    }
    return r;
  }
  /// Several sums hide the latency of additions, and share what does not vary. Many read memory from end to end where
  /// sums are over the rows of something that is read in place: those of 144 channels over pixels take two thirds of
  /// the time with 9 registers that they take with 4. If that is in a cache, what does not vary should be in registers,
  /// too.
  constexpr int most_registers() const {
    if (some_) return 4;
    int varying = 0;
    for (int n = 0; n < e_.body.node_count; ++n) varying += made.varies(n);
    return !reads_in_place() || varying > 24 ? 4 : lanes(made.target) >= 16 ? 12 : 8;
  }

  /// Folds in registers along the result share a pass.
  constexpr void find_pair() {
    expression::fold_pair const p(e_);
    if (p.axis < 0 || made.vector_loop < 0 || made.along_fold) return;
    for (int i = 0; i < made.result_loops; ++i)
      if (made.loops[i].axis == p.axis && i != made.vector_loop) made.pair_loop = i;
    for (int i = 0; i < 2; ++i) made.pair[i] = p.fold[i];
  }

  /// Sums of more channels than fit in registers, over the rows of what is read in place: memory is read nearly from
  /// end to end if a few rows are added to all of them before the next rows (576 channels: 1.4 to 1.7 times as fast).
  /// The order of additions stays. Other long sums are sums of sums, so that errors of rounding grow with the root of
  /// the length of blocks, and of their number.
  constexpr void find_block() {
    constexpr int few = 4, many = 128;
    int const fold = made.pair_loop >= 0 ? made.pair[0] : e_.root(), other = made.pair_loop >= 0 ? made.pair[1] : fold;
    auto const is_sum = [&](int node) { return e_.body.nodes[node].kind == node_kind::sum; };
    if (!is_fold(e_.body.nodes[fold].kind) || made.vector_loop < 0 || made.along_fold || !reads_in_place()) return;
    std::uint32_t const over = made.folds_over[fold];
    if (over == 0 || (over & (over - 1)) != 0) return;
    int const loop = __builtin_ctz(over), extent = made.loops[loop].extent;
    made.blocks_in_result =
        !some_ && extent > few && made.loops[made.vector_loop].extent > made.registers * lanes(made.target);
    if (!made.blocks_in_result && (extent < 2 * many || !(is_sum(fold) || is_sum(other)))) return;
    made.block_loop = loop;
    made.block = made.blocks_in_result ? few : many;
    if (made.blocks_in_result) made.registers = 4;
  }

  /// Where windows are summed that have points outside, as in col2im, half of the iterations may be outside.
  constexpr void find_limits() {
    for (auto& access : made.limited_by)
      for (std::int8_t& loop : access) loop = -1;
    if (made.block_loop >= 0 || made.pair_loop >= 0) return;
    for (int n = 0; n < e_.body.node_count; ++n) {
      expression::node const& x = e_.body.nodes[n];
      if (!is_fold(x.kind) || made.folds_lanes(n) || e_.body.nodes[x.operand[0]].kind != node_kind::read) continue;
      int const a = e_.body.nodes[x.operand[0]].operand[0];
      expression::element_access const& read = e_.body.accesses[a];
      if (read.operand < 0 || !read.padded || double(read.pad()) != expression::identity_of(x.kind) || reads(a) > 1)
        continue;
      for (int d = 0; d < read.rank; ++d) limit(a, d, made.folds_over[n]);
    }
  }
  constexpr int reads(int access) const {
    int r = 0;
    for (int n = 0; n < e_.body.node_count; ++n)
      r += is_leaf(e_.body.nodes[n].kind) && e_.body.nodes[n].kind != node_kind::number &&
           e_.body.nodes[n].operand[0] == access;
    return r;
  }
  constexpr void limit(int a, int d, std::uint32_t over) {
    nest_index const& i = made.index[a][d];
    if (!i.is_exact || (made.vector_loop >= 0 && i.of[made.vector_loop] != 0)) return;
    expression::range const all = range_of(i, made.loops);
    if (all.lower >= 0 && all.upper < e_.operands[e_.body.accesses[a].operand].of[d]) return;
    int innermost = made.count;
    while (innermost-- > 0)
      if (i.of[innermost] != 0) break;
    if (innermost >= 0 && (over >> innermost & 1)) made.limited_by[a][d] = std::int8_t(innermost);
  }

  constexpr void find_lane_steps() {
    if (made.vector_loop < 0) return;
    for (int a = 0; a < e_.body.access_count; ++a) {
      expression::element_access const& x = e_.body.accesses[a];
      made.is_regular[a] = x.operand >= 0;
      for (int d = 0; d < x.rank && x.operand >= 0; ++d) {
        bool const is_value = x.at[d].node >= 0, exact = made.index[a][d].is_exact;
        std::uint32_t const loops = is_value ? made.depends[x.at[d].node] : loops_of(axes_of(e_.body, x.at[d].sum));
        if (!exact && (loops >> made.vector_loop & 1)) made.is_regular[a] = false;
        if (made.turn.turns()) made.lane_step[a] = 1;
        else if (exact)
          made.lane_step[a] += int(e_.operands[x.operand].stride(d)) * made.index[a][d].of[made.vector_loop];
      }
    }
  }

  constexpr void find_streams() {
    if (made.vector_loop < 0 || made.turn.turns()) return;
    for (int a = 0; a < e_.body.access_count; ++a) {
      if (!made.is_regular[a] || made.lane_step[a] != 1 || !made.place[a].is_exact) continue;
      int const operand = e_.body.accesses[a].operand;
      int next = made.count;  // the innermost of the other loops
      while (next-- > 0)
        if (next != made.vector_loop && made.place[a].of[next] != 0) break;
      made.exceeds_l3[a] = partition::exceeds_l3(4L * e_.operands[operand].count(), {});
      made.is_streamed[a] = 4L * e_.operands[operand].count() > device{}.l2_bytes && next >= 0 &&
                            made.place[a].of[next] == made.loops[made.vector_loop].extent;
    }
  }

  expression::index_expression const& e_;
  bool some_;
};

constexpr nest_layout layout_of_nest(expression::index_expression const& e, isa target, bool some = false) {
  return kernel::nest_maker(e, target, some).made;
}

/// Work items divide the range of the outermost axis. Steps of loop 0 in one of that axis, as a fraction.
struct nest_portion {
  long numerator, denominator;
  constexpr int at(int i) const { return int(i * numerator / denominator); }
};
constexpr nest_portion portion_of(nest_layout const& l, expression::index_expression const& e) {
  int const x = outermost_axis(e);
  return {x < 0 ? 1 : e.result.stride(x), l.loops[0].result > 0 ? l.loops[0].result : 1};
}

/// Ranges of that axis begin at multiples of this, or at the end.
constexpr int nest_granule(nest_layout const& l, expression::index_expression const& e) {
  nest_portion const p = portion_of(l, e);
  if (l.pair_loop == 0) return outermost_extent(e);
  long const unit = p.denominator * (l.vector_loop == 0 && !l.along_fold ? l.registers * lanes(l.target) : 1);
  return int(unit / expression::common_divisor(p.numerator, unit));
}

/// Can such a nest add up some pixels after the others? If it folds over one loop, and its registers run along another.
constexpr bool adds_pixels(nest_layout const& l, expression::index_expression const& e) {
  int const fold = l.pair_loop >= 0 ? l.pair[0] : e.root();
  std::uint32_t const over = l.folds_over[fold];
  return is_fold(e.body.nodes[fold].kind) && l.vector_loop >= 0 && !l.along_fold && !l.turn.turns() &&
         (over & (over - 1)) == 0 && over != 0;
}

/// Can it fold registers of operand k, some channels of all pixels after the others (register_sums)? If its result is
/// one fold for each channel, or a pair of them, and reads the operand nowhere else, or, if `elsewhere` is allowed, at
/// pixels that are known.
constexpr bool folds_registers(nest_layout const& l, expression::index_expression const& e, int k,
                               bool elsewhere = false) {
  bool r =
      k >= 0 && adds_pixels(l, e) && l.vector_loop + 1 == l.result_loops && l.result_loops == 1 + (l.pair_loop >= 0);
  for (int a = 0; a < e.body.access_count; ++a) {
    if (e.body.accesses[a].operand != k) continue;
    bool const is_known = elsewhere && l.place[a].is_exact && (l.pair_loop < 0 || l.place[a].of[l.pair_loop] == 0);
    r = r && (l.moves_with_folds(a) || is_known) && l.is_regular[a] && l.lane_step[a] == 1;
  }
  return r;
}

constexpr nest_layout layout_of_nest(kernel_key const& key) { return layout_of_nest(*key.described, key.target); }

}  // namespace ago::kernel
