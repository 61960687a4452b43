// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of one operator by expression, recorded, planned, packed and run at run time: kernels of index expressions
// are interpreted, the others are those of the library without an epilogue, which is interpreted as well.
#pragma once

#include <ago/expressions.hpp>
#include <ago/kernel/kernels.hpp>
#include <ago/network/lowering.hpp>
#include <ago/runtime/run_time_program.hpp>
#include <ago/simd/register_run.hpp>

#include <tools/inspect/graph_plan.hpp>

#include <memory>
#include <vector>

#include "interpreter.hpp"

namespace expression_test {

using traced_graph = ago::ir::graph<64, 192, 4>;

/// The stages of an epilogue on one register; as `finisher`, but they are data.
template <isa I>
vec<I> finished(vec<I> x, ago::plan::epilogue const& after, ago::plan::step_data const& s,
                ago::plan::kernel_memory const& m, int image, long pixel, int channel, int count) {
  using ago::op;
  auto const load = [&](float const* p) { return ago::simd::load_lanes<I>(p, count); };
  for (int i = 0; i < after.count(); ++i) {
    ago::plan::stage const& k = after.stages[i];
    ago::plan::stage_data const& d = m.stage(s, i);
    if (is_binary(k.kind)) {
      float const* const other =
          ago::kernel::address(d.operand, m) + long(image) * d.image_step + pixel * d.operand.pixel_stride;
      vec<I> const y = k.one_channel ? vec<I>(*other) : load(other + channel), a = k.reversed ? y : x,
                   b = k.reversed ? x : y;
      switch (k.kind) {
        case op::add: x = ago::kernel::combine<op::add>(a, b); break;
        case op::mul: x = ago::kernel::combine<op::mul>(a, b); break;
        case op::sub: x = ago::kernel::combine<op::sub>(a, b); break;
        case op::div: x = ago::kernel::combine<op::div>(a, b); break;
        case op::maximum: x = ago::kernel::combine<op::maximum>(a, b); break;
        case op::minimum: x = ago::kernel::combine<op::minimum>(a, b); break;
        case op::less: x = ago::kernel::combine<op::less>(a, b); break;
        default: throw std::logic_error("random networks lack this operator of two values");
      }
      continue;
    }
    float const* const p = d.parameters >= 0 ? m.weights + d.parameters + channel : nullptr;
    switch (k.kind) {
      case op::bias: x = x + load(p); break;
      case op::scale: x = x * load(p); break;
      case op::prelu: x = where_less(x, vec<I>(0.f), x * load(p), x); break;
      case op::positions: x = x + load(p + (pixel - image * long(s.out.h) * s.out.w) * s.out.c); break;
      case op::map: k.function->apply(I, &x, d.alpha, d.beta); break;
      case op::relu: x = ago::kernel::activate<op::relu>(x, d.alpha, d.beta, 0.f); break;
      case op::relu6: x = ago::kernel::activate<op::relu6>(x, d.alpha, d.beta, 0.f); break;
      case op::leaky_relu: x = ago::kernel::activate<op::leaky_relu>(x, d.alpha, d.beta, 0.f); break;
      case op::clip: x = ago::kernel::activate<op::clip>(x, d.alpha, d.beta, 0.f); break;
      case op::sigmoid: x = ago::kernel::activate<op::sigmoid>(x, d.alpha, d.beta, 0.f); break;
      case op::silu: x = ago::kernel::activate<op::silu>(x, d.alpha, d.beta, 0.f); break;
      case op::tanh: x = ago::kernel::activate<op::tanh>(x, d.alpha, d.beta, 0.f); break;
      default: throw std::logic_error("random networks lack this operator of one value");
    }
  }
  return x;
}

/// A kernel without epilogue; null: the catalogue lacks it.
template <isa I>
ago::plan::kernel_function catalogued(ago::plan::kernel_key const& wanted) {
  using ago::plan::kernel_key;
  using ago::plan::structure;
  kernel_key k = wanted;
  k.after = ago::plan::epilogue();
  k.partial = true;  // whole registers are a special case
  if (k.what == structure::max_pool) {
    k.tile = {};
    k.kernel_h = k.kernel_w = k.stride_h = k.stride_w = 0;  // the window is data
  }
  ago::plan::kernel_function found = nullptr;
  auto const offer = [&]<kernel_key K>() {
    if (k == K) found = ago::kernel::kernel_for<K>();
  };
  offer.template operator()<kernel_key{.what = structure::copy, .target = I, .partial = true}>();
  offer.template operator()<kernel_key{.what = structure::pad, .target = I, .partial = true}>();
  offer.template operator()<kernel_key{.what = structure::matmul, .target = I, .partial = true}>();
  offer.template operator()<kernel_key{.what = structure::matmul, .target = I, .partial = true, .transposed = true}>();
  offer.template operator()<kernel_key{.what = structure::max_pool, .target = I, .partial = true}>();
  offer.template operator()<kernel_key{.what = structure::avg_pool, .target = I, .partial = true}>();
  offer.template operator()<kernel_key{.what = structure::global_max_pool, .target = I, .partial = true}>();
  offer.template operator()<kernel_key{.what = structure::global_avg_pool, .target = I, .partial = true}>();
  using enum ago::op;
  offer.template
  operator()<kernel_key{.what = structure::reduction, .target = I, .partial = true, .reduces = reduce_sum}>();
  offer.template
  operator()<kernel_key{.what = structure::reduction, .target = I, .partial = true, .reduces = reduce_mean}>();
  offer.template
  operator()<kernel_key{.what = structure::reduction, .target = I, .partial = true, .reduces = reduce_max}>();
  offer.template
  operator()<kernel_key{.what = structure::reduction, .target = I, .partial = true, .reduces = reduce_min}>();
  offer.template
  operator()<kernel_key{.what = structure::reduction, .target = I, .partial = true, .reduces = reduce_product}>();
  return found;
}

/// The network of `o`(operands...), whose operands have the given extents. Null: it does not fit, or exceeds a limit of
/// the notation.
template <class Operation>
std::unique_ptr<traced_graph const> trace_at_run_time(Operation const& o, ago::expression::extents const (&of)[3]) {
  ago::tracing::recorder made;
  ago::tensor x[3];
  for (int i = 0; i < 3; ++i) {
    ago::shape const s = ago::recognition::shape_of(of[i]);
    x[i] = ago::lowering::record_input(made, {s.n, s.h, s.w, s.c});
  }
  made.inputs = 3;
  for (int i = 0; i < 3; ++i) x[i].axes = of[i];
  ago::tensor const y = o(x[0], x[1], x[2]);
  if (made.bad.what != ago::ir::fault::none) return nullptr;
  ago::lowering::record_outputs(made, y);
  if (made.nodes.size > traced_graph::node_capacity || made.edges.size > traced_graph::edge_capacity) return nullptr;
  auto g = std::make_unique<traced_graph>();
  ago::lowering::copy_to(*g, made);
  return g;
}

/// A kernel: interpreted, or one of the library without an epilogue, which is interpreted as well.
template <isa I>
class interpreted_kernel {
 public:
  explicit interpreted_kernel(ago::plan::fused_key const& of)
      : parts_(of.parts), key_(of.part[0]), catalogued_(catalogued<I>(key_)) {}
  explicit interpreted_kernel(ago::kernel::one_pass_key const& of) : parts_(2), key_(of.image), catalogued_(nullptr) {}

  /// What the catalogue lacks; null: nothing.
  char const* lacks() const {
    using ago::plan::structure;
    if (parts_ != 1) return "pipeline";
    bool const interpreted =
        key_.what == structure::contraction || key_.what == structure::nest || key_.what == structure::elementwise;
    return interpreted || catalogued_ ? nullptr : name_of(key_.what);
  }
  explicit operator bool() const { return !lacks(); }
  ago::plan::structure what() const { return key_.what; }

  void operator()(ago::plan::step_data const& s, ago::plan::kernel_memory const& m) const {
    if (key_.what == ago::plan::structure::elementwise) return finish(s, s.source, m);
    if (key_.after.count() == 0) return main_operator(s, m);
    std::vector<float> between(std::size_t(s.out.n * s.out.h * s.out.w) * std::size_t(s.destination.pixel_stride));
    float* const outputs[] = {m.outputs[0], between.data()};
    ago::plan::kernel_memory const with_result{{m.weights, m.arena, m.inputs, outputs}, m.tables};
    ago::plan::step_data first = s;
    first.destination = {ago::plan::place::area::output, 1, 0, s.destination.pixel_stride};
    main_operator(first, with_result);
    finish(s, first.destination, with_result);
  }

 private:
  void main_operator(ago::plan::step_data const& s, ago::plan::kernel_memory const& m) const {
    using ago::kernel::operand_of_expression;
    float* const to = ago::kernel::mutable_address(s.destination, m);
    if (key_.what == ago::plan::structure::nest) {
      float const* operands[ago::expression::index_expression::max_operands]{};
      for (int i = 0; i < key_.described->operand_count; ++i) operands[i] = operand_of_expression(s, m, i, -1);
      return interpret_nest<I>(*key_.described, operands, to);
    }
    if (key_.what == ago::plan::structure::contraction) {
      ago::kernel::contraction_layout const l = ago::kernel::layout_of_contraction(key_);
      auto const operand = [&](int i) { return operand_of_expression(s, m, i, key_.weight_operand); };
      return interpret_contraction<I>(l, *key_.described, operand(l.rows_operand), operand(l.columns_operand), to);
    }
    catalogued_(s, m);
  }
  void finish(ago::plan::step_data const& s, ago::plan::place const& from, ago::plan::kernel_memory const& m) const {
    float const* const source = ago::kernel::address(from, m);
    float* const to = ago::kernel::mutable_address(s.destination, m);
    constexpr int V = ago::ir::lanes(I);
    long const image = long(s.out.h) * s.out.w;
    for (long p = 0; p < s.out.n * image; ++p)
      for (int c = 0; c < s.out.c; c += V) {
        int const count = std::min(V, s.out.c - c);
        vec<I> const x = ago::simd::load_lanes<I>(source + p * from.pixel_stride + c, count);
        ago::simd::store_lanes(finished<I>(x, key_.after, s, m, int(p / image), p, c, count),
                               to + p * s.destination.pixel_stride + c, count);
      }
  }

  int parts_;
  ago::plan::kernel_key key_;
  ago::plan::kernel_function catalogued_;
};

/// A program for a network that is known at run time.
template <isa I>
class run_time_network : ago::runtime::run_time_program<ago::tools::graph_plan<64, 192, 4>, interpreted_kernel<I>> {
  using program = ago::runtime::run_time_program<ago::tools::graph_plan<64, 192, 4>, interpreted_kernel<I>>;
  using program::plan, program::kernels;

 public:
  explicit run_time_network(traced_graph const& whole)
      : program(ago::tools::plan_of(ago::passes::optimize(whole, how.algebra), how),
                [](auto const& key) { return interpreted_kernel<I>(key); }) {}

  /// The structure that is missing in the catalogue; null: none.
  char const* lacks() const {
    for (auto const& k : kernels())
      if (char const* const what = k.lacks()) return what;
    return nullptr;
  }
  bool has(ago::plan::structure what) const {
    for (auto const& k : kernels())
      if (k.what() == what) return true;
    return false;
  }

  std::vector<float> operator()(float const* parameters, float const* const* inputs) const {
    struct alignas(64) line {
      float of[16];
    };
    std::vector<line> memory((plan().arena_start() + plan().arena_floats()) / 16 + 1);
    float *const packed = memory[0].of, *const arena = packed + plan().arena_start();
    program::template pack<I>(parameters, packed);
    std::vector<float> result(std::size_t(plan().graph.nodes[plan().graph.outputs[0]].out.count()));
    float* outputs[] = {result.data()};
    program::run({packed, arena, inputs, outputs});
    return result;
  }

 private:
  static constexpr ago::options how{.target = I};
};

}  // namespace expression_test
