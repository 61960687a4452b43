// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two consecutive depthwise convolutions. Neither network has them; the shapes are those of its depthwise layers.
#include "registry.hpp"

namespace {
using bench::window;

constexpr bench::pair_shape shapes[] = {
    // MobileNet-V2
    {112, 32, window(3, 1), window(3, 1)},
    {112, 96, window(3, 2), window(3, 1)},
    {56, 144, window(3, 1), window(3, 2)},
    {28, 192, window(3, 1), window(3, 1)},
    {14, 384, window(3, 1), window(3, 1)},
    {14, 576, window(3, 2), window(3, 1)},
    {7, 960, window(3, 1), window(3, 1)},
    // MnasNet
    {112, 48, window(3, 2), window(3, 1)},
    {56, 72, window(5, 2), window(5, 1)},
    {28, 120, window(5, 1), window(5, 1)},
    {28, 240, window(5, 2), window(5, 1)},
    {14, 576, window(5, 2), window(5, 1)},
    {7, 1152, window(5, 1), window(5, 1)},
};

bool const entered = bench::add_pairs<shapes>();
}  // namespace
