// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/mobilenet_v2.hpp>

static bool const entered[] = {
    bench::add_gains<networks::mobilenet_v2<224>>("mobilenet_v2", 224),
};
