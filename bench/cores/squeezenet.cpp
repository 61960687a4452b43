// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/squeezenet.hpp>

static bool const entered[] = {
    bench::add_threads<networks::squeezenet<224>, 2>("squeezenet", 224),
};
