// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registry.hpp"

using namespace ago;

static constexpr auto mlp = input{.c = 64} | linear{32} | relu{} | linear{10};

static bool const entered[] = {
    bench::add_training<mlp, 1>("mlp"),
    bench::add_training<mlp, 32>("mlp"),
};
