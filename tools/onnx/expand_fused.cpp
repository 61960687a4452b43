// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX Runtime's own operators except attention: what its optimizer fused is decomposed again.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

using attributes = parts_of_operation::attributes;

attribute epsilon_of(parts_of_operation const& p, float otherwise) { return p.what().real("epsilon", otherwise); }

/// A sum with an optional operand.
int plus(parts_of_operation& p, int x, std::size_t input) {
  return p.has(input) ? p.make("Add", {x, p.operand(input)}) : x;
}

/// The activation at the end of a fused operator, with its parameters.
void activated(parts_of_operation& p, int x, std::string const& name, std::vector<float> const& numbers) {
  auto const number = [&](std::size_t i, float otherwise) { return i < numbers.size() ? numbers[i] : otherwise; };
  if (name.empty()) return p.finish("Identity", {x});
  if (name == "Relu" || name == "Sigmoid" || name == "Tanh") return p.finish(name.c_str(), {x});
  if (name == "LeakyRelu") return p.finish("LeakyRelu", {x}, {{"alpha", number(0, 0.01f)}});
  if (name == "HardSigmoid") {
    return p.finish("HardSigmoid", {x}, {{"alpha", number(0, 0.2f)}, {"beta", number(1, 0.5f)}});
  }
  if (name != "Clip" || numbers.size() != 2) throw fault{"activation", "\"" + name + "\" is not supported"};
  p.finish("Min", {p.make("Max", {x, p.number(numbers[0])}), p.number(numbers[1])});
}

}  // namespace

void gelu(parts_of_operation& p) { p.finish("Gelu", {p.operand(0)}); }

void bias_gelu(parts_of_operation& p) { p.finish("Gelu", {plus(p, p.operand(0), 1)}); }

void fast_gelu(parts_of_operation& p) {
  p.finish("Gelu", {plus(p, p.operand(0), 1)}, {{"approximate", std::string("tanh")}});
}

void quick_gelu(parts_of_operation& p) {
  p.finish("Swish", {p.operand(0)}, {{"alpha", p.what().real("alpha", 1.702f)}});
}

void simplified_layer_normalization(parts_of_operation& p) {
  p.expect_no_output_from(1);
  p.finish("RMSNormalization", {p.operand(0), p.operand(1)},
           {{"axis", p.what().integer("axis", -1)}, {"epsilon", epsilon_of(p, 1e-5f)}});
}

/// The norm of the sum of two values, and the sum.
void skip_layer_normalization(parts_of_operation& p) {
  bool const simplified = p.what().type() == "com.microsoft.SkipSimplifiedLayerNormalization";
  std::size_t const bias = simplified ? 3 : 4;
  if (p.wants(1) || p.wants(2)) throw fault{"", "its mean and deviation are not supported"};
  int sum = p.make("Add", {p.operand(0), p.operand(1)});
  sum = plus(p, sum, bias);
  if (p.wants(3)) p.finish("Identity", {sum}, {}, {3});
  attributes const more{{"epsilon", epsilon_of(p, simplified ? 1e-5f : 1e-12f)}};
  if (!p.wants(0)) return;
  if (simplified) return p.finish("RMSNormalization", {sum, p.operand(2)}, more);
  std::vector<int> inputs{sum, p.operand(2)};
  if (p.has(3)) inputs.push_back(p.operand(3));
  p.finish("LayerNormalization", inputs, more);
}

/// Embeddings of words, positions and segments: looked up, added and normalised.
void embedding(parts_of_operation& p) {
  enum { words, segments, word_table, position_table, segment_table, gamma, beta, mask, positions };
  p.expect_no_output_from(3);
  extents const dims = p.dims(words);
  if (dims.size() != 2) throw fault{"input_ids", "it has the shape " + text_of(dims) + ", expected sequences of words"};
  int places = p.operand(positions);
  p.afford(dims);
  if (places < 0) places = p.numbers({dims[1]});
  int sum = p.make("Add", {p.make("Gather", {p.operand(word_table), p.operand(words)}),
                           p.make("Gather", {p.operand(position_table), places})});
  if (p.has(segments)) sum = p.make("Add", {sum, p.make("Gather", {p.operand(segment_table), p.operand(segments)})});
  if (p.wants(2)) p.finish("Identity", {sum}, {}, {2});
  if (p.wants(0)) {
    p.finish("LayerNormalization", {sum, p.operand(gamma), p.operand(beta)}, {{"epsilon", epsilon_of(p, 1e-12f)}});
  }
  if (!p.wants(1)) return;
  // The number of words that the mask of ones and zeros admits in each sequence; 0 without a mask.
  auto const integers = [&](std::int64_t count, std::int64_t number) {
    return p.list(extents(static_cast<std::size_t>(count), number));
  };
  if (p.has(mask)) p.finish("MatMul", {p.operand(mask), integers(dims[1], 1)}, {}, {1});
  else p.finish("Identity", {integers(dims[0], 0)}, {}, {1});
}

void fused_matmul(parts_of_operation& p) {
  int operands[2];
  for (std::size_t i : {0, 1}) {
    std::size_t const rank = p.what().rank(i);
    bool const turned = p.what().flag(i == 0 ? "transA" : "transB", false);
    bool const batch_turned = p.what().flag(i == 0 ? "transBatchA" : "transBatchB", false);
    extents order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (rank >= 2 && batch_turned) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    if (rank >= 2 && turned) std::swap(order[rank - 1], order[rank - 2]);
    operands[i] = std::is_sorted(order.begin(), order.end()) ? p.operand(i) : p.transpose(p.operand(i), order);
  }
  float const alpha = p.what().real("alpha", 1);
  if (alpha == 1) return p.finish("MatMul", {operands[0], operands[1]});
  p.finish("Mul", {p.make("MatMul", {operands[0], operands[1]}), p.number(alpha)});
}

void fused_gemm(parts_of_operation& p) {
  attributes more;
  for (char const* name : {"alpha", "beta", "transA", "transB"}) {
    if (attribute const* a = p.what().find(name)) more[name] = *a;
  }
  std::vector<int> inputs{p.operand(0), p.operand(1)};
  if (p.has(2)) inputs.push_back(p.operand(2));
  std::string const name = p.what().text("activation", "");
  std::vector<float> numbers;
  if (name == "LeakyRelu") numbers = {p.what().real("activation_alpha", 0.01f)};
  if (name == "HardSigmoid") {
    numbers = {p.what().real("activation_alpha", 0.2f), p.what().real("activation_beta", 0.5f)};
  }
  activated(p, p.make("Gemm", inputs, more), name, numbers);
}

void fused_conv(parts_of_operation& p) {
  attributes more;
  for (char const* name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}) {
    if (attribute const* a = p.what().find(name)) more[name] = *a;
  }
  std::vector<int> inputs{p.operand(0), p.operand(1)};
  if (p.has(2)) inputs.push_back(p.operand(2));
  std::vector<float> numbers;
  if (attribute const* a = p.what().find("activation_params")) {
    auto const* list = std::get_if<std::vector<float>>(a);
    if (!list) throw fault{"activation_params", "it is not a list of floats"};
    numbers = *list;
  }
  activated(p, plus(p, p.make("Conv", inputs, more), 3), p.what().text("activation", ""), numbers);
}

/// ONNX's operator has its operands in another order, and positions for each token.
void rotary_embedding(parts_of_operation& p) {
  auto const& s = p.what();
  if (s.real("scale", 1) != 1 || s.flag("is_packed_batching", false)) {
    throw fault{"", "a scale and packed sequences are not supported"};
  }
  constant const places = s.known(1, "position_ids");
  if (places.type != element::integer) throw fault{"position_ids", "they are not integers"};
  bool const flat = s.rank(0) == 3;
  if (!flat && s.rank(0) != 4) throw fault{"", "its input has the shape " + text_of(s.dims(0))};
  std::int64_t const batch = s.dims(0)[0], tokens = s.dims(0)[flat ? 1 : 2];
  constant numbers = places;
  if (places.integers.size() == 1 && places.dims.size() < 2) {  // the first token's
    numbers = {.type = element::integer, .dims = {batch, tokens}};
    p.afford(numbers.dims);
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t t = 0; t < tokens; ++t) numbers.integers.push_back(places.integers[0] + t);
    }
  }
  attributes more{{"interleaved", s.integer("interleaved", 0)}};
  std::int64_t const rotary = s.integer("rotary_embedding_dim", 0);
  if (rotary > 0) more["rotary_embedding_dim"] = rotary;
  if (flat) {
    std::int64_t heads = s.integer("num_heads", 0);
    if (heads == 0 && rotary == 0 && s.rank(2) == 2 && s.dims(2)[1] > 0) heads = s.dims(0)[2] / (2 * s.dims(2)[1]);
    more["num_heads"] = heads;
  }
  p.finish("RotaryEmbedding", {p.operand(0), p.operand(2), p.operand(3), p.constant_of(std::move(numbers))}, more);
}

}  // namespace ago::onnx::expansion
