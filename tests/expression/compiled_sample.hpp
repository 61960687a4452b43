// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drawn expressions, compiled for this machine and interpreted: both have the same bits, so that what is found with
// thousands of interpreted ones holds for compiled ones.
#pragma once

#include <ago/kernel/contraction/kernel.hpp>
#include <ago/kernel/nest/kernel.hpp>

#include <kernel/drawn_expression.hpp>
#include <kernel/expression_support.hpp>

#include <utility>

#include "interpreter.hpp"

namespace expression_test {

using expression_kernel_test::operands;

template <unsigned Seed>
struct sample {
  static constexpr ago::expression::definition all = Seed % 4 ? drawn::any_nest(Seed) : drawn::any_product(Seed);
  static constexpr bool fits = all.bad.what == ago::expression::fault::none;  ///< most indices stay inside
  static constexpr ago::expression::index_expression of = all.expressions[0];
  static constexpr bool is_product = fits && of.at_root().kind == ago::expression::node_kind::sum &&
                                     ago::expression::matrix_form_of(of).why_not == ago::expression::no_matrix::none;
  /// The operand that is packed ahead, or -1.
  static constexpr int weights = is_product ? int(Seed / 4 % 3) - 1 : -1;
  static constexpr ago::plan::kernel_key key{
      .what = is_product ? ago::plan::structure::contraction : ago::plan::structure::nest,
      .described = &of,
      .weight_operand = weights};
};

/// Returns whether there is such an expression.
template <unsigned Seed>
bool compiled_equals_interpreted() {
  using drawn = sample<Seed>;
  if constexpr (drawn::fits) {
    constexpr ago::isa I = ago::native_isa;
    auto const& e = drawn::of;
    CAPTURE(Seed);
    operands const x(e, Seed);
    ago::plan::planned_data s;
    s.out = expression_kernel_test::shape_of(e.result, 1);
    s.destination = {ago::plan::place::area::output, 0, 0, s.out.c};
    std::vector<float const*> inputs, all;
    for (int i = 0; i < e.operand_count; ++i) {
      all.push_back(x[i]);
      if (i == drawn::weights) continue;
      (inputs.empty() ? s.source : s.other[inputs.size() - 1]) =
          ago::plan::place{ago::plan::place::area::input, std::uint16_t(inputs.size()), 0, 1};
      inputs.push_back(x[i]);
    }
    inputs.push_back(nullptr);
    test::guarded out(std::size_t(e.result.count())), expected(out.size());
    float* outputs[] = {out.data()};
    auto const run = [&](float const* packed, float* arena) {
      ago::plan::kernel_memory const m{{packed, arena, inputs.data(), outputs}, s.tables()};
      if constexpr (drawn::is_product) ago::kernel::contraction_kernel<drawn::key>::run(s, m);
      else ago::kernel::nest_kernel<drawn::key>::run(s, m);
    };
    if constexpr (drawn::is_product) {
      constexpr ago::kernel::contraction_layout l = ago::kernel::layout_of_contraction(drawn::key);
      test::aligned packed(std::size_t(l.packed_floats() + 1)), arena(std::size_t(l.scratch_floats() + 1));
      if (drawn::weights >= 0) ago::kernel::pack_contraction<I>(l, e, x[drawn::weights], packed.data());
      run(packed.data(), arena.data());
      auto const operand = [&](int i) { return i == drawn::weights ? packed.data() : all[std::size_t(i)]; };
      interpret_contraction<I>(l, e, operand(l.rows_operand), operand(l.columns_operand), expected.data());
    } else {
      run(nullptr, nullptr);
      interpret_nest<I>(e, all.data(), expected.data());
    }
    CHECK(out.intact());
    CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
    return true;
  } else {
    return false;
  }
}

template <unsigned First, unsigned... Seeds>
void compare_compiled(std::integer_sequence<unsigned, Seeds...>) {
  int const count = (int(compiled_equals_interpreted<First + Seeds>()) + ...);
  CHECK(count > int(sizeof...(Seeds)) * 3 / 4);
}

}  // namespace expression_test
