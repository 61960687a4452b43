// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/mnasnet.hpp>

static bool const entered[] = {
    bench::add_policies<networks::mnasnet<224>>("mnasnet", 224),
    bench::add_policies<networks::mnasnet<112>>("mnasnet", 112),
    bench::add_policies<networks::mnasnet<56>>("mnasnet", 56),
};
