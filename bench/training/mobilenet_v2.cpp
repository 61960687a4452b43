// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileNet-V2 for images of 224x224 pixels.
#include "registry.hpp"

#include "networks/mobilenet_v2.hpp"

static bool const entered = bench::add_training<networks::mobilenet_v2<224>, 1>("mobilenet_v2");
