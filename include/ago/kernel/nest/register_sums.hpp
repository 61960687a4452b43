// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A nest that folds pixels of a value whose elements are in registers, one after the other: these need not be read
// again, nor wait in a cache.
#pragma once

#include <ago/kernel/nest/kernel.hpp>
#include <ago/simd/register_run.hpp>

#include <algorithm>

namespace ago::kernel {

/// The folds of the nest K, if folds_registers.
template <kernel_key K>
class register_sums : nest_program<*K.described, layout_of_some_pixels<K>, true, K.folded_operand, true> {
  static constexpr nest_layout const& L = layout_of_some_pixels<K>;
  /// A copy: clang (at least 14 and 19) misreads a part of a template argument at run time.
  static constexpr expression::index_expression const* described = K.described;
  static constexpr expression::index_expression const& E = *described;
  using program = nest_program<*K.described, layout_of_some_pixels<K>, true, K.folded_operand, true>;
  using typename program::loops;
  using typename program::nodes;
  static constexpr isa I = program::I;
  static constexpr int count = L.pair_loop >= 0 ? 2 : 1;
  static constexpr loops lanes_bit = loops(1) << L.vector_loop, pixel_bit = loops(1) << program::pixel_loop;
  template <int i>
  static constexpr int fold = L.pair_loop >= 0 ? L.pair[i] : program::root;
  static constexpr nodes below = L.below[fold<0>] | L.below[fold<count - 1>];

 public:
  /// Before the first of all pixels: sets the result to folds of nothing.
  static void clear(step_data const& s, kernel_memory const& m) {
    float* const to = mutable_address(s.destination, m);
    long const channels = L.loops[L.vector_loop].extent;
    std::fill_n(to, channels, fold_start<E.body.nodes[fold<0>].kind>);
    if constexpr (count > 1)
      std::fill_n(to + program::second_of_pair, channels, fold_start<E.body.nodes[fold<1>].kind>);
  }

  /// Begins with the channels from one on, VALID of a register.
  template <int VALID>
  AGO_INLINE void begin(step_data const& s, kernel_memory const& m, int channel) {
    AGO_UNROLL(8)
    for (int i = 0; i < E.operand_count; ++i) state_.operand[i] = operand_of_expression(s, m, i, -1);
    state_.result = mutable_address(s.destination, m);
    state_.at[L.vector_loop] = channel;
    program::template compute<below, 0, 0, 1, 1>(state_);
    program::template compute<below, 0, lanes_bit, 1, VALID>(state_);
    sum_[0] = vec<I>(fold_start<E.body.nodes[fold<0>].kind>);
    if constexpr (count > 1) sum_[1] = vec<I>(fold_start<E.body.nodes[fold<1>].kind>);
  }
  /// Folds the register of a pixel.
  template <int VALID>
  AGO_INLINE void add(int pixel, vec<I> made) {
    state_.made_now = made;
    state_.at[program::pixel_loop] = pixel;
    program::template compute<below, lanes_bit, pixel_bit, 1, VALID>(state_);
    sum_[0] = program::template add<fold<0>>(state_, sum_[0], 0);
    if constexpr (count > 1) sum_[1] = program::template add<fold<1>>(state_, sum_[1], 0);
  }
  /// Adds what has been folded to the result.
  template <int VALID>
  AGO_INLINE void end() {
    float* const to = state_.result + state_.at[L.vector_loop];
    add_to<0, VALID>(to);
    if constexpr (count > 1) add_to<1, VALID>(to + program::second_of_pair);
  }

 private:
  template <int i, int VALID>
  AGO_INLINE void add_to(float* to) const {
    store_lanes(folded<E.body.nodes[fold<i>].kind>(load_lanes<I>(to, VALID), sum_[i]), to, VALID);
  }

  typename program::state state_;
  vec<I> sum_[count];
};

}  // namespace ago::kernel
