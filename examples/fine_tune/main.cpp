// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Teaches an imported MobileNet new classes, from ten pictures of each, in less than 4 MB of static memory.
//
// usage: fine_tune [--seed N] [--epochs N] [--svg FILE]
#include "../train_digits/training_loop.hpp"
#include "network.hpp"
#include "pictures.hpp"

#include <optional>
#include <string_view>

// Linked in by ago_import() in CMakeLists.txt.
extern "C" {
extern unsigned char const mobilenet_weights[], mobilenet_weights_end[];
}

namespace {

using namespace fine_tune;

constexpr int pictures_of_each_class = 10;
constexpr int moved = side / 32;  ///< how far pictures are moved at random, in any direction
constexpr int epochs = 30;        ///< this and the rate were chosen by other pictures of the training set

// [memory]
/// All memory for networks and pictures, but for the constant weights.
struct memory {
  memory(std::span<float const, ago::model<trunk>::parameter_count> weights, std::uint64_t seed)
      : seeing{weights}, learning{seed, ago::sgd{.momentum = .9f}} {}

  ago::model<trunk> seeing;
  ago::trainer<tail, ago::cross_entropy, ago::sgd> learning;
  std::optional<ago::model<tail>> deciding;  ///< with what has been learned
  std::array<float, ago::model<trunk>::output_size()> features;
  picture image;
};
static_assert(sizeof(memory) < 4 << 20);
// [/memory]

std::span<float const> imported_weights() {
  digits::reader file{"mobilenet.weights", mobilenet_weights, mobilenet_weights_end};
  auto const weights = file.take<float>(std::size_t(ago::parameter_count<mobilenet::network>));
  file.finish();
  return weights;
}

/// Starts with the imported weights, and with a classifier from random ones.
memory& start(std::uint64_t seed) {
  auto const weights = imported_weights();
  auto const of_trunk = weights.first<ago::model<trunk>::parameter_count>();
  static memory m{of_trunk, seed};
  // The block's weights follow those of the trunk, as parameters are in order of declaration.
  auto const of_block = weights.subspan(of_trunk.size());
  for (ago::parameter const& p : ago::parameters<tail>)
    if (p.name && std::string_view(p.name) == "block")
      std::copy_n(of_block.data() + p.offset, p.count(), m.learning.parameters().data() + p.offset);
  return m;
}

/// Of the held-out pictures, in per cent.
double accuracy(memory& m) {
  m.deciding.emplace(m.learning.parameters());
  auto const set = digits::held_out();
  int right = 0;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    enlarge(set.images[i], 0, 0, m.image);
    m.seeing(m.image, m.features);
    digits::scores result;
    (*m.deciding)(m.features, result);
    right += std::ranges::max_element(result) - result.begin() == set.labels[i];
  }
  return 100. * right / double(set.images.size());
}

}  // namespace

int main(int count, char** words) {
  auto const given = digits::parse({.program = "fine_tune", .epochs = epochs}, count, words);
  memory& m = start(given.seed);
  std::printf("static memory: %d KB, of which %d the trunk, %d the trainer, %d what it has learned, %d a picture\n",
              int(sizeof m >> 10), int(sizeof m.seeing >> 10), int(sizeof m.learning >> 10),
              int(sizeof m.deciding >> 10), int(sizeof m.image >> 10));
  std::printf("before: accuracy %.2f %%\n", accuracy(m));

  auto const set = digits::load_training_set();
  auto const examples = first_of_each_class(set, pictures_of_each_class);
  digits::shuffled order{examples.size(), given.seed};
  ago::philox const random{given.seed + 2};
  // [step]
  digits::train(m.learning, given, int(examples.size()), 1e-3f, [&] {
    std::size_t const example = examples[order.next()];
    auto const bits = random(std::uint64_t(m.learning.updates()), 0);
    enlarge(set.images[example], within(moved, bits.of[0]), within(moved, bits.of[1]), m.image);
    m.seeing(m.image, m.features);
    return m.learning.step(m.features, std::array{int(set.labels[example])});
  });
  // [/step]
  std::printf("after: accuracy %.2f %%\n", accuracy(m));
}
