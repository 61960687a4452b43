// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs that train on the handwritten digits share: the training set, its batches, and the accuracy.
#pragma once

#include "../digits/data.hpp"

#include <ago/training.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

// Defined by ago_embed() in CMakeLists.txt.
extern "C" {
extern const unsigned char digits_train[], digits_train_end[];
}

namespace digits {

/// The training set; its images are like the held-out ones.
struct training_set {
  std::span<image const> images;
  std::span<unsigned char const> labels;
};
inline training_set load_training_set() {
  reader file{"digits.train", digits_train, digits_train_end};
  auto const count = file.take_count();
  training_set const set{file.take<image>(count), file.take<unsigned char>(count)};
  file.finish();
  return set;
}

/// Rises linearly in the first tenth, then falls as a cosine.
inline float rate_at(int step, int steps, float highest) {
  float const warm = float(steps) / 10, at = float(step);
  if (at < warm) return highest * (at + 1) / warm;
  return highest / 2 * (1 + std::cos(3.1415927f * (at - warm) / (float(steps) - warm)));
}

inline void copy(image const& from, float* to) {
  for (unsigned char const pixel : from) *to++ = float(pixel) / 16;
}

/// Batches in a random order, another one in each epoch, the same on every machine. What does not fill a batch at the
/// end of an epoch is left out.
template <int Size>
class batches {
 public:
  std::array<float, std::size_t(Size) * 8 * 8> images;
  std::array<int, std::size_t(Size)> labels;

  batches(training_set const& s, std::uint64_t seed) : set_{s}, random_{seed + 1}, order_(s.images.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  void next() {
    if (first_ == 0) shuffle();
    for (std::size_t i = 0; i < std::size_t(Size); ++i) {
      std::size_t const example = order_[first_ + i];
      copy(set_.images[example], &images[i * 64]);
      labels[i] = set_.labels[example];
    }
    first_ += std::size_t(Size);
    if (first_ + std::size_t(Size) > order_.size()) first_ = 0;
  }

 private:
  void shuffle() {
    for (std::size_t i = order_.size(); i-- > 1;) std::swap(order_[i], order_[random_(i, epoch_).of[0] % (i + 1)]);
    ++epoch_;
  }

  training_set set_;
  ago::philox random_;
  std::vector<std::size_t> order_;
  std::size_t first_ = 0;
  std::uint64_t epoch_ = 0;
};

/// Of a network with these parameters, on the held-out images, in per cent.
template <auto const& Network>
double accuracy(std::span<float const, ago::model<Network>::parameter_count> parameters) {
  static ago::model<Network> net{parameters};
  auto const set = held_out();
  int right = 0;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    std::array<float, 8 * 8> pixels;
    scores result;
    copy(set.images[i], pixels.data());
    net(pixels, result);
    right += std::ranges::max_element(result) - result.begin() == set.labels[i];
  }
  return 100. * right / double(set.images.size());
}

}  // namespace digits
