// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which steps are computed in turns. tests/learning/folds.cpp computes such.
#include <ago/plan/turns.hpp>

#include <ago/ago.hpp>
#include <ago/expressions.hpp>
#include <doctest/doctest.h>

namespace {

using namespace ago;

constexpr auto mirrored = expression::compute("mirrored", [](expression::operand x, expression::weights parameter) {
  expression::operand const weight = parameter("weight");
  expression::var n, h, w, c, k{4};
  return expression::result(n, h, w, k) = expression::sum(c)(x(n, h, 119 - w, c) * weight(k, c));
});
constexpr auto correlated = expression::compute("correlated", [](expression::operand a, expression::operand b) {
  expression::var n, i{1}, j, k, h, w;
  return expression::result(n, i, j, k) = expression::sum(h, w)(a(n, h, w, j) * b(n, h + i, w, k));
});

/// What the second product reads beside x: it again, a value of one pixel, or the result of the first one.
enum class beside { nothing, mean, result };

/// Two products of x, of which the second one multiplies so often with each element.
template <beside Beside, int Often = 1>
struct network {
  static constexpr auto layers = [](tensor x) {
    tensor const y = x | mirrored, mean = x | global_avg_pool{};
    tensor const other = Beside == beside::nothing ? x : Beside == beside::result ? y : (mean | relu{}) + x;
    tensor const wide = Often == 1 ? other : concat(other, other, other, other, other, other, other, other);
    return concat(y | global_avg_pool{}, correlated(wide, x) | global_avg_pool{});
  };
  static constexpr auto net = input{.h = 30, .w = 120, .c = 4} | layers;
  using formed = runtime::formed<net, options{}>;
  static constexpr auto const& g = formed::graph;

  /// The steps of the first product, of another one that stands for a fold, and of the second one; as two groups.
  struct program {
    std::remove_cvref_t<decltype(formed::parts)> steps{};
    plan::fusion_list<std::remove_cvref_t<decltype(formed::parts)>::capacity> groups{};

    constexpr program() {
      int products[2]{}, pool = -1, count = 0;
      for (int i = 0; i < formed::parts.count; ++i) {
        int const main = formed::parts.step[i].main;
        if (main >= 0 && g.nodes[main].kind == op::contraction) products[count++ & 1] = i;
        if (main >= 0 && g.nodes[main].kind == op::global_avg_pool) pool = i;
      }
      if (count != 2) ir::no_case_for_this_value();
      bool const in_order = g.operand(formed::parts.step[products[0]].main, 0) < g.input_count &&
                            formed::parts.step[products[0]].inputs[0] < 0;
      for (int const i : {products[!in_order], pool, products[in_order]})
        steps.step[steps.count++] = formed::parts.step[i];
      groups.count = 2;
      groups.parts[0] = 2;
      groups.first[1] = 2;
      groups.parts[1] = 1;
      groups.tiles[0].how = partition::tiling::fold;
    }
    constexpr bool pays(device const& on) const {
      options o;
      o.device = on;
      plan::turn_finder const found(g, steps, groups, formed::views, formed::layouts, o);
      return found.pays(0);
    }
  };
};

/// L3 has no room for the 57,600 bytes of x.
constexpr device small{.l2_bytes = 4 << 10}, large{};

}  // namespace

TEST_CASE("two products of one value that L3 has no room for are computed in turns") {
  constexpr network<beside::nothing>::program both;
  static_assert(both.pays(small));
  static_assert(!both.pays(large));
  constexpr auto separate = [] {
    network<beside::nothing>::program r;
    r.groups.tiles[0].how = partition::tiling::none;
    return r;
  }();
  static_assert(!separate.pays(small));
}

TEST_CASE("a product that reads what the other one writes waits for it") {
  static_assert(network<beside::mean>::program{}.pays(small));
  static_assert(!network<beside::result>::program{}.pays(small));
}

TEST_CASE("a product that multiplies often with each element reads alone, as prefetching hides that") {
  static_assert(!network<beside::nothing, 8>::program{}.pays(small));
}
