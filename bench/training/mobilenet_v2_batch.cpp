// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As mobilenet_v2.cpp, in a file of its own because of the memory that compilers take.
#include "registry.hpp"

#include "networks/mobilenet_v2.hpp"

static bool const entered = bench::add_training<networks::mobilenet_v2<224>, 8>("mobilenet_v2", 5e-3);
