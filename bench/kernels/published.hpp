// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The six networks of the AGO paper (section VI) as lists of layers, taken from the examples where possible and listed
// here otherwise. Additions (including those after a convolution), concatenations, shuffles, norms and attention are
// left out.
#pragma once

#include "layer_table.hpp"

#include <ago/passes/optimized.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/squeezenet.hpp>

namespace bench {

namespace published {

using ago::op;

template <int Size>
inline constexpr layer_table mobilenet_v2 =
    layers_of<ago::passes::optimized<networks::mobilenet_v2<Size>>::value>("mobilenet_v2", Size);
inline constexpr layer_table mnasnet = layers_of<ago::passes::optimized<networks::mnasnet<224>>::value>("mnasnet", 224);
inline constexpr layer_table squeezenet =
    layers_of<ago::passes::optimized<networks::squeezenet<224>>::value>("squeezenet", 224);

/// ShuffleNet-V2 x1.0, Ma et al., ECCV 2018, as in torchvision.
constexpr layer_table make_shufflenet() {
  layer_table t("shufflenet", 224);
  t.begin("stem", 0);
  t.convolution("conv", 24, 3, 2, 1, op::relu);
  t.max_pool("pool", 3, 2, 1);
  struct {
    int out, count;
  } constexpr stages[] = {{116, 4}, {232, 8}, {464, 4}};
  for (auto const& s : stages)
    for (int i = 0; i < s.count; ++i) {
      int const half = s.out / 2, stride = i == 0 ? 2 : 1;
      ago::shape const whole = t.at;
      t.begin_next("unit");
      if (stride == 2) {
        t.depthwise("left.depthwise", 3, 2, op::identity);
        t.pointwise("left.pointwise", half, op::relu);
        t.at = whole;
      } else {
        t.at.c = half;  // the other half bypasses the unit
      }
      t.pointwise("first", half, op::relu);
      t.depthwise("depthwise", 3, stride, op::identity);
      t.pointwise("second", half, op::relu);
      t.at.c = s.out;
    }
  t.begin("head", 0);
  t.pointwise("conv", 1024, op::relu);
  t.global_avg_pool("pool");
  t.linear("linear", 1000);
  return t;
}

/// The linear layers of BERT-tiny: 2 encoders, 128 features, 128 tokens (Turc et al., arXiv:1908.08962).
constexpr layer_table make_bert() {
  layer_table t("bert_tiny", 128, 128);
  t.at = {1, 128, 1, 128};
  for (int i = 0; i < 2; ++i) {
    t.begin("encoder", i);
    for (char const* part : {"query", "key", "value", "output"}) t.linear(part, 128);
    t.linear("up", 512, op::gelu);
    t.linear("down", 128);
  }
  return t;
}

/// A sequence of inverted residuals, the first one with a stride: expand, depthwise, project.
struct stack {
  int out, kernel, stride, expand, count;
};

constexpr void add_stack(layer_table& t, char const* block, stack const& s, op activation) {
  for (int i = 0; i < s.count; ++i) {
    t.begin_next(block);
    t.pointwise("expand", s.expand * t.at.c, activation);
    t.depthwise("depthwise", s.kernel, i == 0 ? s.stride : 1, activation);
    t.pointwise("project", s.out, op::identity);
  }
}

/// Mehta and Rastegari's block: a local convolution, encoders over its pixels, a convolution over the concatenation.
constexpr void mobilevit_block(layer_table& t, int features, int encoders) {
  ago::shape const image = t.at;
  t.convolution("local", image.c, 3, 1, 1, op::silu);
  t.pointwise("widen", features, op::identity);
  for (int i = 0; i < encoders; ++i) {
    t.linear("query_key_value", 3 * features);
    t.at.c = features;
    t.linear("output", features);
    t.linear("up", 2 * features, op::silu);
    t.linear("down", features);
  }
  t.at = {image.n, image.h, image.w, features};
  t.pointwise("narrow", image.c, op::silu);
  t.at.c = 2 * image.c;
  t.convolution("fuse", image.c, 3, 1, 1, op::silu);
}

/// MobileViT-S, ICLR 2022.
constexpr layer_table make_mobilevit() {
  layer_table t("mobilevit_s", 256);
  t.begin("stem", 0);
  t.convolution("conv", 16, 3, 2, 1, op::silu);
  struct {
    stack residuals;
    int features, encoders;
  } constexpr stages[] = {{{32, 3, 1, 4, 1}, 0, 0},
                          {{64, 3, 2, 4, 3}, 0, 0},
                          {{96, 3, 2, 4, 1}, 144, 2},
                          {{128, 3, 2, 4, 1}, 192, 4},
                          {{160, 3, 2, 4, 1}, 240, 3}};
  for (auto const& s : stages) {
    add_stack(t, "residual", s.residuals, op::silu);
    t.begin("vit", s.residuals.out);
    if (s.encoders > 0) mobilevit_block(t, s.features, s.encoders);
  }
  t.begin("head", 0);
  t.pointwise("conv", 640, op::silu);
  t.global_avg_pool("pool");
  t.linear("linear", 1000);
  return t;
}

inline constexpr layer_table shufflenet = make_shufflenet(), bert_tiny = make_bert(), mobilevit_s = make_mobilevit();

/// Multiply-adds of the two products of attention: `sequences` of `tokens`, in each of `encoders`.
constexpr long attention(long sequences, long tokens, long features, long encoders) {
  return 2 * sequences * tokens * tokens * features * encoders;
}

/// In units of 100,000.
constexpr long rounded(long count) { return (count + 50'000) / 100'000; }

static_assert(rounded(multiply_adds(mobilenet_v2<224>)) == 3008);
static_assert(rounded(multiply_adds(mnasnet)) == 3144);
static_assert(rounded(multiply_adds(squeezenet)) == 3492);
static_assert(rounded(multiply_adds(shufflenet)) == 1449);
static_assert(rounded(multiply_adds(bert_tiny) + attention(1, 128, 128, 2)) == 587);
static_assert(rounded(multiply_adds(mobilevit_s) + attention(4, 256, 144, 2) + attention(4, 64, 192, 4) +
                      attention(4, 16, 240, 3)) == 20008);

}  // namespace published

inline constexpr layer_table const* networks_of_the_paper[] = {
    &published::mobilenet_v2<224>, &published::mobilenet_v2<112>, &published::mobilenet_v2<56>,
    &published::mnasnet,           &published::squeezenet,        &published::shufflenet,
    &published::bert_tiny,         &published::mobilevit_s};

}  // namespace bench
