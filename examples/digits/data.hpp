// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Typed views of the embedded files; README.md describes their layout.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

// Defined by ago_embed() in CMakeLists.txt: aligned to 64 bytes, *_end is one past the last byte.
extern "C" {
extern unsigned char const digits_weights[], digits_weights_end[];
extern unsigned char const digits_images[], digits_images_end[];
extern unsigned char const digits_expected[], digits_expected_end[];
}

namespace digits {

static_assert(std::endian::native == std::endian::little, "the embedded files are little-endian");

using image = std::array<unsigned char, 8 * 8>;  ///< pixels 0..16 row by row
using scores = std::array<float, 10>;            ///< one logit per class

/// Takes typed spans off the front of an embedded file; a file of the wrong length ends the program.
class reader {
 public:
  reader(char const* name, unsigned char const* begin, unsigned char const* end) : file{name}, rest{begin, end} {}

  template <class T>
  std::span<T const> take(std::size_t count) {
    if (count > rest.size() / sizeof(T)) fail("is too short");
    if (reinterpret_cast<std::uintptr_t>(rest.data()) % alignof(T) != 0) fail("is not aligned");
    // The assembler defines these bytes; no C++ object of another type lives there.
    auto const* first = reinterpret_cast<T const*>(rest.data());
    rest = rest.subspan(count * sizeof(T));
    return {first, count};
  }

  std::size_t take_count() {
    auto const n = take<std::int32_t>(1)[0];
    if (n < 0) fail("has a negative count");
    return static_cast<std::size_t>(n);
  }

  void finish() const {
    if (!rest.empty()) fail("is too long");
  }

  [[noreturn]] void fail(char const* what) const {
    std::fprintf(stderr, "%s %s; run its training script and build again\n", file, what);
    std::exit(2);
  }

 private:
  char const* file;
  std::span<unsigned char const> rest;
};

/// The parameters of a network with `N` parameters.
template <std::size_t N>
std::span<float const, N> weights(reader file = {"digits.weights", digits_weights, digits_weights_end}) {
  auto const all = file.take<float>(N);
  file.finish();
  return all.template first<N>();
}

/// The held-out images and PyTorch's answers; all four spans have the same length.
struct held_out_set {
  std::span<image const> images;
  std::span<unsigned char const> labels;
  std::span<scores const> expected_logits;
  std::span<unsigned char const> expected_classes;
};

/// With the answers of a network, this one or another.
inline held_out_set held_out(reader expected = {"digits.expected", digits_expected, digits_expected_end}) {
  reader images{"digits.images", digits_images, digits_images_end};
  auto const count = images.take_count();
  if (expected.take_count() != count) expected.fail("has another count than digits.images");
  held_out_set const set{.images = images.take<image>(count),
                         .labels = images.take<unsigned char>(count),
                         .expected_logits = expected.take<scores>(count),
                         .expected_classes = expected.take<unsigned char>(count)};
  images.finish();
  expected.finish();
  return set;
}

}  // namespace digits
