// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/mnasnet.hpp>

static bool const entered[] = {
    bench::add_gains<networks::mnasnet<224>>("mnasnet", 224),
};
