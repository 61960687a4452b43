// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channel-first memory at the edges.
#include "networks.hpp"

#include <doctest/doctest.h>

using namespace model_test;

namespace {

constexpr auto body =
    conv2d{.out = 6, .kernel = 3, .pad = 1, .bias = true} | relu{} | depthwise{.kernel = 3, .stride = 2, .pad = 1};
inline constexpr auto channel_last = input{.n = 2, .h = 6, .w = 5, .c = 3} | body;
inline constexpr auto channel_first = input{.n = 2, .h = 6, .w = 5, .c = 3, .layout = layout::nchw} | body | to_nchw{};

std::vector<float> to_channel_first(std::vector<float> const& x, shape s) {
  std::vector<float> y(x.size());
  for (int n = 0; n < s.n; ++n)
    for (int p = 0; p < s.h * s.w; ++p)
      for (int c = 0; c < s.c; ++c)
        y[std::size_t((n * s.c + c) * s.h * s.w + p)] = x[std::size_t((n * s.h * s.w + p) * s.c + c)];
  return y;
}

}  // namespace

TEST_CASE("a channel-first network gives the channel-last network's result, channel first") {
  using last = model<channel_last>;
  using first = model<channel_first>;
  auto const weights = random_weights<channel_last>(1);
  static last l{weights_span<last>(weights)};
  static first f{weights_span<first>(weights)};
  auto const image = random_floats(last::input_size(), 2);
  std::vector<float> expected(last::output_size()), y(first::output_size());
  CHECK(l.try_run(image, expected) == status::ok);
  CHECK(f.try_run(to_channel_first(image, {2, 6, 5, 3}), y) == status::ok);
  CHECK(y == to_channel_first(expected, {2, 3, 3, 6}));
}
