// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX Runtime's attention, as matrix products with a softmax between them: the form in which PyTorch exports it.
#include <cmath>

#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

/// Queries, keys and values, each [batch, tokens, width].
struct projected {
  int q, k, v;
  std::int64_t batch, queries, keys, width, value_width;
};

/// Numbers of one element for each head.
std::int64_t heads_of(parts_of_operation const& p, projected const& x) {
  std::int64_t const heads = p.what().integer("num_heads", 0);
  if (heads < 1 || x.width % heads != 0 || x.value_width % heads != 0) {
    throw fault{"num_heads", std::to_string(heads) + " heads for " + std::to_string(x.width) + " channels"};
  }
  return heads;
}

/// 0 where a query may look, `mask_filter_value` where it may not; the dims fit [batch, heads, queries, keys]. -1:
/// there is no such operand.
int padding_mask(parts_of_operation& p, std::size_t input, projected const& x, float hidden) {
  if (!p.has(input)) return -1;
  extents const dims = p.dims(input);
  auto const real = [&](int v) { return p.make("Cast", {v}, {{"to", std::int64_t{1}}}); };
  int sees = -1;  // 1 or 0
  if (dims == extents{x.batch, x.keys}) {
    sees = p.reshape(real(p.operand(input)), {x.batch, 1, 1, x.keys});
  } else if (dims == extents{x.batch, x.queries, x.keys}) {
    sees = p.reshape(real(p.operand(input)), {x.batch, 1, x.queries, x.keys});
  } else if (dims == extents{x.batch}) {
    p.afford({x.keys});
    constant places{.dims = {x.keys}};
    for (std::int64_t i = 0; i < x.keys; ++i) places.reals.push_back(static_cast<float>(i));
    int const lengths = p.reshape(real(p.operand(input)), {x.batch, 1, 1, 1});
    sees = real(p.make("Less", {p.constant_of(std::move(places)), lengths}));
  } else {
    throw fault{"", "a mask of the shape " + text_of(dims) + " is not supported"};
  }
  return p.make("Mul", {p.make("Sub", {p.number(1), sees}), p.number(hidden)});
}

/// The same for later keys (causal attention), which is a constant.
int causal_mask(parts_of_operation& p, projected const& x, float hidden) {
  p.afford({x.queries, x.keys});
  constant mask{.dims = {x.queries, x.keys}};
  for (std::int64_t i = 0; i < x.queries; ++i) {
    for (std::int64_t k = 0; k < x.keys; ++k) mask.reals.push_back(k > i + x.keys - x.queries ? hidden : 0.0f);
  }
  return p.constant_of(std::move(mask));
}

void attend(parts_of_operation& p, projected const& x, std::size_t mask, std::size_t added) {
  std::int64_t const heads = heads_of(p, x), depth = x.width / heads;
  float scale = p.what().real("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<float>(depth));
  float const hidden = p.what().real("mask_filter_value", -10000.0f);
  auto const by_heads = [&](int v, std::int64_t tokens, std::int64_t width, extents order) {
    return p.transpose(p.reshape(v, {x.batch, tokens, heads, width / heads}), std::move(order));
  };
  int const q = by_heads(x.q, x.queries, x.width, {0, 2, 1, 3}), k = by_heads(x.k, x.keys, x.width, {0, 2, 3, 1});
  int const v = by_heads(x.v, x.keys, x.value_width, {0, 2, 1, 3});
  int scores = p.make("Mul", {p.make("MatMul", {q, k}), p.number(scale)});
  if (p.has(added)) scores = p.make("Add", {scores, p.operand(added)});
  if (int const m = padding_mask(p, mask, x, hidden); m >= 0) scores = p.make("Add", {scores, m});
  if (p.what().flag("unidirectional", false)) {
    // As in ONNX Runtime, later keys contribute nothing, whatever the value for masks.
    scores = p.make("Add", {scores, causal_mask(p, x, -1e30f)});
  }
  int const weights = p.make("Softmax", {scores}, {{"axis", std::int64_t{3}}});
  int const y = p.transpose(p.make("MatMul", {weights, v}), {0, 2, 1, 3});
  p.finish("Reshape", {y, p.list({x.batch, x.queries, x.value_width})});
}

void refuse(parts_of_operation const& p, std::size_t input, char const* what) {
  if (p.has(input)) throw fault{"", std::string(what) + " is not supported"};
}

}  // namespace

void attention(parts_of_operation& p) {
  enum { input, weights, bias, mask, past, added, past_length };
  auto const& s = p.what();
  refuse(p, past, "a past");
  refuse(p, past_length, "a past");
  p.expect_no_output_from(1);
  if (s.flag("do_rotary", false)) throw fault{"do_rotary", "it is not supported"};
  if (s.rank(input) != 3 || s.rank(weights) != 2 || s.dims(weights)[0] != s.dims(input)[2]) {
    throw fault{"", "inputs of " + text_of(s.dims(input)) + " and weights of " + text_of(s.dims(weights)) +
                        " do not fit together"};
  }
  std::int64_t const all = s.dims(weights)[1];
  extents const sizes = s.integers("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
  bool const fits = sizes.size() == 3 && sizes[0] == sizes[1] && sizes[0] > 0 && sizes[2] > 0 && sizes[0] <= all &&
                    sizes[2] <= all && 2 * sizes[0] + sizes[2] == all;
  if (!fits) throw fault{"qkv_hidden_sizes", text_of(sizes) + " of " + std::to_string(all) + " channels"};
  std::int64_t const batch = s.dims(input)[0], tokens = s.dims(input)[1];
  int y = p.make("MatMul", {p.operand(input), p.operand(weights)});
  if (p.has(bias)) y = p.make("Add", {y, p.operand(bias)});
  auto const parts = p.split(y, sizes);
  attend(p, {parts[0], parts[1], parts[2], batch, tokens, tokens, sizes[0], sizes[2]}, mask, added);
}

void multi_head_attention(parts_of_operation& p) {
  enum { query, key, value, bias, mask, added, past_key, past_value };
  auto const& s = p.what();
  for (std::size_t i = past_key; i < p.op().inputs.size(); ++i) refuse(p, i, "a past");
  p.expect_no_output_from(1);
  if (!p.has(key) || !p.has(value) || s.rank(query) != 3 || s.rank(key) != 3 || s.rank(value) != 3) {
    throw fault{"", "queries, keys and values that are not three tensors of three axes are not supported"};
  }
  extents const q = p.dims(query), k = p.dims(key), v = p.dims(value);
  if (q[0] != k[0] || q[2] != k[2] || k[0] != v[0] || k[1] != v[1]) {
    throw fault{"", "queries of " + text_of(q) + ", keys of " + text_of(k) + " and values of " + text_of(v) +
                        " do not fit together"};
  }
  projected x{p.operand(query), p.operand(key), p.operand(value), q[0], q[1], k[1], q[2], v[2]};
  if (p.has(bias)) {
    if (s.dims(bias) != extents{2 * q[2] + v[2]}) throw fault{"bias", "it has the shape " + text_of(s.dims(bias))};
    auto const parts = p.split(p.operand(bias), {q[2], q[2], v[2]});
    x.q = p.make("Add", {x.q, parts[0]});
    x.k = p.make("Add", {x.k, parts[1]});
    x.v = p.make("Add", {x.v, parts[2]});
  }
  attend(p, x, mask, added);
}

}  // namespace ago::onnx::expansion
