#include "registry.hpp"

static bool const entered = bench::add_kernels<ago::op::pointwise>();
