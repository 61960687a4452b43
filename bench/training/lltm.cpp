// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recurrent.hpp"
#include "registry.hpp"

static constexpr auto lltm = recurrent::rows | recurrent::lltm(128) | ago::linear{10};

static bool const entered[] = {
    bench::add_training<lltm, 1>("lltm"),
    bench::add_training<lltm, 32>("lltm"),
};
