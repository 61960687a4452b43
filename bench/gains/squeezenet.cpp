// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/squeezenet.hpp>

static bool const entered[] = {
    bench::add_gains<networks::squeezenet<224>>("squeezenet", 224),
};
