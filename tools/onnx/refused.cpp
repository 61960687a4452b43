// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "refused.hpp"

#include "error.hpp"
#include "words.hpp"

namespace ago::onnx {
namespace {

struct refusal {
  std::string_view types, why;
};

constexpr refusal refusals[] = {
    {"Loop Scan", "it repeats a graph"},
    {"ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
     "SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence",
     "sequences and optional values have no fixed shape"},
    {"NonMaxSuppression NonZero Unique", "the shape of its result depends on values"},
    {"MaxRoiPool", "the sizes of its windows depend on values"},
    {"RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer", "it works on text"},
    {"ImageDecoder", "it decodes files"},
    {"BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor",
     "it works on bits of integers, which are floats here"},
    {"Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike", "its result is random"},
    {"ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul QuantizeLinear",
     "it works on quantised numbers"},
};

}  // namespace

std::string refusal_of(std::string_view type) {
  std::string text = unsupported_operator;
  for (refusal const& r : refusals) {
    if (lists(r.types, type)) text.append(": ").append(r.why);
  }
  return text;
}

}  // namespace ago::onnx
