// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a network on handwritten digits, from random parameters, in static memory.
//
// usage: train_digits [--seed N] [--epochs N] [--svg FILE]
#include "../digits/data.hpp"
#include "../digits/network.hpp"
#include "plot.hpp"

#include <ago/training.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

extern "C" {
extern const unsigned char digits_train[], digits_train_end[];
}

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

/// The training set; its images are like the held-out ones.
struct training_set {
  std::span<digits::image const> images;
  std::span<unsigned char const> labels;
};
training_set load() {
  digits::reader file{"digits.train", digits_train, digits_train_end};
  auto const count = file.take_count();
  training_set const set{file.take<digits::image>(count), file.take<unsigned char>(count)};
  file.finish();
  return set;
}

/// Rises linearly in the first tenth, then falls as a cosine.
float rate_at(int step, int steps) {
  constexpr float highest = 4e-3f;
  float const warm = float(steps) / 10, at = float(step);
  if (at < warm) return highest * (at + 1) / warm;
  return highest / 2 * (1 + std::cos(3.1415927f * (at - warm) / (float(steps) - warm)));
}

/// A random order, the same on every machine.
void shuffle(std::vector<std::size_t>& order, std::uint64_t seed, int epoch) {
  ago::philox const random(seed + 1);
  for (std::size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[random(i, std::uint64_t(epoch)).of[0] % (i + 1)]);
}

void copy(digits::image const& from, float* to) {
  for (unsigned char const pixel : from) *to++ = float(pixel) / 16;
}

double accuracy(std::span<float const, trainer::parameter_count> parameters) {
  static ago::model<digits::network> net{parameters};
  auto const set = digits::held_out();
  int right = 0;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    std::array<float, 8 * 8> image;
    digits::scores scores;
    copy(set.images[i], image.data());
    net(image, scores);
    right += std::ranges::max_element(scores) - scores.begin() == set.labels[i];
  }
  return 100. * right / double(set.images.size());
}

}  // namespace

int main(int count, char** words) {
  arguments const given = parse(count, words);
  training_set const set = load();
  int const per_epoch = int(set.images.size()) / batch, steps = given.epochs * per_epoch;

  static trainer training{given.seed};
  std::printf("%d parameters, batches of %d: %d KB in all, of which %d are activations; %d kernels a step, %s\n",
              int(trainer::parameter_count), batch, int(trainer::bytes >> 10), int(trainer::arena_bytes >> 10),
              trainer::steps, ago::name_of(trainer::target));

  std::vector<std::size_t> order(set.images.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<float> losses;
  std::array<float, batch * 8 * 8> images;
  std::array<int, batch> labels;
  auto const start = std::chrono::steady_clock::now();
  for (int step = 0; step < steps; ++step) {
    int const first = step % per_epoch * batch;
    if (first == 0) shuffle(order, given.seed, step / per_epoch);
    for (int i = 0; i < batch; ++i) {
      std::size_t const example = order[std::size_t(first + i)];
      copy(set.images[example], &images[std::size_t(i) * 64]);
      labels[std::size_t(i)] = set.labels[example];
    }
    training.rate = rate_at(step, steps);
    losses.push_back(training.step(images, labels));
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
  std::printf("accuracy %.2f %%\n", accuracy(training.parameters()));
}
