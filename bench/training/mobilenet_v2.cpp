// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileNet-V2 for images of 224x224 pixels.
#include "registry.hpp"

#include "networks/mobilenet_v2.hpp"

// With few images, batch norms amplify rounding: PyTorch's third losses differ by 2.4e-3 between two orders in memory.
static bool const entered = bench::add_training<networks::mobilenet_v2<224>, AGO_TRAINING_BATCH>("mobilenet_v2", 5e-3);
