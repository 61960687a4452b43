// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop nest of an index expression: its loops, what each node depends on, and which loop runs along registers.
#pragma once

#include <ago/expression/digits.hpp>
#include <ago/kernel/nest/turn_schedule.hpp>

#include <cstdint>

namespace ago::kernel {

/// A loop over a digit of an axis, or over neighbouring digits at once.
struct nest_loop {
  int axis{}, extent{1};
  long weight{1};  ///< what one step adds to the axis
  long result{};   ///< and to the place in the result
  bool operator==(nest_loop const&) const = default;
};

/// An index, or the place of an element, as a function of the loops.
struct nest_index {
  static constexpr int max_loops = expression::digit_sum::max_digits;
  bool is_exact{true};  ///< false: it has a quotient that loops do not resolve, or is a value
  int constant{};
  int of[max_loops]{};
};

/// The smallest and the largest value.
constexpr expression::range range_of(nest_index const& s, nest_loop const* loops) {
  expression::range r{s.constant, s.constant};
  for (int i = 0; i < nest_index::max_loops; ++i) (s.of[i] > 0 ? r.upper : r.lower) += s.of[i] * (loops[i].extent - 1L);
  return r;
}

/// Loops 0 ... result_loops - 1 are those of the result, the outermost first; the others belong to folds.
struct nest_layout {
  static constexpr int max_loops = nest_index::max_loops, max_nodes = 40, max_accesses = 12;

  nest_loop loops[max_loops]{};
  int count{}, result_loops{};
  nest_index index[max_accesses][expression::max_rank]{};  ///< of each dimension
  nest_index place[max_accesses]{};
  std::uint32_t depends[max_nodes]{};     ///< on loops, as bits
  std::uint64_t below[max_nodes]{};       ///< the nodes that a node needs
  std::uint32_t folds_over[max_nodes]{};  ///< the loops of a fold, as bits
  int vector_loop{-1};                    ///< along registers; -1: none
  bool along_fold{};                      ///< it belongs to folds, whose sums are then spread over the lanes
  isa target{};                           ///< of the registers: they may be shorter than the machine's
  int registers{1};                       ///< that are computed together
  nest_turn turn{};                       ///< of the operand of access 0; the loop along registers is the outermost
  int pair_loop{-1};                      ///< of the result, whose iterations are two folds in one pass; -1: none
  int pair[2]{};                          ///< these folds
  /// Of a fold at the root: it is one of folds of so many of its iterations each; -1: it is not.
  int block_loop{-1};
  int block{1};
  /// Is a block folded into all of the result before the next one? Otherwise some registers go through all blocks.
  bool blocks_in_result{};

  /// The loop of a fold that leaves out the iterations at which this dimension of an access would read the padding,
  /// which adds nothing; -1: none.
  std::int8_t limited_by[max_accesses][expression::max_rank]{};
  /// Of an access: are the elements in the lanes `lane_step` apart?
  bool is_regular[max_accesses]{};
  int lane_step[max_accesses]{};
  /// Is an operand that L2 has no room for read from end to end, in runs of the loop along registers?
  bool is_streamed[max_accesses]{};
  bool exceeds_l3[max_accesses]{};  ///< likewise L3

  /// Does an access read other elements as folds go on?
  constexpr bool moves_with_folds(int access) const {
    bool r = false;
    for (int d = result_loops; d < count; ++d) r = r || place[access].of[d] != 0;
    return r;
  }
  constexpr bool varies(int node) const { return vector_loop >= 0 && (depends[node] >> vector_loop & 1); }
  /// Are lanes summed up?
  constexpr bool folds_lanes(int node) const {
    return along_fold && vector_loop >= 0 && (folds_over[node] >> vector_loop & 1);
  }
};

}  // namespace ago::kernel
