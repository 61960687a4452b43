// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs that train on the handwritten digits share: the training set, its batches, and the accuracy.
#pragma once

#include "../digits/data.hpp"

#include <ago/training.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

// Defined by ago_embed() in CMakeLists.txt.
extern "C" {
extern unsigned char const digits_train[], digits_train_end[];
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

inline void copy(image const& from, float* to) {
  for (unsigned char const pixel : from) *to++ = float(pixel) / 16;
}

/// The numbers from 0 to `count` - 1 in a random order, another one in each round, the same on every machine.
class shuffled {
 public:
  shuffled(std::size_t count, std::uint64_t seed) : random_{seed + 1}, order_(count) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  std::size_t next() {
    if (at_ == 0) shuffle();
    std::size_t const r = order_[at_];
    if (++at_ == order_.size()) at_ = 0;
    return r;
  }
  /// Leaves out the rest of the round.
  void restart() { at_ = 0; }
  std::size_t left() const { return order_.size() - at_; }

 private:
  void shuffle() {
    for (std::size_t i = order_.size(); i-- > 1;) std::swap(order_[i], order_[random_(i, round_).of[0] % (i + 1)]);
    ++round_;
  }

  ago::philox random_;
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  std::uint64_t round_ = 0;
};

/// Batches in a random order. What does not fill a batch at the end of an epoch is left out.
template <int Size>
class batches {
 public:
  std::array<float, std::size_t(Size) * 8 * 8> images;
  std::array<int, std::size_t(Size)> labels;

  batches(training_set const& s, std::uint64_t seed) : set_{s}, order_(s.images.size(), seed) {}

  void next() {
    if (order_.left() < std::size_t(Size)) order_.restart();
    for (std::size_t i = 0; i < std::size_t(Size); ++i) {
      std::size_t const example = order_.next();
      copy(set_.images[example], &images[i * 64]);
      labels[i] = set_.labels[example];
    }
  }

 private:
  training_set set_;
  shuffled order_;
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
