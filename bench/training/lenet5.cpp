// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LeNet-5 (LeCun et al., 1998) as it is usual today: ReLU and maxima.
#include "registry.hpp"

using namespace ago;

static constexpr auto lenet5 = input{.h = 28, .w = 28, .c = 1} | conv2d{.out = 6, .kernel = 5, .pad = 2, .bias = true} |
                               relu{} | max_pool{.kernel = 2, .stride = 2} |
                               conv2d{.out = 16, .kernel = 5, .bias = true} | relu{} |
                               max_pool{.kernel = 2, .stride = 2} | reshape{.h = 1, .w = 1, .c = 400} | linear{120} |
                               relu{} | linear{84} | relu{} | linear{10};

static bool const entered[] = {
    bench::add_training<lenet5, 1>("lenet5"),
    bench::add_training<lenet5, 8>("lenet5"),
    bench::add_training<lenet5, 32>("lenet5"),
    bench::add_training<lenet5, 64>("lenet5"),
};
