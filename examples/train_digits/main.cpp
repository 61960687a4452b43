// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a network on handwritten digits, from random parameters, in static memory.
//
// usage: train_digits [--seed N] [--epochs N] [--svg FILE]
#include "../digits/network.hpp"
#include "plot.hpp"
#include "training_set.hpp"

#include <ago/training.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int batch = 32;
inline constexpr ago::cross_entropy_loss smoothed{.smoothing = .05};
using trainer = ago::trainer<digits::network, smoothed, ago::adamw, ago::training{.batch = batch}>;
static_assert(trainer::bytes < 4 << 20);

struct arguments {
  std::uint64_t seed = 0;
  int epochs = 30;
  char const* svg = nullptr;
};

[[noreturn]] void refuse(char const* what, char const* argument) {
  std::fprintf(stderr, "train_digits: %s: %s\nusage: train_digits [--seed N] [--epochs N] [--svg FILE]\n", argument,
               what);
  std::exit(2);
}
arguments parse(int count, char** words) {
  arguments r;
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) refuse("needs a value", words[i]);
    char* end = words[i + 1];
    if (std::strcmp(words[i], "--svg") == 0) r.svg = words[i + 1], end += std::strlen(end);
    else if (std::strcmp(words[i], "--seed") == 0) r.seed = std::strtoull(words[i + 1], &end, 10);
    else if (std::strcmp(words[i], "--epochs") == 0) r.epochs = int(std::strtol(words[i + 1], &end, 10));
    else refuse("is not an option", words[i]);
    if (*end != 0 || end == words[i + 1]) refuse("is not a number", words[i + 1]);
  }
  if (r.epochs < 1 || r.epochs > 10000) refuse("must be from 1 to 10000", "--epochs");
  return r;
}

}  // namespace

int main(int count, char** words) {
  arguments const given = parse(count, words);
  digits::training_set const set = digits::load_training_set();
  int const per_epoch = int(set.images.size()) / batch, steps = given.epochs * per_epoch;

  static trainer training{given.seed};
  std::printf("%d parameters, batches of %d: %d KB in all, of which %d are activations; %d kernels a step, %s\n",
              int(trainer::parameter_count), batch, int(trainer::bytes >> 10), int(trainer::arena_bytes >> 10),
              trainer::steps, ago::name_of(trainer::target));

  digits::batches<batch> batches{set, given.seed};
  std::vector<float> losses;
  auto const start = std::chrono::steady_clock::now();
  for (int step = 0; step < steps; ++step) {
    batches.next();
    training.rate = digits::rate_at(step, steps, 4e-3f);
    losses.push_back(training.step(batches.images, batches.labels));
    if (training.status() != ago::training_status::ok) {
      std::fprintf(stderr, "train_digits: step %d: %s\n", step, ago::name_of(training.status()));
      return 1;
    }
    if ((step + 1) % per_epoch == 0) {
      int const done = 40 * (step + 1) / steps;
      std::string const bar = std::string(std::size_t(done), '#') + std::string(std::size_t(40 - done), ' ');
      std::fprintf(stderr, "\r[%s] epoch %d, loss %.4f", bar.c_str(), step / per_epoch + 1, double(losses.back()));
    }
  }
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "\n");

  plot::print(losses, "loss");
  if (given.svg && !plot::write_svg(given.svg, losses, "training loss")) refuse("cannot be written", given.svg);
  std::printf("%d steps in %.2f s, %.0f microseconds each\n", steps, seconds, 1e6 * seconds / steps);
  std::printf("accuracy %.2f %%\n", digits::accuracy<digits::network>(training.parameters()));
}
