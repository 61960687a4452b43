// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a key to its kernel.
#pragma once

#include <ago/kernel/attention/attention.hpp>
#include <ago/kernel/attention/matmul.hpp>
#include <ago/kernel/channel_pipeline.hpp>
#include <ago/kernel/depthwise/kernel.hpp>
#include <ago/kernel/elementwise/kernel.hpp>
#include <ago/kernel/fold_pipeline.hpp>
#include <ago/kernel/matrix/convolution.hpp>
#include <ago/kernel/matrix/im2col.hpp>
#include <ago/kernel/matrix/pointwise.hpp>
#include <ago/kernel/movement/copy.hpp>
#include <ago/kernel/movement/embedding.hpp>
#include <ago/kernel/movement/pad.hpp>
#include <ago/kernel/movement/resize.hpp>
#include <ago/kernel/movement/transpose.hpp>
#include <ago/kernel/norm/layer_norm.hpp>
#include <ago/kernel/norm/softmax.hpp>
#include <ago/kernel/pool/max_pool.hpp>
#include <ago/kernel/pool/pool.hpp>
#include <ago/kernel/reduction/kernel.hpp>
#include <ago/kernel/row_pipeline.hpp>
#include <ago/kernel/units.hpp>
#include <ago/kernel/window_fold.hpp>
#include <ago/kernel/window_gradients.hpp>
#include <ago/kernel/winograd/kernel.hpp>

#include <ago/simd/map.hpp>
#include <ago/simd/math.hpp>
#include <type_traits>

namespace ago::kernel {

/// The function that runs steps with the key `K`. Kernels of index expressions are only there in networks with
/// <ago/expressions.hpp>.
template <kernel_key K>
constexpr kernel_function kernel_for() {
  static_assert(!std::is_void_v<unit_of<K.what>>, "this structure has no kernel");
  if constexpr (!std::is_void_v<unit_of<K.what>>) return &kernel_of<K>::run;
  else return nullptr;
}

template <fused_key F>
constexpr kernel_function kernel_for() {
  if constexpr (F.parts == 1) return kernel_for<F.part[0]>();
  else if constexpr (F.tiling == tiling::rows) return &row_pipeline<F>::run;
  else if constexpr (F.tiling == tiling::fold && folds_windows(F)) return &window_fold<F>::run;
  else if constexpr (F.tiling == tiling::fold) return &fold_pipeline<F>::run;
  else if constexpr (F.tiling == tiling::pixels) return &pixel_pipeline<F>::run;
  else if constexpr (F.tiling == tiling::operand) return &kernel_of<F.part[1]>::template run_after<F.part[0]>;
  else {
    static_assert(by_channels(F.tiling), "no pipeline computes this tiling");
    return &channel_pipeline<F>::run;
  }
}

}  // namespace ago::kernel
