// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/mobilevit.hpp>

static bool const entered[] = {
    bench::add_gains<networks::mobilevit_s<224>>("mobilevit_s", 224),
};
