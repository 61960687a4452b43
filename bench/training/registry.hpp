// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of networks that are trained: one line for each batch size.
#pragma once

#include "../account.hpp"
#include "../buffer.hpp"
#include "ablation.hpp"
#include "prepare_step.hpp"

#include <ago/training.hpp>

#include <utility>

// The batch of large networks.
#ifndef AGO_TRAINING_BATCH
#define AGO_TRAINING_BATCH 1
#endif

namespace bench {

/// The network with so many times the images, for inference.
template <auto const& Net, int Batch>
inline constexpr auto for_batch = [] {
  auto r = Net;
  for (ago::input& in : r.inputs) in.n *= Batch;
  return r;
}();

/// A training_run with inference.
template <class Trainer, class Model>
training_run prepare_training() {
  training_run r = prepare_step<Trainer>();
  auto const input = std::make_shared<std::vector<float>>(r.input);
  auto const net = make_displaced<Model>(0, std::span(r.parameters).template first<Model::parameter_count>());
  auto const output = std::make_shared<buffer>(Model::output_size());
  r.infer = [net, input, output] {
    (*net)(std::span(*input).template first<Model::input_size()>(),
           output->span().template first<Model::output_size()>());
  };
  return r;
}

/// The kernels of a training step one by one, each with the packing of its weights, on values of no meaning.
template <class Program>
std::function<void(int)> prepare_training_steps() {
  struct values {
    buffer parameters{Program::parameter_count}, packed{Program::packed_floats}, arena{Program::arena_floats};
    std::vector<buffer> all;
    std::vector<float const*> inputs;
    std::vector<float*> outputs;
  };
  auto const v = std::make_shared<values>();
  for (std::size_t i = 0; i < Program::parameter_count; ++i) v->parameters.data()[i] = uniform(1, i, -.1f, .1f);
  for (int k = 0; k < Program::graph.input_count; ++k)
    v->inputs.push_back(v->all.emplace_back(std::size_t(Program::graph.nodes[k].out.count())).data());
  v->inputs.push_back(v->parameters.data());
  for (int k = 0; k < Program::graph.output_count; ++k)
    v->outputs.push_back(
        v->all.emplace_back(std::size_t(Program::graph.nodes[Program::graph.outputs[k]].out.count())).data());
  return [v](int step) {
    Program::pack_step(step, v->parameters.span().template first<Program::parameter_count>(),
                       v->packed.span().template first<Program::packed_floats>());
    Program::run_step(step, {v->packed.data(), v->arena.data(), v->inputs.data(), v->outputs.data()});
  };
}

/// Enters a network, the name of which training/peer.py knows, too. `agreement`: see training_subject. `Bytes`: the
/// limit of its arena; 0: none. In training_ablations, the network enters without one choice after the other instead.
template <auto const& Net, int Batch, auto const& Loss = ago::cross_entropy, std::size_t Bytes = 0>
bool add_training(std::string name, [[maybe_unused]] double agreement = 1e-3) {
#if AGO_TRAINING_ABLATIONS
  if constexpr (Batch == 1 || Batch == 32) return add_ablations<Net, Batch, Loss>(std::move(name));
  else return false;
#else
  using trainer = ago::trainer<Net, Loss, ago::sgd, ago::training{.batch = Batch, .activation_bytes = Bytes}>;
  using model = ago::model<for_batch<Net, Batch>>;
  using program = typename trainer::program;
  training_subject s{std::move(name),
                     Batch,
                     agreement,
                     trainer::arena_bytes,
                     trainer::parameter_count * sizeof(float),
                     prepare_training<trainer, model>,
                     {},
                     prepare_training_steps<program>};
  for (int i = 0; i < program::steps; ++i) {
    int const first = program::first_part(i), last = program::first_part(i + 1);
    s.accounts.push_back(account_for(program::graph, std::span(program::plan.steps).subspan(first, last - first),
                                     program::tiling_of(i).how));
  }
  training_subjects().push_back(std::move(s));
  return true;
#endif
}

}  // namespace bench
