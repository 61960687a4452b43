// A generated network as the comparison sees it: its graph, and for each instruction set the compiled program and model.
#pragma once

#include <ago/ago.hpp>

#include <reference/graph_view.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "functions.hpp"

namespace differential {

/// One program and its model, types erased. Objects are made in memory that the test provides.
struct compiled {
  ago::isa target;
  reference::graph_view optimized;
  std::size_t parameter_count, packed_floats, arena_floats, model_bytes, workspace_bytes;
  void (*pack)(float const* weights, float* packed);
  void (*run)(ago::run_memory const&);
  void* (*make_model)(void* where, float const* weights);
  void (*destroy_model)(void* model);
  void (*run_model)(void* model, float const* const* inputs, float* const* outputs);
  /// In the caller's workspace, which is filled with `filling` beforehand.
  void (*run_model_in)(void const* model, void* workspace, float filling, float const* const* inputs,
                       float* const* outputs);
};

struct subject {
  int number;
  reference::graph_view graph;
  std::vector<compiled> variants;
};

template <class Model>
class erased {
 public:
  static compiled make() {
    using program = typename Model::program;
    return {Model::target,
            program::graph,
            program::parameter_count,
            program::packed_floats,
            program::arena_floats,
            sizeof(Model),
            sizeof(workspace),
            [](float const* weights, float* packed) {
              program::pack(std::span<float const, program::parameter_count>(weights, program::parameter_count),
                            std::span<float, program::packed_floats>(packed, program::packed_floats));
            },
            [](ago::run_memory const& m) { program::run(m); },
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

  template <class F>
  static void with_spans(float const* const* in, float* const* out, F f) {
    [&]<std::size_t... I, std::size_t... O>(std::index_sequence<I...>, std::index_sequence<O...>) {
      f(std::span<float const, Model::input_size(I)>(in[I], Model::input_size(I))...,
        std::span<float, Model::output_size(O)>(out[O], Model::output_size(O))...);
    }(std::make_index_sequence<std::size_t(Model::program::inputs)>(),
      std::make_index_sequence<std::size_t(Model::program::outputs)>());
  }
};

/// A narrower instruction set than this translation unit's for every fourth network, `native_isa` for the others.
constexpr ago::isa second_target(int number) {
  constexpr ago::isa all[] = {ago::isa::scalar, ago::isa::avx2, ago::isa::scalar, ago::isa::sse42};
  ago::isa const wish = all[number / 4 % 4];
  return number % 4 == 0 && available(wish) ? wish : ago::native_isa;
}

template <auto const& Net, int Number>
subject make_subject() {
  subject s{Number, ago::lowered<Net>::value, {}};
  s.variants.push_back(erased<ago::model<Net>>::make());
  if constexpr (second_target(Number) != ago::native_isa)
    s.variants.push_back(erased<ago::model<Net, ago::untuned, second_target(Number)>>::make());
  return s;
}

}  // namespace differential
