// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registry.hpp"

static bool const entered[] = {bench::add_kernels<ago::op::max_pool>(), bench::add_kernels<ago::op::global_avg_pool>()};
