// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rules.hpp"

#include <algorithm>
#include <array>

#include "refused.hpp"
#include "words.hpp"

namespace ago::onnx {
namespace {

constexpr std::size_t many = 1'000'000;

// Operators of the default domain. An operator has several lines if its definition changed between opset 6 and the
// newest in a way that matters here and that its shape rule does not handle itself.
constexpr rule rules[] = {
    // elementwise, one operand
    {"Abs", 6, 0, 1, 1, "", shapes::same},
    {"Acos", 7, 0, 1, 1, "", shapes::same},
    {"Acosh", 9, 0, 1, 1, "", shapes::same},
    {"Asin", 7, 0, 1, 1, "", shapes::same},
    {"Asinh", 9, 0, 1, 1, "", shapes::same},
    {"Atan", 7, 0, 1, 1, "", shapes::same},
    {"Atanh", 9, 0, 1, 1, "", shapes::same},
    {"Ceil", 6, 0, 1, 1, "", shapes::same},
    {"Celu", 12, 0, 1, 1, "alpha", shapes::same},
    {"Cos", 7, 0, 1, 1, "", shapes::same},
    {"Cosh", 9, 0, 1, 1, "", shapes::same},
    {"Elu", 6, 0, 1, 1, "alpha", shapes::same},
    {"Erf", 9, 0, 1, 1, "", shapes::same},
    {"Exp", 6, 0, 1, 1, "", shapes::same},
    {"Floor", 6, 0, 1, 1, "", shapes::same},
    {"Gelu", 20, 0, 1, 1, "approximate", shapes::same},
    {"HardSigmoid", 6, 0, 1, 1, "alpha beta", shapes::same},
    {"HardSwish", 14, 0, 1, 1, "", shapes::same},
    {"Identity", 1, 0, 1, 1, "", shapes::same},
    {"IsInf", 10, 0, 1, 1, "detect_negative detect_positive", nullptr},
    {"IsNaN", 9, 0, 1, 1, "", nullptr},
    {"LeakyRelu", 6, 0, 1, 1, "alpha", shapes::same},
    {"Log", 6, 0, 1, 1, "", shapes::same},
    {"Mish", 18, 0, 1, 1, "", shapes::same},
    {"Neg", 6, 0, 1, 1, "", shapes::same},
    {"Not", 1, 0, 1, 1, "", shapes::truth},
    {"Reciprocal", 6, 0, 1, 1, "", shapes::same},
    {"Relu", 6, 0, 1, 1, "", shapes::same},
    {"Round", 11, 0, 1, 1, "", shapes::same},
    {"Selu", 6, 0, 1, 1, "alpha gamma", shapes::same},
    {"Shrink", 9, 0, 1, 1, "bias lambd", shapes::same},
    {"Sigmoid", 6, 0, 1, 1, "", shapes::same},
    {"Sign", 9, 0, 1, 1, "", shapes::same},
    {"Sin", 7, 0, 1, 1, "", shapes::same},
    {"Sinh", 9, 0, 1, 1, "", shapes::same},
    {"Softplus", 1, 0, 1, 1, "", shapes::same},
    {"Softsign", 1, 0, 1, 1, "", shapes::same},
    {"Sqrt", 6, 0, 1, 1, "", shapes::same},
    {"Swish", 24, 0, 1, 1, "alpha", shapes::same},
    {"Tan", 7, 0, 1, 1, "", shapes::same},
    {"Tanh", 6, 0, 1, 1, "", shapes::same},
    {"ThresholdedRelu", 10, 0, 1, 1, "alpha", shapes::same},
    {"Cast", 6, 0, 1, 1, "to saturate round_mode", shapes::cast},
    {"CastLike", 15, 0, 2, 2, "saturate round_mode", nullptr},
    {"Clip", 6, 10, 1, 1, "min max", shapes::same},
    {"Clip", 11, 0, 1, 3, "", shapes::clip},
    {"Dropout", 6, 6, 1, 1, "is_test ratio", shapes::dropout},
    {"Dropout", 7, 11, 1, 1, "ratio", shapes::dropout},
    {"Dropout", 12, 0, 1, 3, "seed", shapes::dropout},
    {"DequantizeLinear", 10, 0, 2, 3, "axis block_size output_dtype", shapes::dequantize},
    {"QuantizeLinear", 10, 0, 2, 3, "axis block_size output_dtype precision saturate", shapes::quantize},

    // elementwise, several operands
    {"Add", 7, 0, 2, 2, "", shapes::elementwise},
    {"And", 7, 0, 2, 2, "", shapes::comparison},
    {"Div", 7, 0, 2, 2, "", shapes::elementwise},
    {"Equal", 7, 0, 2, 2, "", shapes::comparison},
    {"Greater", 7, 0, 2, 2, "", shapes::comparison},
    {"GreaterOrEqual", 12, 0, 2, 2, "", shapes::comparison},
    {"Less", 7, 0, 2, 2, "", shapes::comparison},
    {"LessOrEqual", 12, 0, 2, 2, "", shapes::comparison},
    {"Max", 6, 0, 1, many, "", shapes::elementwise},
    {"Mean", 6, 0, 1, many, "", shapes::elementwise},
    {"Min", 6, 0, 1, many, "", shapes::elementwise},
    {"Mod", 10, 0, 2, 2, "fmod", shapes::elementwise},
    {"Mul", 7, 0, 2, 2, "", shapes::elementwise},
    {"Or", 7, 0, 2, 2, "", shapes::comparison},
    {"Pow", 7, 0, 2, 2, "", shapes::elementwise},
    {"PRelu", 7, 0, 2, 2, "", shapes::prelu},
    {"Sub", 7, 0, 2, 2, "", shapes::elementwise},
    {"Sum", 6, 0, 1, many, "", shapes::elementwise},
    {"Where", 9, 0, 3, 3, "", shapes::where},
    {"Xor", 7, 0, 2, 2, "", shapes::comparison},

    // operator set 6 broadcasts only if the attribute asks for it
    {"Add", 6, 6, 2, 2, "axis broadcast", shapes::elementwise},
    {"And", 1, 6, 2, 2, "axis broadcast", shapes::comparison},
    {"Div", 6, 6, 2, 2, "axis broadcast", shapes::elementwise},
    {"Equal", 1, 6, 2, 2, "axis broadcast", shapes::comparison},
    {"Greater", 1, 6, 2, 2, "axis broadcast", shapes::comparison},
    {"Less", 1, 6, 2, 2, "axis broadcast", shapes::comparison},
    {"Mul", 6, 6, 2, 2, "axis broadcast", shapes::elementwise},
    {"Or", 1, 6, 2, 2, "axis broadcast", shapes::comparison},
    {"Pow", 1, 6, 2, 2, "axis broadcast", shapes::elementwise},
    {"PRelu", 6, 6, 2, 2, "", shapes::prelu},
    {"Sub", 6, 6, 2, 2, "axis broadcast", shapes::elementwise},
    {"Xor", 1, 6, 2, 2, "axis broadcast", shapes::comparison},

    // along axes
    {"BatchNormalization", 6, 6, 5, 5, "epsilon is_test momentum spatial", shapes::batch_normalization},
    {"BatchNormalization", 7, 8, 5, 5, "epsilon momentum spatial", shapes::batch_normalization},
    {"BatchNormalization", 9, 13, 5, 5, "epsilon momentum", shapes::batch_normalization},
    {"BatchNormalization", 14, 0, 5, 5, "epsilon momentum training_mode", shapes::batch_normalization},
    {"CumProd", 26, 0, 2, 2, "exclusive reverse", nullptr},
    {"CumSum", 11, 0, 2, 2, "exclusive reverse", shapes::cumulative},
    {"GroupNormalization", 18, 0, 3, 3, "epsilon num_groups stash_type", shapes::channel_normalization},
    {"Hardmax", 1, 0, 1, 1, "axis", shapes::along_axis},
    {"InstanceNormalization", 6, 0, 3, 3, "epsilon", shapes::channel_normalization},
    // Before operator set 17, ONNX Runtime defines it in the same domain.
    {"LayerNormalization", 1, 16, 2, 3, "axis epsilon stash_type", shapes::layer_normalization},
    {"LayerNormalization", 17, 0, 2, 3, "axis epsilon stash_type", shapes::layer_normalization},
    {"LogSoftmax", 1, 0, 1, 1, "axis", shapes::along_axis},
    {"LpNormalization", 1, 0, 1, 1, "axis p", shapes::along_axis},
    {"LRN", 1, 0, 1, 1, "alpha beta bias size", shapes::local_response},
    {"MeanVarianceNormalization", 9, 0, 1, 1, "axes", shapes::mean_variance},
    {"RMSNormalization", 23, 0, 2, 2, "axis epsilon stash_type", shapes::layer_normalization},
    {"SimplifiedLayerNormalization", 1, 0, 2, 2, "axis epsilon stash_type", nullptr},
    {"Softmax", 1, 0, 1, 1, "axis", shapes::along_axis},

    // windows
    {"AveragePool", 1, 6, 1, 1, "auto_pad kernel_shape pads strides", shapes::pooling},
    {"AveragePool", 7, 9, 1, 1, "auto_pad count_include_pad kernel_shape pads strides", shapes::pooling},
    {"AveragePool", 10, 18, 1, 1, "auto_pad ceil_mode count_include_pad kernel_shape pads strides", shapes::pooling},
    {"AveragePool", 19, 0, 1, 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides",
     shapes::pooling},
    {"Conv", 1, 0, 2, 3, "auto_pad dilations group kernel_shape pads strides", shapes::convolution},
    {"ConvTranspose", 1, 0, 2, 3, "auto_pad dilations group kernel_shape output_padding output_shape pads strides",
     shapes::transposed_convolution},
    {"DeformConv", 19, 0, 3, 5, "dilations group kernel_shape offset_group pads strides", nullptr},
    {"GlobalAveragePool", 1, 0, 1, 1, "", shapes::global_pooling},
    {"GlobalLpPool", 2, 0, 1, 1, "p", nullptr},
    {"GlobalMaxPool", 1, 0, 1, 1, "", shapes::global_pooling},
    {"LpPool", 2, 17, 1, 1, "auto_pad kernel_shape p pads strides", shapes::pooling},
    {"LpPool", 18, 0, 1, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides", shapes::pooling},
    {"MaxPool", 1, 7, 1, 1, "auto_pad kernel_shape pads strides", shapes::pooling},
    {"MaxPool", 8, 9, 1, 1, "auto_pad kernel_shape pads storage_order strides", shapes::pooling},
    {"MaxPool", 10, 0, 1, 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", shapes::pooling},
    {"MaxUnpool", 9, 0, 2, 3, "kernel_shape pads strides", nullptr},
    {"RoiAlign", 10, 15, 3, 3, "mode output_height output_width sampling_ratio spatial_scale", nullptr},
    {"RoiAlign", 16, 0, 3, 3,
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale", nullptr},

    // products
    {"Attention", 23, 23, 3, 6,
     "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision", shapes::attention},
    {"Attention", 24, 0, 3, 7,
     "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision", shapes::attention},
    {"Det", 11, 0, 1, 1, "", nullptr},
    {"DFT", 17, 19, 1, 2, "axis inverse onesided", nullptr},
    {"DFT", 20, 0, 1, 3, "inverse onesided", nullptr},
    {"Einsum", 12, 0, 1, many, "equation", nullptr},
    {"Gemm", 6, 6, 3, 3, "alpha beta broadcast transA transB", shapes::gemm},
    {"Gemm", 7, 10, 3, 3, "alpha beta transA transB", shapes::gemm},
    {"Gemm", 11, 0, 2, 3, "alpha beta transA transB", shapes::gemm},
    {"GRU", 7, 13, 3, 6, "activation_alpha activation_beta activations clip direction hidden_size linear_before_reset",
     nullptr},
    {"GRU", 14, 0, 3, 6,
     "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset", nullptr},
    {"LSTM", 7, 13, 3, 8, "activation_alpha activation_beta activations clip direction hidden_size input_forget",
     nullptr},
    {"LSTM", 14, 0, 3, 8, "activation_alpha activation_beta activations clip direction hidden_size input_forget layout",
     nullptr},
    {"MatMul", 1, 0, 2, 2, "", shapes::matmul},
    {"RNN", 7, 13, 3, 6, "activation_alpha activation_beta activations clip direction hidden_size", nullptr},
    {"RNN", 14, 0, 3, 6, "activation_alpha activation_beta activations clip direction hidden_size layout", nullptr},
    {"RotaryEmbedding", 23, 0, 3, 4, "interleaved num_heads rotary_embedding_dim", shapes::rotary_embedding},
    {"STFT", 17, 0, 2, 4, "onesided", nullptr},

    // sources
    {"AffineGrid", 20, 0, 2, 2, "align_corners", nullptr},
    {"BlackmanWindow", 17, 0, 1, 1, "output_datatype periodic", nullptr},
    {"Constant", 1, 10, 0, 0, "value", shapes::constant_node},
    {"Constant", 11, 0, 0, 0,
     "sparse_value value value_float value_floats value_int value_ints value_string value_strings",
     shapes::constant_node},
    {"ConstantOfShape", 9, 0, 1, 1, "value", shapes::constant_of_shape},
    {"EyeLike", 9, 0, 1, 1, "dtype k", shapes::eye_like},
    {"HammingWindow", 17, 0, 1, 1, "output_datatype periodic", nullptr},
    {"HannWindow", 17, 0, 1, 1, "output_datatype periodic", nullptr},
    {"MelWeightMatrix", 17, 0, 5, 5, "output_datatype", nullptr},
    {"NonZero", 9, 0, 1, 1, "", shapes::nonzero},
    {"OneHot", 9, 0, 3, 3, "axis", nullptr},
    {"Range", 11, 0, 3, 3, "", shapes::range},
    {"Shape", 1, 14, 1, 1, "", shapes::shape},
    {"Shape", 15, 0, 1, 1, "end start", shapes::shape},
    {"Size", 1, 0, 1, 1, "", shapes::size},

    // movement
    {"CenterCropPad", 18, 0, 2, 2, "axes", nullptr},
    {"Col2Im", 18, 0, 3, 3, "dilations pads strides", shapes::col2im},
    {"Compress", 9, 0, 2, 2, "axis", nullptr},
    {"Concat", 4, 0, 1, many, "axis", shapes::concat},
    {"DepthToSpace", 1, 10, 1, 1, "blocksize", shapes::depth_to_space},
    {"DepthToSpace", 11, 0, 1, 1, "blocksize mode", shapes::depth_to_space},
    {"Expand", 8, 0, 2, 2, "", shapes::expand},
    {"Flatten", 1, 0, 1, 1, "axis", shapes::flatten},
    {"Gather", 1, 0, 2, 2, "axis", shapes::gather},
    {"GatherElements", 11, 0, 2, 2, "axis", shapes::gather_elements},
    {"GatherND", 11, 11, 2, 2, "", shapes::gather_nd},
    {"GatherND", 12, 0, 2, 2, "batch_dims", shapes::gather_nd},
    {"GridSample", 16, 0, 2, 2, "align_corners mode padding_mode", shapes::grid_sample},
    {"Pad", 2, 10, 1, 1, "mode pads value", shapes::pad},
    {"Pad", 11, 17, 2, 3, "mode", shapes::pad},
    {"Pad", 18, 0, 2, 4, "mode", shapes::pad},
    {"Reshape", 5, 13, 2, 2, "", shapes::reshape},
    {"Reshape", 14, 0, 2, 2, "allowzero", shapes::reshape},
    {"Resize", 10, 10, 2, 2, "mode", shapes::resize},
    {"Resize", 11, 17, 1, 4,
     "coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value mode nearest_mode",
     shapes::resize},
    {"Resize", 18, 0, 1, 4,
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
     "keep_aspect_ratio_policy mode nearest_mode",
     shapes::resize},
    {"ReverseSequence", 10, 0, 2, 2, "batch_axis time_axis", shapes::reverse_sequence},
    {"Scatter", 9, 10, 3, 3, "axis", nullptr},
    {"ScatterElements", 11, 0, 3, 3, "axis reduction", nullptr},
    {"ScatterND", 11, 0, 3, 3, "reduction", shapes::scatter_nd},
    {"Slice", 1, 9, 1, 1, "axes ends starts", shapes::slice},
    {"Slice", 10, 0, 3, 5, "", shapes::slice},
    {"SpaceToDepth", 1, 0, 1, 1, "blocksize", shapes::space_to_depth},
    {"Split", 2, 12, 1, 1, "axis split", shapes::split},
    {"Split", 13, 17, 1, 2, "axis", shapes::split},
    {"Split", 18, 0, 1, 2, "axis num_outputs", shapes::split},
    {"Squeeze", 1, 12, 1, 1, "axes", shapes::squeeze},
    {"Squeeze", 13, 0, 1, 2, "", shapes::squeeze},
    {"TensorScatter", 24, 0, 2, 3, "axis mode", nullptr},
    {"Tile", 6, 0, 2, 2, "", shapes::tile},
    {"Transpose", 1, 0, 1, 1, "perm", shapes::transpose},
    {"Trilu", 14, 0, 1, 2, "upper", shapes::trilu},
    {"Unsqueeze", 1, 12, 1, 1, "axes", shapes::unsqueeze},
    {"Unsqueeze", 13, 0, 2, 2, "", shapes::unsqueeze},
    {"Upsample", 7, 8, 1, 1, "mode scales", shapes::upsample},
    {"Upsample", 9, 9, 2, 2, "mode", shapes::upsample},

    // reductions
    {"ArgMax", 1, 11, 1, 1, "axis keepdims", shapes::arg_reduce},
    {"ArgMax", 12, 0, 1, 1, "axis keepdims select_last_index", shapes::arg_reduce},
    {"ArgMin", 1, 11, 1, 1, "axis keepdims", shapes::arg_reduce},
    {"ArgMin", 12, 0, 1, 1, "axis keepdims select_last_index", shapes::arg_reduce},
    {"ReduceSum", 1, 12, 1, 1, "axes keepdims", shapes::reduce},
    {"ReduceSum", 13, 0, 1, 2, "keepdims noop_with_empty_axes", shapes::reduce},
    {"TopK", 1, 9, 1, 1, "axis k", shapes::top_k},
    {"TopK", 10, 0, 2, 2, "axis largest sorted", shapes::top_k},

    // losses
    {"NegativeLogLikelihoodLoss", 12, 0, 2, 3, "ignore_index reduction", nullptr},
    {"SoftmaxCrossEntropyLoss", 12, 0, 2, 3, "ignore_index reduction", nullptr},

    // the importer's own
    {shared_constant, 1, 0, 1, 1, "", shapes::same},

    // control flow
    {"If", 1, 0, 1, many, "else_branch then_branch", nullptr},

    // ONNX Runtime's own, which are decomposed
    {"com.microsoft.Attention", 1, 0, 2, 7,
     "do_rotary mask_filter_value num_heads past_present_share_buffer qkv_hidden_sizes rotary_embedding_dim scale "
     "unidirectional",
     nullptr},
    {"com.microsoft.BiasGelu", 1, 0, 2, 2, "", nullptr},
    {"com.microsoft.EmbedLayerNormalization", 1, 0, 7, 9, "epsilon mask_index_type", nullptr},
    {"com.microsoft.FastGelu", 1, 0, 1, 2, "", nullptr},
    {"com.microsoft.FusedConv", 1, 0, 2, 4,
     "activation activation_params auto_pad dilations group kernel_shape pads strides", nullptr},
    {"com.microsoft.FusedGemm", 1, 0, 2, 3,
     "activation activation_alpha activation_beta activation_gamma alpha beta transA transB", nullptr},
    {"com.microsoft.FusedMatMul", 1, 0, 2, 2, "alpha transA transB transBatchA transBatchB", nullptr},
    {"com.microsoft.Gelu", 1, 0, 1, 1, "", nullptr},
    {"com.microsoft.MultiHeadAttention", 1, 0, 1, 10, "mask_filter_value num_heads scale unidirectional", nullptr},
    {"com.microsoft.QuickGelu", 1, 0, 1, 1, "alpha", nullptr},
    {"com.microsoft.RotaryEmbedding", 1, 0, 4, 4, "interleaved is_packed_batching num_heads rotary_embedding_dim scale",
     nullptr},
    {"com.microsoft.SkipLayerNormalization", 1, 0, 3, 5, "epsilon", nullptr},
    {"com.microsoft.SkipSimplifiedLayerNormalization", 1, 0, 3, 4, "epsilon", nullptr},
};

/// Nine operators that changed together: in operator set 18 their axes became an input.
constexpr std::array reductions{"ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                                "ReduceMean", "ReduceMin", "ReduceProd",   "ReduceSumSquare"};
constexpr rule reduction_before{"", 1, 17, 1, 1, "axes keepdims", shapes::reduce};
constexpr rule reduction_since{"", 18, 0, 1, 2, "keepdims noop_with_empty_axes", shapes::reduce};

/// The largest number of outputs; one for all others.
std::size_t most_outputs(std::string_view type) {
  if (type == "Split" || type == "If") return many;
  if (type == "BatchNormalization") return 5;
  if (type == "Attention") return 4;
  if (type == "LayerNormalization" || type == "com.microsoft.EmbedLayerNormalization") return 3;
  if (type == "SimplifiedLayerNormalization") return 2;
  if (type == "com.microsoft.Attention") return 2;
  if (type == "com.microsoft.MultiHeadAttention") return 4;
  if (type.starts_with("com.microsoft.Skip")) return 4;
  if (type == "LSTM") return 3;
  if (type == "GRU" || type == "RNN") return 2;
  return type == "Dropout" || type == "MaxPool" || type == "SoftmaxCrossEntropyLoss" || type == "TopK" ? 2 : 1;
}

}  // namespace

std::span<rule const> all_rules() { return rules; }

bool is_known(std::string_view type) {
  auto const has = [&](auto const& list, auto const& type_of) {
    return std::any_of(list.begin(), list.end(), [&](auto const& x) { return type_of(x) == type; });
  };
  return has(std::span(rules), [](rule const& r) { return r.type; }) ||
         has(reductions, [](std::string_view name) { return name; });
}

rule const& rule_for(std::string_view type, std::int64_t opset) {
  if (std::find(reductions.begin(), reductions.end(), type) != reductions.end()) {
    return opset < reduction_since.since ? reduction_before : reduction_since;
  }
  rule const* other = nullptr;
  for (rule const& r : rules) {
    if (r.type != type) continue;
    if (opset >= r.since && (r.until == 0 || opset <= r.until)) return r;
    other = &r;
  }
  if (other == nullptr) throw fault{"", refusal_of(type)};
  throw fault{"", "operator set " + std::to_string(opset) + " has no such operator"};
}

rule const& checked_rule(operation const& op, std::int64_t opset) {
  rule const& r = rule_for(op.type, opset);
  if (op.inputs.size() < r.fewest || op.inputs.size() > r.most) {
    std::string const expected = r.fewest == r.most ? std::to_string(r.fewest)
                                 : r.most == many   ? "at least " + std::to_string(r.fewest)
                                                    : std::to_string(r.fewest) + " to " + std::to_string(r.most);
    throw fault{"", std::to_string(op.inputs.size()) + " inputs, expected " + expected};
  }
  if (std::size_t const most = most_outputs(op.type); op.outputs.empty() || op.outputs.size() > most) {
    throw fault{"", std::to_string(op.outputs.size()) + " outputs, expected " +
                        (most == 1      ? "one"
                         : most == many ? "at least one"
                                        : "1 to " + std::to_string(most))};
  }
  for (auto const& [name, value] : op.attributes) {
    if (!lists(r.attributes, name)) {
      throw fault{name, "operator set " + std::to_string(opset) + " has no such attribute"};
    }
  }
  return r;
}

}  // namespace ago::onnx
