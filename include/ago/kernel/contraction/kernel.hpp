// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of sums of products of two elements.
#pragma once

#include <ago/kernel/contraction/choice.hpp>
#include <ago/kernel/contraction/product.hpp>
#include <ago/kernel/elementwise/kernel.hpp>
#include <ago/kernel/expression_operands.hpp>

namespace ago::kernel {

template <kernel_key K>
inline constexpr contraction_layout layout_of_product = layout_of_contraction(K);

/// The sum of products K.described; its operand K.weight_operand, if there is one, is packed by pack_contraction. Work
/// items are ranges of rows, s.portion of layout.all_rows(), which begin at multiples of layout.granule().
template <kernel_key K>
struct contraction_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    compute<false>(s, m, mutable_address(s.destination, m), plain_copy<K.target>{}, nothing_meanwhile{});
  }

  /// Are pixels of the result computed in their order?
  static constexpr bool has_pixels_in_order = kernel::has_pixels_in_order(layout_of_product<K>, *K.described);
  /// The most pixels that are computed at a time, if so many are wished.
  static constexpr long pixels_at_once(long wish) { return kernel::pixels_at_once(L, *K.described, wish); }
  /// Calls written(n, result) when the first n pixels are there, after about so many pixels more. `Fetches`, `other`:
  /// see meanwhile.
  template <bool Fetches>
  static void run_with(step_data const& s, kernel_memory const& m, float* result, long pixels, float const* other,
                       auto const& written)
    requires(has_pixels_in_order)
  {
    auto const rows_written = [&](long rows, float* to) { return written(rows * of_row / s.out.c, to); };
    meanwhile<decltype(rows_written)> const beside{int(pixels * s.out.c / of_row), other, rows_written};
    compute<Fetches>(s, m, result, plain_copy<K.target>{}, beside);
  }

  /// With operand K.made_operand computed by the elementwise operators of `Before`, a few elements at a time. `first`:
  /// their data, which those of the product follow.
  template <kernel_key Before>
  static void run_after(step_data const& first, kernel_memory const& m) {
    step_data const& s = (&first)[1];
    compute<false>(s, m, mutable_address(s.destination, m), elementwise_source<source_key(Before)>(first, m),
                   nothing_meanwhile{});
  }

 private:
  static constexpr contraction_layout const& L = layout_of_product<K>;
  static constexpr long of_row = long(L.columns) * L.batches;  ///< elements

  /// What a block is made of has been prefetched already, if the product does so.
  static constexpr kernel_key source_key(kernel_key k) {
    if (L.makes == making::blocks && (L.makes_rows ? L.fetches_rows : L.fetches_columns)) k.fetches_input = false;
    return k;
  }

  template <bool Fetches>
  static void compute(step_data const& s, kernel_memory const& m, float* result, auto const& made, auto const& beside) {
    constexpr expression::index_expression const* e = K.described;
    contraction_memory const memory{operand<L.rows_operand>(s, m, made), operand<L.columns_operand>(s, m, made), result,
                                    m.arena + s.scratch};
    index_range const rows = granules_in(s.portion, L.granule(), int(L.all_rows()));
    if constexpr (K.after.count() == 0) {
      using product = contraction_product<layout_of_product<K>, K.target, form_of(K), no_epilogue, Fetches>;
      product::run(*e, memory, {}, made, rows.first, rows.last, beside);
    } else {
      using after = contraction_epilogue<K.after, K.target>;
      using product = contraction_product<layout_of_product<K>, K.target, form_of(K), after, Fetches>;
      finisher<K.after, K.target> const finish(s, m);
      product::run(*e, memory, {finish, s.out.c}, made, rows.first, rows.last, beside);
    }
  }
  template <int Operand>
  static float const* operand(step_data const& s, kernel_memory const& m, [[maybe_unused]] auto const& made) {
    if constexpr (Operand == K.made_operand) return made.begin();
    else return operand_of_expression(s, m, Operand, K.weight_operand);
  }
};

}  // namespace ago::kernel
