// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/mobilevit.hpp>

static bool const entered[] = {
    bench::add_network<networks::mobilevit_s<256>>("mobilevit_s", 256),
    bench::add_network<networks::mobilevit_s<224>>("mobilevit_s", 224),
};
