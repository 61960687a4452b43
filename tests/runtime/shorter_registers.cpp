// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with shorter registers than those of the model's instruction set.
#include <ago/ago.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

using namespace ago;

namespace {

/// Its batch norm cannot be folded, so that the epilogue has parameters for each channel.
constexpr auto stem = conv2d{.out = 24, .kernel = 3, .stride = 2, .pad = 1} | relu{} | batch_norm{};
constexpr auto alone = input{.h = 21, .w = 23, .c = 3} | stem;
constexpr auto piped = input{.h = 61, .w = 63, .c = 3} | stem | max_pool{.kernel = 3, .stride = 2, .pad = 1};
constexpr options with_shorter{.device = zen_4};

template <auto const& Net, options Options>
std::vector<float> result_of() {
  using program = ago::program<Net, untuned, Options>;
  std::mt19937 engine(5);
  auto const random = [&](std::size_t count) {
    std::vector<float> v(count);
    for (float& x : v) x = .1f + float(engine() >> 8) * 0x1p-24f;
    return v;
  };
  auto const x = random(program::input_size(0)), weights = random(program::parameter_count);
  std::vector<float> y(program::output_size(0));
  auto const net = std::make_unique<model<Net, untuned, Options>>(
      std::span<float const, program::parameter_count>(weights.data(), program::parameter_count));
  (*net)(std::span<float const, program::input_size(0)>(x.data(), x.size()),
         std::span<float, program::output_size(0)>(y.data(), y.size()));
  return y;
}

template <auto const& Net>
void check_equal() {
  if constexpr (native_isa == isa::avx512) {
    CHECK(ago::program<Net>::plan.steps[0].key.target == isa::avx512);
    CHECK(ago::program<Net, untuned, with_shorter>::plan.steps[0].key.target == isa::avx2);
  }
  auto const usual = result_of<Net, options{}>(), shorter = result_of<Net, with_shorter>();
  CHECK(std::memcmp(usual.data(), shorter.data(), usual.size() * sizeof(float)) == 0);
}

}  // namespace

TEST_CASE("a convolution in shorter registers has the same bits, alone and in a pipeline") {
  check_equal<alone>();
  check_equal<piped>();
}
