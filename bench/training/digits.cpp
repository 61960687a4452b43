// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registry.hpp"

#include <digits/network.hpp>

static bool const entered[] = {
    bench::add_training<digits::network, 1>("digits"), bench::add_training<digits::network, 32>("digits"),
    bench::add_training<digits::network, 32, ago::cross_entropy, 2'400'000>("digits"),  // values are computed again
};
