// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutional networks, trained as PyTorch trains them.
#include <limits>

#include "compare.hpp"
#include "drawn/check.hpp"

using namespace train_test;

namespace {
constexpr huber_loss huber_of_half{.delta = .5};
}  // namespace

TEST_CASE("a convolutional network with batch norms is trained as by PyTorch's AdamW with smoothed labels") {
  static constexpr cross_entropy_loss smoothed{.smoothing = .1};
  using trainer = ago::trainer<convolutional, smoothed, adamw, training{.batch = 4}>;
  static trainer t(0);
  t.rate = .01f;
  compare(t, parameters<convolutional>, 2, pytorch::convolutional_losses, pytorch::convolutional_parameters);
}

TEST_CASE("strided, dilated and transposed convolutions and pools are trained as by PyTorch's RMSprop") {
  using trainer = ago::trainer<strided, huber_of_half, rmsprop, training{.batch = 2}>;
  static trainer t(0, {.momentum = .5f});
  t.rate = .002f;
  compare(t, parameters<strided>, 4, pytorch::strided_losses, pytorch::strided_parameters);
}

TEST_CASE("binary cross entropy is minimised as by PyTorch") {
  using trainer = ago::trainer<strided, binary_cross_entropy, sgd, training{.batch = 2}>;
  static trainer t(0);
  t.rate = .05f;
  compare(t, parameters<strided>, 5, pytorch::strided_binary_losses, pytorch::strided_binary_parameters, true);
}

TEST_CASE("weights that are packed in turn need nothing of what was in their memory") {
  static constexpr cross_entropy_loss smoothed{.smoothing = .1};
  static constexpr training how{.batch = 4};
  using step = learning::training_step<convolutional, smoothed, how>;
  using program = ago::program<step::network, untuned, with_storage(how.program, storage::trained)>;
  generator random(1);
  std::vector<float> const weights = filled(parameters<convolutional>, random);
  std::vector<std::vector<float>> in, first, second;
  for (int k = 0; k < program::inputs; ++k) {
    in.emplace_back(program::input_size(k));
    for (float& x : in.back()) x = k == step::target ? 2.f : float(random.value());
  }
  std::vector<float const*> inputs;
  for (auto const& x : in) inputs.push_back(x.data());
  inputs.push_back(weights.data());
  alignas(64) static float packed[program::packed_floats], arena[program::arena_floats];
  auto const run = [&](std::vector<std::vector<float>>& results, float before) {
    std::vector<float*> outputs;
    for (int k = 0; k < program::outputs; ++k) results.emplace_back(program::output_size(k));
    for (auto& x : results) outputs.push_back(x.data());
    for (int k = 0; k < program::steps; ++k) {
      std::ranges::fill(packed, before);
      program::pack_step(k, std::span(weights).first<program::parameter_count>(), packed);
      program::run_step(k, {packed, arena, inputs.data(), outputs.data()});
    }
  };
  run(first, 0);
  run(second, std::numeric_limits<float>::quiet_NaN());
  CHECK(std::isfinite(first[0][0]));
  CHECK(first == second);
}

namespace {
inline constexpr auto few_pixels = input{.h = 7, .w = 9, .c = 21} | pointwise{199} | batch_norm{} | relu{} |
                                   pointwise{35} | relu6{} | global_avg_pool{} | linear{.out = 150, .bias = true};
template <int Batch>
using trainer_of_few = trainer<few_pixels, mean_squared_error, sgd, training{.batch = Batch}>;
}  // namespace

TEST_CASE("products of few rows read their weights where the trainer keeps them, and pack none") {
  constexpr std::size_t weights = 35 * 199;  // of the second layer; parameters of channels are packed
  CHECK(trainer_of_few<3>::program::packed_floats <= 256);
  CHECK(trainer_of_few<9>::program::packed_floats >= weights);
  CHECK(drawn::check<trainer_of_few<3>>() == 0);
}
