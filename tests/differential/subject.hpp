// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network for the comparison: its graph and, for each instruction set, the compiled program and model.
#pragma once

#include <ago/ago.hpp>
#include <ago/runtime/any_program.hpp>

#include <reference/graph_view.hpp>
#include <support/instruction_sets.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "functions.hpp"

namespace differential {

/// A kernel compiled for some program.
struct compiled_kernel {
  ago::plan::fused_key const* key;
  ago::plan::kernel_function function;
};

/// A type-erased program and its model. Objects are created in memory that the test provides.
struct compiled : ago::runtime::any_program {
  ago::isa target;
  ago::options how;
  std::span<ago::plan::tuned_schedule const> schedules;
  std::vector<compiled_kernel> step_kernels;
  int kernels, steps, tuned_steps;  ///< fewer steps than kernels: some run in pipelines
  int tilings[5];                   ///< pipelines of each tiling
  bool reordered;                   ///< some sum is not added in the order of the other variants
  int winograds;                    ///< convolutions by Winograd, which add other terms with other errors
  int attentions;                   ///< computed in one pass, with sums in another order
  int copies, pieces;               ///< steps that move data; steps that compute some channels of a value
  reference::graph_view optimized;
  std::size_t model_bytes, workspace_bytes;
  void* (*make_model)(void* where, float const* weights);
  void (*destroy_model)(void* model);
  void (*run_model)(void* model, float const* const* inputs, float* const* outputs);
  /// In the caller's workspace, which is filled with `filling` beforehand.
  void (*run_model_in)(void const* model, void* workspace, float filling, float const* const* inputs,
                       float* const* outputs);
};

/// Increments of the extents of a network's inputs: images, rows and columns.
struct larger {
  int n = 0, h = 0, w = 0;
  constexpr ago::input operator()(ago::input in) const {
    in.n += n;
    if (in.h > 1) in.h += h;
    if (in.w > 1) in.w += w;
    return in;
  }
};

struct subject {
  int number;
  reference::graph_view graph;
  std::vector<compiled> variants;
  /// Records the network with other inputs; null: its inputs cannot be changed.
  void (*record)(ago::tracing::recorder& to, larger const& by) = nullptr;
};

template <class Model, auto const& Schedules = ago::untuned>
class erased {
  using program = typename Model::program;

 public:
  static compiled make(ago::options const& how) {
    return {ago::runtime::any_program::of<program>(),
            Model::target,
            how,
            all_schedules(),
            step_kernels(std::make_integer_sequence<int, program::steps>()),
            program::first_part(program::steps),
            program::steps,
            program::tuned_steps,
            {pipelines(ago::tiling::none), pipelines(ago::tiling::rows), pipelines(ago::tiling::channels),
             pipelines(ago::tiling::channels_rows), pipelines(ago::tiling::pixels)},
            reordered(),
            count([](auto const& p) { return ago::kernel::winograd_tile(p.key.what) > 0; }),
            count([](auto const& p) { return p.key.what == ago::plan::structure::attention; }),
            count([](auto const& p) { return p.key.what == ago::plan::structure::copy || p.nodes.gathers; }),
            count([](auto const& p) { return !p.nodes.is_whole() && !p.nodes.gathers; }),
            program::graph,
            sizeof(Model),
            sizeof(workspace),
            [](void* where, float const* weights) -> void* {
              return new (where) Model(std::span<float const, Model::parameter_count>(weights, Model::parameter_count));
            },
            [](void* model) { static_cast<Model*>(model)->~Model(); },
            [](void* model, float const* const* in, float* const* out) {
              with_spans(in, out, [&](auto... spans) { (*static_cast<Model*>(model))(spans...); });
            },
            [](void const* model, void* where, float filling, float const* const* in, float* const* out) {
              auto* const w = new (where) workspace;
              for (float& x : w->arena) x = filling;
              with_spans(in, out, [&](auto... spans) { static_cast<Model const*>(model)->run(*w, spans...); });
            }};
  }

 private:
  using workspace = typename Model::workspace;

  static std::span<ago::plan::tuned_schedule const> all_schedules() {
    if constexpr (requires { Schedules.entries; }) return Schedules.entries;
    else return {};
  }
  template <int K>
  static constexpr ago::plan::fused_key key = [] {
    ago::plan::fused_key f{program::first_part(K + 1) - program::first_part(K)};
    f.tiling = program::tiling_of(K).how;
    for (int i = 0; i < f.parts; ++i) f.part[i] = program::plan.steps[program::first_part(K) + i].key;
    return f;
  }();
  template <int... K>
  static std::vector<compiled_kernel> step_kernels(std::integer_sequence<int, K...>) {
    return {{&key<K>, ago::kernel::kernel_for<key<K>>()}...};
  }

  static constexpr int pipelines(ago::tiling how) {
    int n = 0;
    for (int k = 0; k < Model::program::steps; ++k) n += Model::program::tiling_of(k).how == how;
    return n;
  }
  static constexpr int count(auto which) {
    int n = 0;
    for (auto const& p : Model::program::plan.steps) n += which(p);
    return n;
  }
  /// A part that accumulates chunks of K cannot add two steps of K at a time, and schedules may request either.
  /// Winograd computes other sums. The order of a sum depends on the number of channels: merged operators, which not
  /// all policies have, have more.
  static constexpr bool reordered() {
    for (ago::ir::node const& n : Model::program::graph.nodes)
      if (n.is_merged()) return true;
    for (auto const& p : Model::program::plan.steps)
      if (ago::kernel::winograd_tile(p.key.what) > 0) return true;
    for (auto const& p : Model::program::plan.steps)
      if (p.key.what == ago::plan::structure::pointwise &&
          p.key.paired != ago::partition::pays_in_pairs(p.key.target, p.data.in.c, p.data.out.c,
                                                        ago::kernel::zeros_in_pairs(p.key, p.data)))
        return true;
    return false;
  }

  template <class F>
  static void with_spans(float const* const* in, float* const* out, F f) {
    [&]<std::size_t... I, std::size_t... O>(std::index_sequence<I...>, std::index_sequence<O...>) {
      f(std::span<float const, Model::input_size(I)>(in[I], Model::input_size(I))...,
        std::span<float, Model::output_size(O)>(out[O], Model::output_size(O))...);
    }(std::make_index_sequence<std::size_t(Model::program::inputs)>(),
      std::make_index_sequence<std::size_t(Model::program::outputs)>());
  }
};

/// For every fourth network a narrower instruction set than this translation unit's, for the others `native_isa`.
constexpr ago::isa second_target(int number) {
  constexpr ago::isa all[] = {ago::isa::scalar, ago::isa::avx2, ago::isa::scalar, ago::isa::sse42};
  ago::isa const wish = all[number / 4 % 4];
  return number % 4 == 0 && test::is_tested(wish) ? wish : ago::native_isa;
}

/// Random schedules for every step of a network, like those that a tuner may find.
template <auto const& Net, int Number, ago::isa Target>
class random_schedules {
  using program = ago::program<Net, ago::untuned, Target>;
  static constexpr auto const& plan = program::plan;
  static constexpr int kernels = program::first_part(program::steps);

  struct found {
    ago::plan::tuned_schedule entries[kernels];
    int count = 0;
  };
  static constexpr found sorted = [] {
    found all{};
    unsigned state = unsigned(Number) + 1;
    auto const any = [&](unsigned from, unsigned to) {
      state = state * 1664525 + 1013904223;
      return int(from + (state >> 16) % (to - from + 1));
    };
    for (auto const& step : plan.steps) {
      int at = 0;
      while (at < all.count && all.entries[at].signature < step.signature) ++at;
      if (at < all.count && all.entries[at].signature == step.signature) continue;
      for (int k = all.count++; k > at; --k) all.entries[k] = all.entries[k - 1];
      using enum ago::tiling;
      constexpr ago::tiling tilings[] = {none,          rows,          channels,      channels, channels,
                                         channels_rows, channels_rows, channels_rows, pixels};
      ago::schedule s{any(1, 6), any(1, 3), any(0, 4), any(0, 3) ? 1 : -1};
      s.tiling = tilings[any(0, 8)];
      s.tile = any(0, 24);
      constexpr int convolutions[] = {0, -1, 1, 2, 4};
      s.winograd = convolutions[(state >> 8) % 5];
      if ((state >> 11) % 8 == 0) s.packing = 1 + int((state >> 14) % 2);
      all.entries[at] = {step.signature, s};
    }
    return all;
  }();

 public:
  static constexpr auto table = [] {
    ago::schedule_table<std::size_t(sorted.count)> t{};
    for (int k = 0; k < sorted.count; ++k) t.entries[k] = sorted.entries[k];
    return t;
  }();
};

/// The options for which the random schedules are. Narrow vectors divide few channels into many chunks.
template <int Number>
inline constexpr ago::isa tuned_target = Number % 8 == 6 ? ago::isa::scalar : ago::native_isa;

template <auto const& Net>
constexpr bool has_attention() {
  for (ago::ir::node const& n : ago::lowering::lowered<Net>::value.nodes)
    if (n.kind == ago::op::attention_values) return true;
  return false;
}

/// Caches so small that small networks have pipelines by default.
inline constexpr ago::device small_caches{1 << 10, 8 << 10};

template <auto const& Net, ago::options How, auto const& Schedules = ago::untuned>
compiled make_compiled() {
  return erased<ago::model<Net, Schedules, How>, Schedules>::make(How);
}

template <auto const& Net, int Number>
subject make_subject(void (*record)(ago::tracing::recorder&, larger const&) = nullptr) {
  using ago::options;
  subject s{Number, ago::lowering::lowered<Net>::value, {}, record};
  s.variants.push_back(make_compiled<Net, options{}>());
  if constexpr (second_target(Number) != ago::native_isa)
    s.variants.push_back(make_compiled<Net, options{.target = second_target(Number)}>());
  if constexpr (Number % 4 == 2) {
    constexpr ago::isa target = tuned_target<Number>;
    s.variants.push_back(make_compiled<Net, options{.target = target}, random_schedules<Net, Number, target>::table>());
  }
  if constexpr (Number % 8 == 3) s.variants.push_back(make_compiled<Net, options{.device = small_caches}>());
  if constexpr (Number >= 10'000 || (Number % 2 == 1 && has_attention<Net>()))
    s.variants.push_back(make_compiled<Net, options{.policy = ago::policy::ago_ni}>());
  return s;
}

}  // namespace differential
