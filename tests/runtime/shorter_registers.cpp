// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with shorter registers than those of the model's instruction set.
#include "networks.hpp"

#include <doctest/doctest.h>

#include <cstring>

using namespace ago;

namespace {

/// Its batch norm cannot be folded, so that the epilogue has parameters for each channel.
constexpr auto stem = conv2d{.out = 24, .kernel = 3, .stride = 2, .pad = 1} | relu{} | batch_norm{};
constexpr auto alone = input{.h = 21, .w = 23, .c = 3} | stem;
constexpr auto piped = input{.h = 61, .w = 63, .c = 3} | stem | max_pool{.kernel = 3, .stride = 2, .pad = 1};
constexpr options with_shorter{.device = zen_4};

template <auto const& Net>
void check_equal() {
  if constexpr (native_isa == isa::avx512) {
    CHECK(ago::program<Net>::plan.steps[0].key.target == isa::avx512);
    CHECK(ago::program<Net, untuned, with_shorter>::plan.steps[0].key.target == isa::avx2);
  }
  auto const x = model_test::random_floats(ago::program<Net>::input_size(0), 5);
  auto const weights = model_test::random_floats(ago::program<Net>::parameter_count, 6, .1f, 1.1f);
  auto const usual = model_test::result_of<Net>(x, weights);
  auto const shorter = model_test::result_of<Net, with_shorter>(x, weights);
  CHECK(std::memcmp(usual.data(), shorter.data(), usual.size() * sizeof(float)) == 0);
}

}  // namespace

TEST_CASE("a convolution in shorter registers has the same bits, alone and in a pipeline") {
  check_equal<alone>();
  check_equal<piped>();
}
