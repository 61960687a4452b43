// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of index expressions that are no matrix products.
#pragma once

#include <ago/expression/pixel_fold.hpp>
#include <ago/kernel/nest/program.hpp>
#include <ago/plan/step.hpp>

namespace ago::kernel {

template <kernel_key K>
inline constexpr nest_layout layout_of_loops = layout_of_nest(K);
template <kernel_key K>
inline constexpr nest_layout layout_of_some_pixels = layout_of_nest(*K.described, K.target, true);

/// The operands that are read at all pixels that a nest folds, as bits.
template <kernel_key K>
inline constexpr unsigned operands_folded = [] {
  unsigned r = 0;
  for (int i = 0; i < K.described->operand_count; ++i)
    r |= unsigned(expression::pixel_fold(*K.described).is_over(i, pipeline_rows)) << i;
  return r;
}();

/// The expression K.described, whose operands are values. Work items are ranges of the first axis of the result with
/// more than one iteration, which begin at multiples of nest_granule().
template <kernel_key K>
struct nest_kernel {
  static_assert(K.after.count() == 0, "a nest takes no epilogue");
  static constexpr bool reads_row_by_row = true;
  /// A copy: clang (at least 14 and 19) misreads a part of a template argument at run time.
  static constexpr expression::index_expression const* described = K.described;

  static void run(step_data const& s, kernel_memory const& m) {
    constexpr nest_layout const& L = layout_of_loops<K>;
    constexpr nest_portion portion = portion_of(L, *described);
    index_range const part = granules_in(s.portion, nest_granule(L, *described), outermost_extent(*described));
    using program = nest_program<*K.described, layout_of_loops<K>>;
    program::run(operands(s, m).of, mutable_address(s.destination, m), m.arena + s.scratch, portion.at(part.first),
                 portion.at(part.last));
  }

  /// Can it fold some pixels after the others (partition::tiling::fold)?
  static constexpr bool adds_pixels = kernel::adds_pixels(layout_of_some_pixels<K>, *K.described);
  /// Does it fold pixels of operand K.made_operand that are in scratch?
  static constexpr bool reads_scratch = K.made_operand >= 0;
  /// Folds pixels first ... last - 1, after those before. `made`: where that operand would begin; otherwise, it is not
  /// read.
  static void pixels(step_data const& s, kernel_memory const& m, long first, long last, float const* made)
    requires(adds_pixels)
  {
    constexpr nest_layout const& L = layout_of_some_pixels<K>;
    using program = nest_program<*K.described, layout_of_some_pixels<K>, true, K.made_operand>;
    program::run(operands(s, m).of, mutable_address(s.destination, m), nullptr, 0, L.loops[0].extent, int(first),
                 int(last), made);
  }

  /// Are several operands read at all pixels?
  static constexpr bool reads_several = (operands_folded<K> & (operands_folded<K> - 1)) != 0;
  /// The first of these that is not `one`.
  static float const* operand_beside(float const* one, step_data const& s, kernel_memory const& m) {
    float const* r = one;
    for (int i = described->operand_count; i-- > 0;)
      if (float const* const x = operand_of_expression(s, m, i, -1); (operands_folded<K> >> i & 1) && x != one) r = x;
    return r;
  }

 private:
  struct operand_list {
    float const* of[expression::index_expression::max_operands]{};
  };
  static operand_list operands(step_data const& s, kernel_memory const& m) {
    operand_list r;
    for (int i = 0; i < described->operand_count; ++i) r.of[i] = operand_of_expression(s, m, i, -1);
    return r;
  }
};

}  // namespace ago::kernel
