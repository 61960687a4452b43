// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ResNet-50 (He, Zhang, Ren, Sun, CVPR 2016) for images of 224x224 pixels, with strides in the middle convolutions, as
// torchvision's.
#include "registry.hpp"

using namespace ago;

namespace {

constexpr auto branch(int middle, int stride) {
  return pointwise{middle} | batch_norm{} | relu{} | conv2d{.out = middle, .kernel = 3, .stride = stride, .pad = 1} |
         batch_norm{} | relu{} | pointwise{4 * middle} | batch_norm{};
}
constexpr auto bottleneck(int middle) {
  return [=](tensor x) { return ((x | branch(middle, 1)) + x) | relu{}; };
}
constexpr auto first_bottleneck(int middle, int stride) {
  return [=](tensor x) {
    tensor const y = x | branch(middle, stride);
    return (y + (x | conv2d{.out = 4 * middle, .kernel = 1, .stride = stride} | batch_norm{})) | relu{};
  };
}
constexpr auto bottlenecks(int middle, int count, int stride) {
  return first_bottleneck(middle, stride) | repeat{count - 1, bottleneck(middle)};
}

}  // namespace

static constexpr auto resnet50 =
    input{.h = 224, .w = 224, .c = 3} | conv2d{.out = 64, .kernel = 7, .stride = 2, .pad = 3} | batch_norm{} | relu{} |
    max_pool{.kernel = 3, .stride = 2, .pad = 1} | bottlenecks(64, 3, 1) | bottlenecks(128, 4, 2) |
    bottlenecks(256, 6, 2) | bottlenecks(512, 3, 2) | global_avg_pool{} | linear{1000};

// With few images, batch norms amplify rounding: PyTorch's third losses differ by 6e-2 between two orders in memory.
static bool const entered = bench::add_training<resnet50, AGO_TRAINING_BATCH>("resnet50", 8e-2);
