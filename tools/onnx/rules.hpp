// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The supported operators: since when they exist, their operands, and how to infer the shapes of their outputs.
#pragma once

#include <span>
#include <string_view>

#include "site.hpp"

namespace ago::onnx {

struct rule {
  std::string_view type;
  int since, until;             ///< operator sets; until 0: to the newest
  std::size_t fewest, most;     ///< inputs
  std::string_view attributes;  ///< separated by blanks
  void (*shape)(site&);         ///< null for operators that are decomposed first
};

/// All of them, except for the reductions that share one rule.
std::span<rule const> all_rules();

/// Whether operators of this type are known in some operator set.
bool is_known(std::string_view type);

/// The rule for an operator in an operator set. Throws a fault if there is none.
rule const& rule_for(std::string_view type, std::int64_t opset);

/// The rule for an operation, after checking the number of its inputs and the names of its attributes. Throws a
/// fault.
rule const& checked_rule(operation const& op, std::int64_t opset);

// The rules, by kind.
namespace shapes {

void same(site& s);         ///< output 0 is like input 0
void truth(site& s);        ///< the same, but integers
void elementwise(site& s);  ///< all inputs broadcast together
void comparison(site& s);   ///< the same, integers
void where(site& s);
void prelu(site& s);
void clip(site& s);
void cast(site& s);
void along_axis(site& s);  ///< like input 0; checks the axis
void dropout(site& s);
void batch_normalization(site& s);
void channel_normalization(site& s);  ///< instance and group normalization
void layer_normalization(site& s);
void local_response(site& s);
void mean_variance(site& s);
void cumulative(site& s);
void dequantize(site& s);
void quantize(site& s);

void convolution(site& s);
void transposed_convolution(site& s);
void pooling(site& s);
void global_pooling(site& s);

void matmul(site& s);
void gemm(site& s);
void attention(site& s);
void rotary_embedding(site& s);

void constant_node(site& s);
void constant_of_shape(site& s);
void shape(site& s);
void size(site& s);
void range(site& s);
void eye_like(site& s);
void nonzero(site& s);

void reshape(site& s);
void flatten(site& s);
void squeeze(site& s);
void unsqueeze(site& s);
void transpose(site& s);
void concat(site& s);
void split(site& s);
void slice(site& s);
void pad(site& s);
void tile(site& s);
void expand(site& s);
void depth_to_space(site& s);
void space_to_depth(site& s);
void trilu(site& s);

void gather(site& s);
void gather_elements(site& s);
void gather_nd(site& s);
void reverse_sequence(site& s);
void grid_sample(site& s);
void col2im(site& s);
void scatter_nd(site& s);

void reduce(site& s);
void arg_reduce(site& s);
void top_k(site& s);

void resize(site& s);
void upsample(site& s);

}  // namespace shapes
}  // namespace ago::onnx
