// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All allocations of the program go through these operators; the model must not cause any.
#include "networks.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

namespace {
long allocations = 0;
}

// Not inlined: g++ would warn about malloc paired with delete.
[[gnu::noinline]] void* operator new(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n ? n : 1)) return p;
  std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  ++allocations;
  if (void* p = std::aligned_alloc(std::size_t(a), (n + std::size_t(a) - 1) / std::size_t(a) * std::size_t(a)))
    return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

using namespace model_test;

namespace {

/// Attention, shuffled channels, a table: operators with scratch, segments and copies.
inline constexpr auto transformer = input{.w = 9} | embedding{.entries = 20, .width = 24} | positions{} | [](tensor x) {
  return x + (x | layer_norm{} | linear{72} | attention{.heads = 3} | linear{24});
} | [](tensor x) {
  auto const [a, b] = chunk<2>(x);
  return concat(a, b | linear{12}) | channel_shuffle{2} | permute{0, 2, 1, 3} | resize_bilinear{3, 2};
} | softmax{};

/// The number of allocations by all that a user does with a model.
template <auto const& Net>
long allocations_of() {
  using net = model<Net>;
  auto const weights = random_weights<Net>(1);
  auto const image = random_floats(net::input_size(), 2);
  static float scores[net::output_size()];
  auto const in = std::span(image).template first<net::input_size()>();

  long const before = allocations;
  static net m{weights_span<net>(weights)};
  static typename net::workspace w;
  m(in, scores);
  m.run(w, in, scores);
  bool const accepted = m.try_run(image, scores) == status::ok;
  long const during = allocations - before;
  CHECK(accepted);
  return during;
}

}  // namespace

TEST_CASE("making and running a model never calls operator new") {
  CHECK(allocations_of<small>() == 0);
  CHECK(allocations_of<transformer>() == 0);

  long const before = allocations;
  void* const volatile proof = ::operator new(100);  // allocations are counted; clang may remove a vector's
  ::operator delete(proof);
  CHECK(allocations == before + 1);
}
