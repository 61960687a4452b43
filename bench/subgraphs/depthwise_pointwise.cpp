// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last two operators of inverted residuals; also the operators of a separable convolution.
#include "registry.hpp"

namespace {
using bench::to, bench::window;

constexpr bench::pair_shape shapes[] = {
    // MobileNet-V2
    {112, 32, window(3, 1), to(16)},
    {112, 96, window(3, 2), to(24)},
    {56, 144, window(3, 1), to(24)},
    {56, 144, window(3, 2), to(32)},
    {28, 192, window(3, 1), to(32)},
    {14, 384, window(3, 1), to(64)},
    {14, 576, window(3, 2), to(160)},
    {7, 960, window(3, 1), to(160)},
    // MnasNet
    {112, 48, window(3, 2), to(24)},
    {56, 72, window(5, 2), to(40)},
    {28, 120, window(5, 1), to(40)},
    {28, 240, window(5, 2), to(80)},
    {14, 576, window(5, 2), to(192)},
    {7, 1152, window(5, 1), to(192)},
};

bool const entered = bench::add_pairs<shapes>();
}  // namespace
