// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ShuffleNet-V2 for images of 224x224 pixels.
#include "registry.hpp"

#include "networks/shufflenet_v2.hpp"

static bool const entered =
    bench::add_training<networks::shufflenet_v2<224>, AGO_TRAINING_BATCH>("shufflenet_v2", 5e-3);
