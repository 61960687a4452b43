// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last operator of an inverted residual and the first operator of the next.
#include "registry.hpp"

namespace {
using bench::to;

constexpr bench::pair_shape shapes[] = {
    // MobileNet-V2
    {112, 32, to(16), to(96)},
    {56, 144, to(24), to(144)},
    {28, 192, to(32), to(192)},
    {14, 384, to(64), to(384)},
    {7, 960, to(160), to(960)},
    // MnasNet
    {112, 32, to(16), to(48)},
    {56, 72, to(24), to(72)},
    {28, 120, to(40), to(120)},
    {14, 480, to(80), to(480)},
    {7, 1152, to(192), to(1152)},
};

bool const entered = bench::add_pairs<shapes>();
}  // namespace
