// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compound operators, such as Einsum and ONNX Runtime's own: decomposed while shapes are inferred.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fold.hpp"
#include "site.hpp"

namespace ago::onnx {

/// The prefix of the names of ONNX Runtime's operators.
inline constexpr std::string_view microsoft = "com.microsoft.";

/// Whether an operator of this type, of any domain, is decomposed.
bool expands(std::string_view type);

/// The operations that compute `op`, operands first; values between them are added to the graph. The shapes of the
/// operands, and their values where needed, must be known. Throws a fault for unsupported cases, and if its constants
/// exceed `budget`.
std::vector<operation> expanded(model& graph, operation const& op, fold_budget& budget);

/// The operations that one operation is decomposed into.
class parts_of_operation {
 public:
  parts_of_operation(model& graph, operation const& op, fold_budget& budget)
      : graph_(graph), op_(op), s_(graph, op), budget_(budget) {}

  using attributes = std::map<std::string, attribute>;

  site const& what() const { return s_; }
  operation const& op() const { return op_; }
  bool has(std::size_t input) const { return s_.has_input(input); }
  /// An operand of the operation.
  int operand(std::size_t input) const { return has(input) ? op_.inputs[input] : -1; }
  /// A copy, because adding values to the graph moves them.
  extents dims(std::size_t input) const { return s_.dims(input); }

  /// Call this before making a table of these extents: a file of a few bytes can ask for any number of elements.
  void afford(extents const& dims);
  int list(extents numbers);
  /// 0, 1, 2, ... as a table of these extents.
  int numbers(extents dims);
  int constant_of(constant c);
  int number(float x) { return constant_of({.dims = {}, .reals = {x}}); }
  int integer(std::int64_t x) { return constant_of({.type = element::integer, .dims = {}, .integers = {x}}); }

  /// A new value, computed by an operator.
  int make(char const* type, std::vector<int> inputs, attributes more = {});
  int reshape(int x, extents dims) { return make("Reshape", {x, list(std::move(dims))}); }
  int transpose(int x, extents order) { return make("Transpose", {x}, {{"perm", std::move(order)}}); }
  /// The sum over axes, which are removed.
  int sum(int x, extents axes);
  /// Parts along an axis.
  std::vector<int> split(int x, extents sizes, std::int64_t axis = -1);

  /// Output `output` of the operation, made by an operator that may have several outputs.
  void finish(char const* type, std::vector<int> inputs, attributes more = {}, std::vector<std::size_t> outputs = {0});
  /// Whether anything reads an output.
  bool wants(std::size_t output) const { return s_.has_output(output); }
  /// Throws a fault if anything reads an output from `first` on.
  void expect_no_output_from(std::size_t first) const;

  std::vector<operation> take() { return std::move(made_); }

 private:
  int value();

  model& graph_;
  operation const& op_;
  site s_;
  fold_budget& budget_;
  std::vector<operation> made_;
};

namespace expansion {

void einsum(parts_of_operation& p);
void hann_window(parts_of_operation& p);
void hamming_window(parts_of_operation& p);
void blackman_window(parts_of_operation& p);
void mel_weight_matrix(parts_of_operation& p);
void fourier(parts_of_operation& p);
void short_time_fourier(parts_of_operation& p);
void affine_grid(parts_of_operation& p);
void center_crop_pad(parts_of_operation& p);
void cumulative_product(parts_of_operation& p);
void negative_log_likelihood(parts_of_operation& p);
void softmax_cross_entropy(parts_of_operation& p);
void roi_align(parts_of_operation& p);
void deformable_convolution(parts_of_operation& p);
void max_unpool(parts_of_operation& p);
void one_hot(parts_of_operation& p);
void compress(parts_of_operation& p);
void scatter_elements(parts_of_operation& p);
void tensor_scatter(parts_of_operation& p);
void cast_like(parts_of_operation& p);
void is_infinite(parts_of_operation& p);
void is_nan(parts_of_operation& p);
void global_lp_pool(parts_of_operation& p);
void determinant(parts_of_operation& p);
void recurrent_network(parts_of_operation& p);
void gated_recurrent_units(parts_of_operation& p);
void long_short_term_memory(parts_of_operation& p);
void simplified_layer_normalization(parts_of_operation& p);
void bias_gelu(parts_of_operation& p);
void fast_gelu(parts_of_operation& p);
void quick_gelu(parts_of_operation& p);
void gelu(parts_of_operation& p);
void skip_layer_normalization(parts_of_operation& p);
void embedding(parts_of_operation& p);
void fused_matmul(parts_of_operation& p);
void fused_gemm(parts_of_operation& p);
void fused_conv(parts_of_operation& p);
void rotary_embedding(parts_of_operation& p);
void attention(parts_of_operation& p);
void multi_head_attention(parts_of_operation& p);

}  // namespace expansion
}  // namespace ago::onnx
