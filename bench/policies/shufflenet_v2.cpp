// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/shufflenet_v2.hpp>

static bool const entered[] = {
    bench::add_policies<networks::shufflenet_v2<224>>("shufflenet_v2", 224),
    bench::add_policies<networks::shufflenet_v2<112>>("shufflenet_v2", 112),
    bench::add_policies<networks::shufflenet_v2<56>>("shufflenet_v2", 56),
};
