// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first two operators of inverted residuals.
#include "registry.hpp"

namespace {
using bench::to, bench::window;

constexpr bench::pair_shape shapes[] = {
    // MobileNet-V2
    {112, 16, to(96), window(3, 2)},
    {56, 24, to(144), window(3, 1)},
    {56, 24, to(144), window(3, 2)},
    {28, 32, to(192), window(3, 1)},
    {14, 64, to(384), window(3, 1)},
    {14, 96, to(576), window(3, 2)},
    {7, 160, to(960), window(3, 1)},
    // MnasNet
    {112, 16, to(48), window(3, 2)},
    {56, 24, to(72), window(5, 2)},
    {28, 40, to(120), window(5, 1)},
    {28, 40, to(240), window(5, 2)},
    {14, 96, to(576), window(5, 2)},
    {7, 192, to(1152), window(5, 1)},
};

bool const entered = bench::add_pairs<shapes>();
}  // namespace
