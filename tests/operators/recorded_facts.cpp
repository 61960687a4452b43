// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about every operator, as they were recorded when each was written by hand, before operators were described.
#include "samples.hpp"

#include <ago/partition/apollo.hpp>
#include <ago/partition/pattern.hpp>
#include <ago/passes/value_bounds.hpp>
#include <ago/plan/account.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using ago::op;
using ago::ir::op_class;
using ago::partition::apollo_type;
using ago::partition::pattern;

constexpr float inf = std::numeric_limits<float>::infinity();

struct record {
  op kind;
  op_class of;
  pattern tvm;
  apollo_type type;
  std::vector<int> loops;
  long multiply_adds, weight_bytes;
  bool moves;
  int constants;
  ago::passes::value_bounds bounds;  ///< of operands from 0 to 3
};

using c = op_class;
using t = pattern;
using a = apollo_type;
// clang-format off
record const recorded[] = {
  {op::input, c::input, t::opaque, a::opaque, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::conv2d, c::convolution, t::fusable_out, a::conv, {2, 10, 3, 7, 4, 3, 2}, 10080, 960, false, 1, {-inf, inf}},
  {op::depthwise, c::convolution, t::fusable_out, a::conv, {2, 4, 3, 7, 3, 2}, 1008, 96, false, 1, {-inf, inf}},
  {op::pointwise, c::matrix_product, t::fusable_out, a::conv, {2, 7, 6, 8, 4, 1, 1}, 2688, 112, false, 1, {-inf, inf}},
  {op::linear, c::matrix_product, t::fusable_out, a::matmul, {96, 7, 4}, 2688, 112, false, 1, {-inf, inf}},
  {op::matmul, c::value_product, t::fusable_out, a::matmul, {2, 6, 8, 5, 4}, 1920, 0, false, 0, {-inf, inf}},
  {op::attention_scores, c::value_product, t::fusable_out, a::matmul,
   {8, 2, 12, 12, 2}, 4608, 0, false, 0, {-inf, inf}},
  {op::attention_values, c::value_product, t::fusable_out, a::matmul,
   {8, 2, 12, 12, 2}, 4608, 0, false, 0, {-inf, inf}},
  {op::bias, c::parametric, t::broadcast, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 1, {-inf, inf}},
  {op::batch_norm, c::parametric, t::broadcast, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 2, {-inf, inf}},
  {op::positions, c::parametric, t::broadcast, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 1, {-inf, inf}},
  {op::scale, c::parametric, t::broadcast, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 1, {-inf, inf}},
  {op::prelu, c::parametric, t::broadcast, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 1, {-inf, inf}},
  {op::relu, c::arithmetic, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::relu6, c::arithmetic, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::leaky_relu, c::arithmetic, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::clip, c::arithmetic, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {0, 0.5}},
  {op::hard_sigmoid, c::arithmetic, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {0, 1}},
  {op::hard_swish, c::arithmetic, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::sigmoid, c::function, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {0, inf}},
  {op::silu, c::function, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::gelu, c::function, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::gelu_tanh, c::function, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::tanh, c::function, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::map, c::function, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::add, c::commutative, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {0, inf}},
  {op::mul, c::commutative, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {0, inf}},
  {op::sub, c::ordered, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::div, c::ordered, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::maximum, c::commutative, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::minimum, c::commutative, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::less, c::ordered, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::power, c::power, t::broadcast, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::max_pool, c::window_pool, t::fusable_out, a::opaque, {2, 4, 3, 7, 3, 2}, 0, 0, false, 0, {0, 3}},
  {op::avg_pool, c::window_pool, t::fusable_out, a::opaque, {2, 4, 3, 7, 3, 2}, 0, 0, false, 0, {0, inf}},
  {op::global_max_pool, c::global_pool, t::fusable_out, a::reduction, {2, 4, 1, 1, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::global_avg_pool, c::global_pool, t::fusable_out, a::reduction, {2, 4, 1, 1, 6, 8}, 0, 0, false, 0, {0, inf}},
  {op::softmax, c::norm, t::opaque, a::reduction, {2, 4, 6, 8}, 0, 0, false, 0, {0, inf}},
  {op::layer_norm, c::norm, t::opaque, a::reduction, {2, 4, 6, 8}, 0, 0, false, 2, {-inf, inf}},
  {op::reduce_sum, c::reduction, t::reduction, a::reduction, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::reduce_mean, c::reduction, t::reduction, a::reduction, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::reduce_max, c::reduction, t::reduction, a::reduction, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::reduce_min, c::reduction, t::reduction, a::reduction, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::reduce_product, c::reduction, t::reduction, a::reduction, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::arg_max, c::reduction, t::reduction, a::reduction, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::concat, c::concat, t::injective, a::opaque, {2, 8, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::slice, c::movement, t::injective, a::opaque, {2, 4, 6, 3}, 0, 0, true, 0, {0, 3}},
  {op::channel_shuffle, c::movement, t::injective, a::opaque, {2, 4, 6, 8}, 0, 0, true, 0, {0, 3}},
  {op::reshape, c::movement, t::injective, a::opaque, {2, 4, 1, 48}, 0, 0, true, 0, {0, 3}},
  {op::permute, c::movement, t::injective, a::transpose, {2, 4, 8, 6}, 0, 0, true, 0, {0, 3}},
  {op::unfold, c::movement, t::injective, a::opaque, {8, 4, 1, 12}, 0, 0, true, 0, {0, 3}},
  {op::fold, c::movement, t::injective, a::opaque, {2, 4, 6, 8}, 0, 0, true, 0, {0, 3}},
  {op::pad, c::pad, t::injective, a::opaque, {2, 4, 8, 9}, 0, 0, false, 0, {0, 3}},
  {op::expand, c::expand, t::injective, a::broadcast, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::resize_nearest, c::resize, t::injective, a::opaque, {2, 4, 12, 16}, 0, 0, false, 0, {0, 3}},
  {op::resize_bilinear, c::resize, t::injective, a::opaque, {2, 4, 12, 16}, 0, 0, false, 0, {-inf, inf}},
  {op::embedding, c::embedding, t::injective, a::opaque, {2, 4, 6, 8}, 0, 0, false, 1, {-inf, inf}},
  {op::constant, c::constant, t::opaque, a::opaque, {2, 4, 6, 8}, 0, 0, false, 0, {-inf, inf}},
  {op::identity, c::identity, t::elementwise, a::elementwise, {2, 4, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::from_nchw, c::layout, t::injective, a::transpose, {2, 4, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::to_nchw, c::layout, t::injective, a::transpose, {2, 4, 6, 8}, 0, 0, false, 0, {0, 3}},
  {op::contraction, c::contraction, t::fusable_out, a::matmul, {2, 6, 8, 8, 4}, 3072, 0, false, 0, {-inf, inf}},
  {op::nest, c::nest, t::opaque, a::opaque, {2, 6, 8, 4}, 0, 0, false, 0, {-inf, inf}},
};
// clang-format on

}  // namespace

TEST_CASE("every operator has the facts that were recorded") {
  REQUIRE(std::size(recorded) == ago::ir::operator_count);
  for (record const& r : recorded) {
    CAPTURE(std::string(name_of(r.kind)));
    auto const g = operators_test::sample_of(r.kind);
    int const v = g.node_count - 1;
    CHECK(class_of(r.kind) == r.of);
    CHECK(ago::partition::pattern_of(r.kind) == r.tvm);
    CHECK(ago::partition::apollo_type_of(g, v) == r.type);
    auto const loops = ago::partition::loops_of(g, v);
    CHECK(std::vector<int>(loops.extent, loops.extent + loops.count) == r.loops);
    CHECK(ago::partition::multiply_adds(g, v) == r.multiply_adds);
    CHECK(ago::partition::weight_bytes(g, v) == r.weight_bytes);
    CHECK(moves_elements(r.kind) == r.moves);
    CHECK(ago::partition::constants_of(r.kind) == r.constants);
    ago::passes::value_bounds const known[] = {{0, 3}, {0, 3}, {}, {}};
    CHECK(ago::passes::bounds_of(g, known, v) == r.bounds);
  }
}
