// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/squeezenet.hpp>

static bool const entered[] = {
    bench::add_policies<networks::squeezenet<224>>("squeezenet", 224),
    bench::add_policies<networks::squeezenet<112>>("squeezenet", 112),
    bench::add_policies<networks::squeezenet<56>>("squeezenet", 56),
};
