// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that cannot be imported.
#include "refused.hpp"

#include "error.hpp"
#include "rules.hpp"
#include "single.hpp"

#include <sstream>

using namespace ago_test;

namespace {

/// Of operator sets 6 to 26, without operators that only training uses.
constexpr char operators_of_onnx[] =
    "Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization "
    "Bernoulli BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast CastLike Ceil Celu "
    "CenterCropPad Clip Col2Im Compress Concat ConcatFromSequence Constant ConstantOfShape Conv ConvInteger "
    "ConvTranspose Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout "
    "DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND "
    "Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization "
    "HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If ImageDecoder InstanceNormalization IsInf IsNaN "
    "LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Loop LpNormalization LpPool MatMul "
    "MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul "
    "Multinomial Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement "
    "OptionalHasElement Or PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal "
    "RandomNormalLike RandomUniform RandomUniformLike Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
    "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu Reshape Resize "
    "ReverseSequence RoiAlign RotaryEmbedding Round STFT Scan Scatter ScatterElements ScatterND Selu SequenceAt "
    "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap Shape Shrink Sigmoid Sign "
    "Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split SplitToSequence Sqrt "
    "Squeeze StringConcat StringNormalizer StringSplit Sub Sum Swish Tan Tanh TensorScatter TfIdfVectorizer "
    "ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Upsample Where Xor";

}  // namespace

TEST_CASE("every operator of ONNX is known, or refused for a reason") {
  std::istringstream all{operators_of_onnx};
  for (std::string type; all >> type;) {
    CAPTURE(type);
    bool const has_reason = ago::onnx::refusal_of(type) != ago::onnx::unsupported_operator;
    CHECK((ago::onnx::is_known(type) || has_reason));
  }
  CHECK(ago::onnx::refusal_of("Unheard") == ago::onnx::unsupported_operator);
}

TEST_CASE("a node that is refused is named with the reason, and once for all of its kind") {
  network net(18);
  net.input("x", {2, 3});
  net.node("BitwiseNot", {"x"}, {"a"}).named("first");
  net.node("BitwiseNot", {"a"}, {"b"}).named("second");
  net.node("RandomNormalLike", {"b"}, {"c"}).named("noise");
  std::string const text = net.output("c").complaint();
  contains(text,
           "node \"first\" (BitwiseNot): the operator is not supported: it works on bits of integers, which are "
           "floats here; 2 nodes are BitwiseNot, this is the first");
  contains(text, "node \"noise\" (RandomNormalLike): the operator is not supported: its result is random");
  CHECK(text.find("second") == std::string::npos);
}
