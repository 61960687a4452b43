#include "registry.hpp"

static bool const entered[] = {bench::add_kernels<ago::op::max_pool>(), bench::add_kernels<ago::op::global_avg_pool>()};
