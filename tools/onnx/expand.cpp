// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "expand.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ago::onnx {
namespace {

struct entry {
  std::string_view type;
  void (*take_apart)(parts_of_operation&);
};

constexpr entry entries[] = {
    {"AffineGrid", expansion::affine_grid},
    {"BlackmanWindow", expansion::blackman_window},
    {"CastLike", expansion::cast_like},
    {"CenterCropPad", expansion::center_crop_pad},
    {"Compress", expansion::compress},
    {"CumProd", expansion::cumulative_product},
    {"DFT", expansion::fourier},
    {"DeformConv", expansion::deformable_convolution},
    {"Det", expansion::determinant},
    {"Einsum", expansion::einsum},
    {"GRU", expansion::gated_recurrent_units},
    {"GlobalLpPool", expansion::global_lp_pool},
    {"HammingWindow", expansion::hamming_window},
    {"HannWindow", expansion::hann_window},
    {"IsInf", expansion::is_infinite},
    {"IsNaN", expansion::is_nan},
    {"LSTM", expansion::long_short_term_memory},
    {"MaxUnpool", expansion::max_unpool},
    {"MelWeightMatrix", expansion::mel_weight_matrix},
    {"NegativeLogLikelihoodLoss", expansion::negative_log_likelihood},
    {"OneHot", expansion::one_hot},
    {"RNN", expansion::recurrent_network},
    {"RoiAlign", expansion::roi_align},
    {"STFT", expansion::short_time_fourier},
    {"Scatter", expansion::scatter_elements},
    {"ScatterElements", expansion::scatter_elements},
    {"SimplifiedLayerNormalization", expansion::simplified_layer_normalization},
    {"SoftmaxCrossEntropyLoss", expansion::softmax_cross_entropy},
    {"TensorScatter", expansion::tensor_scatter},
    {"com.microsoft.Attention", expansion::attention},
    {"com.microsoft.BiasGelu", expansion::bias_gelu},
    {"com.microsoft.EmbedLayerNormalization", expansion::embedding},
    {"com.microsoft.FastGelu", expansion::fast_gelu},
    {"com.microsoft.FusedConv", expansion::fused_conv},
    {"com.microsoft.FusedGemm", expansion::fused_gemm},
    {"com.microsoft.FusedMatMul", expansion::fused_matmul},
    {"com.microsoft.Gelu", expansion::gelu},
    {"com.microsoft.MultiHeadAttention", expansion::multi_head_attention},
    {"com.microsoft.QuickGelu", expansion::quick_gelu},
    {"com.microsoft.RotaryEmbedding", expansion::rotary_embedding},
    {"com.microsoft.SkipLayerNormalization", expansion::skip_layer_normalization},
    {"com.microsoft.SkipSimplifiedLayerNormalization", expansion::skip_layer_normalization},
};

entry const* entry_of(std::string_view type) {
  auto const at = std::find_if(std::begin(entries), std::end(entries), [&](entry const& e) { return e.type == type; });
  return at == std::end(entries) ? nullptr : at;
}

}  // namespace

bool expands(std::string_view type) { return entry_of(type) != nullptr; }

std::vector<operation> expanded(model& graph, operation const& op, fold_budget& budget) {
  parts_of_operation parts(graph, op, budget);
  entry_of(op.type)->take_apart(parts);
  return parts.take();
}

int parts_of_operation::value() {
  graph_.values.push_back({.name = op_.name, .type = element::real, .dims = {}, .known = {}});
  return static_cast<int>(graph_.values.size()) - 1;
}

int parts_of_operation::constant_of(constant c) {
  int const v = value();
  auto& to = graph_.values[static_cast<std::size_t>(v)];
  to.type = c.type;
  to.dims = c.dims;
  to.known = std::move(c);
  return v;
}

void parts_of_operation::afford(extents const& dims) {
  check_dims(dims);
  std::int64_t const size = 2 * volume(dims);  // integers
  if (size > budget_.largest || size > budget_.made) {
    throw fault{"", "it needs a table of " + std::to_string(volume(dims)) + " numbers, which is too large"};
  }
  budget_.made -= size;
}

int parts_of_operation::list(extents numbers) {
  auto const size = static_cast<std::int64_t>(numbers.size());
  return constant_of({.type = element::integer, .dims = {size}, .integers = std::move(numbers)});
}

int parts_of_operation::numbers(extents dims) {
  extents all(static_cast<std::size_t>(volume(dims)));
  std::iota(all.begin(), all.end(), 0);
  return constant_of({.type = element::integer, .dims = std::move(dims), .integers = std::move(all)});
}

int parts_of_operation::make(char const* type, std::vector<int> inputs, attributes more) {
  int const v = value();
  made_.push_back(
      {.name = op_.name, .type = type, .attributes = std::move(more), .inputs = std::move(inputs), .outputs = {v}});
  return v;
}

int parts_of_operation::sum(int x, extents axes) {
  attributes more{{"keepdims", std::int64_t{0}}};
  std::vector<int> inputs{x};
  if (graph_.opset < 13) more["axes"] = std::move(axes);
  else inputs.push_back(list(std::move(axes)));
  return make("ReduceSum", std::move(inputs), std::move(more));
}

std::vector<int> parts_of_operation::split(int x, extents sizes, std::int64_t axis) {
  std::vector<int> outputs;
  for (std::size_t i = 0; i < sizes.size(); ++i) outputs.push_back(value());
  attributes more{{"axis", axis}};
  std::vector<int> inputs{x};
  if (graph_.opset < 13) more["split"] = std::move(sizes);
  else inputs.push_back(list(std::move(sizes)));
  made_.push_back({.name = op_.name,
                   .type = "Split",
                   .attributes = std::move(more),
                   .inputs = std::move(inputs),
                   .outputs = outputs});
  return outputs;
}

void parts_of_operation::finish(char const* type, std::vector<int> inputs, attributes more,
                                std::vector<std::size_t> outputs) {
  std::vector<int> results;
  for (std::size_t const i : outputs) results.push_back(s_.has_output(i) ? op_.outputs[i] : -1);
  made_.push_back({.name = op_.name,
                   .type = type,
                   .attributes = std::move(more),
                   .inputs = std::move(inputs),
                   .outputs = std::move(results)});
}

void parts_of_operation::expect_no_output_from(std::size_t first) const {
  for (std::size_t i = first; i < op_.outputs.size(); ++i) {
    if (wants(i)) throw fault{"", "its output " + std::to_string(i) + " is not supported"};
  }
}

}  // namespace ago::onnx
