// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two steps in turns (plan/turns.hpp): while pixels of the first one's result come, a part at a time, the second one,
// a long sum over pixels, goes on as far.
#pragma once

#include <ago/kernel/fold_pipeline.hpp>
#include <ago/kernel/window_gradients.hpp>

namespace ago::kernel {

template <kernel_key K, kernel_key... Before>
using turn_of_kernel = typename kernel_of<K>::template in_parts<Before...>;

/// What computes the second step, a part at a time.
template <fused_key F>
struct turn_of_step {
  static constexpr auto type() {
    if constexpr (F.parts == 1) return std::type_identity<turn_of_kernel<F.part[0]>>{};
    else return std::type_identity<turn_of_kernel<F.part[1], F.part[0]>>{};
  }
};

/// Computes both, in one pass or else as each of them would be alone: bit by bit.
template <fused_key First, fused_key Second>
struct steps_in_turns {
  /// `first`: data of the parts of the first step, which those of the second one follow.
  static void run(step_data const& first, kernel_memory const& m) {
    if constexpr (gradients_of_steps<First, Second>.are_there()) {
      window_gradients_kernel<First, Second>::run(first, m);
    } else {
      using turn = typename decltype(turn_of_step<Second>::type())::type;
      turn other((&first)[First.parts], m);
      fold_pipeline<First>::run_with(first, m, [&](long done, long of) { other.until(done, of); });
    }
  }
};

/// Can they? The first one's pixels must come in order, and the second one's sum go on where it was.
template <fused_key First, fused_key Second>
constexpr bool can_take_turns() {
  if constexpr (First.tiling != tiling::fold || First.parts != 2 || Second.parts > 2 ||
                Second.part[Second.parts - 1].what != structure::contraction) {
    return false;
  } else if constexpr (gradients_of_steps<First, Second>.are_there()) {
    return true;
  } else {
    return fold_pipeline<First>::comes_in_parts && kernel_of<Second.part[Second.parts - 1]>::is_resumable;
  }
}

}  // namespace ago::kernel
