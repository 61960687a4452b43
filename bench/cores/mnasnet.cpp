// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/mnasnet.hpp>

static bool const entered[] = {
    bench::add_threads<networks::mnasnet<224>, 2>("mnasnet", 224),
};
