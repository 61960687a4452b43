// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks larger than the generated ones, for which default schedules use cache blocks, or stream.
#include "large.hpp"

namespace differential {
namespace {

using namespace ago;

/// More than 1 MB of input, and several panels of output channels: blocks of pixels.
constexpr auto pixel_blocks =
    input{.h = 61, .w = 59, .c = 80} | pointwise{200} | batch_norm{} | relu{} | global_avg_pool{};
static_assert(program<pixel_blocks>::plan.steps[0].data.block > 0);

/// The same for the rows of a convolution.
constexpr auto row_blocks = input{.h = 74, .w = 56, .c = 64} |
                            conv2d{.out = 130, .kernel = {2, 1}, .stride = {2, 1}, .pad = pads{0, 0, 1, 0}} | silu{};
static_assert(program<row_blocks>::plan.steps[0].data.block > 0);

/// More than 2 MB of output with little work: small tiles.
constexpr auto streams =
    input{.h = 97, .w = 96, .c = 3} | pointwise{64} | bias{} | max_pool{.kernel = 3, .stride = 2, .pad = 1};

/// Longer than a block of the averaging sum, and more vectors of channels than an unrolled group.
constexpr auto long_average = input{.n = 2, .h = 37, .w = 31, .c = 75} | depthwise{.kernel = 5, .pad = 2} |
                              hard_swish{} |
                              [](tensor x) { return x * (x | global_avg_pool{} | linear{75} | sigmoid{}); };

/// Wide values: intensive fusion by default, with ring buffers that wrap around often, and two images.
constexpr auto wide(int channels, depthwise filter) {
  return pointwise{channels} | batch_norm{} | relu6{} | filter | batch_norm{} | relu6{} | pointwise{24} | batch_norm{};
}
constexpr auto inverted_residuals = input{.n = 2, .h = 43, .w = 38, .c = 16} |
                                    wide(96, {.kernel = 5, .pad = pads{1, 2, 3, 2}}) | residual{wide(108, {.pad = 1})} |
                                    wide(100, {.kernel = 3, .stride = 2, .pad = 2, .dilation = 2}) | global_max_pool{};
static_assert(model<inverted_residuals>::steps < model<inverted_residuals, untuned, policy::ago_ni>::steps);

}  // namespace

void add_large_networks(std::vector<subject>& list) {
  list.push_back(make_subject<pixel_blocks, 10'000>());
  list.push_back(make_subject<row_blocks, 10'001>());
  list.push_back(make_subject<streams, 10'002>());
  list.push_back(make_subject<long_average, 10'010>());
  list.push_back(make_subject<inverted_residuals, 10'014>());
}

}  // namespace differential
