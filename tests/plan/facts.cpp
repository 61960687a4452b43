// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables about operators, structures, instruction sets and policies are complete, and refuse values that are no
// enumerators. A value after the last enumerator stands for one that is added to the enumeration only.
#include <ago/expression/notation.hpp>
#include <ago/ir/isa.hpp>
#include <ago/partition/atoms.hpp>
#include <ago/partition/opened.hpp>
#include <ago/passes/value_bounds.hpp>
#include <ago/plan/account.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

using namespace ago;
using namespace ago::described;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::partition;
using namespace ago::passes;
using namespace ago::plan;

namespace {

/// Whether f() is a constant expression.
template <auto F>
concept evaluates = requires { typename std::integral_constant<bool, (F(), true)>; };

constexpr op forgotten{ir::operator_count};
constexpr structure unknown_structure{27};
constexpr isa unknown_isa{8};
constexpr policy unknown_policy{policies + 1};

inline constexpr auto product = expression::compute("product", [](expression::operand a) {
  expression::var i, j, k;
  return expression::result(i, j) = expression::sum(k)(a(i, k) * a(j, k));
})(expression::extents(4, 4));

template <op Kind>
constexpr graph<2, 1> with(shape const& out = {1, 2, 2, 4}) {
  graph<2, 1> g{};
  g.nodes[0].out = {1, 2, 2, 4};
  g.nodes[1] = node{.kind = Kind, .out = out, .input_count = 1};
  if (Kind == op::contraction || Kind == op::nest) g.nodes[1].described = &product.expressions[0];
  g.node_count = 2;
  g.edge_count = g.input_count = g.output_count = 1;
  g.outputs[0] = 1;
  return g;
}

/// Everything that depends on the kind of an operator.
template <op Kind>
constexpr void check_operator(auto const& check) {
  check.template operator()<[] { return class_of(Kind); }>();
  check.template operator()<[] { return *name_of(Kind); }>();
  check.template operator()<[] { return is_complex(Kind); }>();
  check.template operator()<[] { return has_weights(Kind); }>();
  check.template operator()<[] { return is_matrix_product(Kind); }>();
  check.template operator()<[] { return is_unary(Kind); }>();
  check.template operator()<[] { return is_parametric(Kind); }>();
  check.template operator()<[] { return is_binary(Kind); }>();
  check.template operator()<[] { return commutes(Kind); }>();
  check.template operator()<[] { return is_elementwise(Kind); }>();
  check.template operator()<[] { return is_lengthy(Kind); }>();
  check.template operator()<[] { return takes_epilogue(Kind); }>();
  check.template operator()<[] { return is_expression(Kind); }>();
  check.template operator()<[] { return pools_windows(Kind); }>();
  check.template operator()<[] { return is_reduction(Kind); }>();
  check.template operator()<[] { return moves_elements(Kind); }>();
  check.template operator()<[] { return is_pool(Kind); }>();
  check.template operator()<[] { return pattern_of(Kind); }>();
  check.template operator()<[] { return partition::apollo_type_of(with<Kind>(), 1); }>();
  check.template operator()<[] { return constants_of(Kind); }>();
  check.template operator()<[] { return partition::followers_after(Kind); }>();
  check.template operator()<[] { return loops_of(with<Kind>(), 1).count; }>();
  check.template operator()<[] { return weight_of(with<Kind>(), 1); }>();
  check.template operator()<[] { return multiply_adds(with<Kind>(), 1); }>();
  check.template operator()<[] { return packed_floats(stage{.kind = Kind}, isa::avx2, {}); }>();
  check.template operator()<[] {
    value_bounds const known[2]{};
    return passes::bounds_of(with<Kind>(), known, 1).lower;
  }>();
}

constexpr auto is_answered = []<auto F>() { static_assert(evaluates<F>); };
constexpr auto is_refused = []<auto F>() { static_assert(!evaluates<F>); };

}  // namespace

TEST_CASE("an operator that was added to the enumeration only is refused everywhere") {
  check_operator<forgotten>(is_refused);
  check_operator<op(255)>(is_refused);
  static_assert(!evaluates<[] { return structure_of(forgotten); }>);
  static_assert(!evaluates<[] { return fan_in(with<op::relu>(), 1); }>);
}

TEST_CASE("every operator is known everywhere") {
  []<int... K>(std::integer_sequence<int, K...>) {
    (check_operator<op(K)>(is_answered), ...);
  }(std::make_integer_sequence<int, ir::operator_count>{});
}

TEST_CASE("inputs and constants need no step; every other operator has a structure, whose weights are known") {
  int structures = 0;
  for (int k = 0; k < ir::operator_count; ++k) {
    op const kind{std::uint8_t(k)};
    if (kind == op::input || kind == op::constant) continue;
    CHECK(name_of(structure_of(kind)) != std::string_view());
    ++structures;
  }
  CHECK(structures == ir::operator_count - 2);
  static_assert(!evaluates<[] { return structure_of(op::input); }>);
  static_assert(!evaluates<[] { return packed_floats(kernel_key{.what = unknown_structure}, step_data{}); }>);
  static_assert(!evaluates<[] { return *name_of(unknown_structure); }>);
  static_assert(
      !evaluates<[] { return layout_of_attention(structure::copy, step_data{}, step_details{}, isa::avx2).rows; }>);
}

TEST_CASE("unknown instruction sets, policies and splits are refused") {
  static_assert(!evaluates<[] { return lanes(unknown_isa); }> && evaluates<[] { return lanes(isa::emulated512); }>);
  static_assert(!evaluates<[] { return vector_registers(unknown_isa); }>);
  static_assert(!evaluates<[] { return available(unknown_isa); }>);
  static_assert(!evaluates<[] { return product_tile(unknown_isa).pixels; }>);
  static_assert(!evaluates<[] { return *name_of(unknown_policy); }>);
  static_assert(!evaluates<[] { return partition_by(unknown_policy, with<op::relu>()).subgraphs.count; }>);
  static_assert(evaluates<[] { return partition_by(policy::apollo, with<op::relu>()).subgraphs.count; }>);
}

TEST_CASE("tables notice missing and surplus enumerators") {
  static_assert(ir::has_enumerators<op, ir::operator_count>());
  static_assert(!ir::has_enumerators<op, ir::operator_count - 1>());
  static_assert(!ir::has_enumerators<op, ir::operator_count + 1>());
}
