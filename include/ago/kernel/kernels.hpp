// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a key to its kernel.
#pragma once

#include <ago/kernel/attention/attention.hpp>
#include <ago/kernel/attention/matmul.hpp>
#include <ago/kernel/channel_pipeline.hpp>
#include <ago/kernel/depthwise/kernel.hpp>
#include <ago/kernel/elementwise/kernel.hpp>
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
#include <ago/kernel/winograd/kernel.hpp>
#include <ago/simd/map.hpp>
#include <ago/simd/math.hpp>

namespace ago {

// Those of index expressions, which only networks with <ago/expressions.hpp> have.
template <kernel_key K>
struct contraction_kernel;
template <kernel_key K>
struct nest_kernel;

/// The function that runs steps with the key `K`.
template <kernel_key K>
constexpr kernel_function kernel_for() {
  if constexpr (K.what == structure::pointwise) return &pointwise_kernel<K>::run;
  else if constexpr (K.what == structure::convolution) return &convolution_kernel<K>::run;
  else if constexpr (K.what == structure::im2col) return &im2col_kernel<K>::run;
  else if constexpr (winograd_tile(K.what) > 0) return &winograd_kernel<K>::run;
  else if constexpr (K.what == structure::depthwise) return &depthwise_kernel<K>::run;
  else if constexpr (K.what == structure::max_pool) return &max_pool_kernel<K>::run;
  else if constexpr (K.what == structure::avg_pool) return &avg_pool_kernel<K>::run;
  else if constexpr (K.what == structure::global_max_pool) return &global_max_pool_kernel<K>::run;
  else if constexpr (K.what == structure::global_avg_pool) return &global_avg_pool_kernel<K>::run;
  else if constexpr (K.what == structure::elementwise) return &elementwise_kernel<K>::run;
  else if constexpr (K.what == structure::matmul) return &matmul_kernel<K>::run;
  else if constexpr (K.what == structure::attention_scores) return &attention_scores_kernel<K>::run;
  else if constexpr (K.what == structure::attention_values) return &attention_values_kernel<K>::run;
  else if constexpr (K.what == structure::attention) return &attention_kernel<K>::run;
  else if constexpr (K.what == structure::softmax) return &softmax_kernel<K>::run;
  else if constexpr (K.what == structure::layer_norm) return &layer_norm_kernel<K>::run;
  else if constexpr (K.what == structure::copy) return &copy_kernel<K>::run;
  else if constexpr (K.what == structure::pad) return &pad_kernel<K>::run;
  else if constexpr (K.what == structure::resize_nearest) return &resize_nearest_kernel<K>::run;
  else if constexpr (K.what == structure::resize_bilinear) return &resize_bilinear_kernel<K>::run;
  else if constexpr (K.what == structure::embedding) return &embedding_kernel<K>::run;
  else if constexpr (K.what == structure::reduction) return &reduction_kernel<K>::run;
  else if constexpr (K.what == structure::contraction) return &contraction_kernel<K>::run;
  else if constexpr (K.what == structure::nest) return &nest_kernel<K>::run;
  else if constexpr (K.what == structure::from_nchw) return &from_nchw_kernel<K>::run;
  else {
    static_assert(K.what == structure::to_nchw, "this structure has no kernel");
    return &to_nchw_kernel<K>::run;
  }
}

template <fused_key F>
constexpr kernel_function kernel_for() {
  if constexpr (F.parts == 1) return kernel_for<F.part[0]>();
  else if constexpr (F.tiling == tiling::rows) return &row_pipeline<F>::run;
  else if constexpr (F.tiling == tiling::pixels) return &pixel_pipeline<F>::run;
  else {
    static_assert(by_channels(F.tiling), "no pipeline computes this tiling");
    return &channel_pipeline<F>::run;
  }
}

}  // namespace ago
