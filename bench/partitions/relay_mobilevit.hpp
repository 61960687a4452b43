// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileViT as TVM's Relay imports it from PyTorch: compound operators opened, a node for every call.
#pragma once

#include <ago/partition/pattern.hpp>

#include <algorithm>
#include <vector>

namespace bench {

/// Widths of a MobileViT (Mehta, Rastegari: MobileViT, ICLR 2022); `size`: side of the image in pixels.
struct mobilevit_shape {
  int size;
  int stem, first, second, last;  ///< channels
  struct stage {
    int channels, tokens, hidden, layers;
  } stages[3];
};
inline constexpr mobilevit_shape mobilevit_s_224{224, 16,  32,
                                                 64,  640, {{96, 144, 288, 2}, {128, 192, 384, 4}, {160, 240, 480, 3}}};

using relay_graph = ago::partition::pattern_graph<704, 832>;

/// Appends operators, each with its pattern, the extents of its result, and its loops.
class relay_builder {
 public:
  using extents = std::vector<int>;

  explicit relay_builder(ago::partition::weight_constants constants) : constants_(constants) {}
  relay_graph const& graph() const { return g_; }

  int elementwise(int x) { return add(ago::partition::pattern::elementwise, shape(x), shape(x), {x}); }
  /// Addition of a constant.
  int plus(int x) { return add(ago::partition::pattern::broadcast, shape(x), shape(x), {x}, 1); }
  /// An operator on two values; the first has the shape of the result.
  int broadcast(int x, int y) { return add(ago::partition::pattern::broadcast, shape(x), shape(x), {x, y}); }
  int move(int x, extents result) { return add(ago::partition::pattern::injective, result, result, {x}); }
  int reduce(int x, extents result) {
    return add(ago::partition::pattern::reduction, std::move(result), shape(x), {x});
  }
  int silu(int x) { return broadcast(x, elementwise(x)); }

  /// NCHW; x < 0: the network's input, with `in` channels and pixels.
  int convolution(int x, extents const& in, int out, int kernel, int stride, bool depthwise) {
    extents const result{1, out, in[2] / stride, in[3] / stride};
    extents loops{1, out, result[2], result[3], in[1], kernel, kernel};
    if (depthwise) loops.erase(loops.begin() + 4);
    return add(ago::partition::pattern::fusable_out, result, loops, x < 0 ? extents{} : extents{x}, 1);
  }
  /// The folded batch norm leaves a bias.
  int conv_norm(int x, int out, int kernel = 1, int stride = 1, bool depthwise = false) {
    return plus(convolution(x, shape(x), out, kernel, stride, depthwise));
  }
  /// Applied to the last dimension, after folding the others into one.
  int linear(int x, int out) {
    extents result = shape(x);
    int const in = result.back(), rows = count(x) / in;
    int const flat = move(x, {rows, in});
    int const y = add(ago::partition::pattern::fusable_out, {rows, out}, {rows, out, in}, {flat}, 1);
    result.back() = out;
    return plus(move(y, result));
  }
  int classify(int x, int out) {
    return plus(add(ago::partition::pattern::fusable_out, {1, out}, {1, out, count(x)}, {x}, 1));
  }
  /// A product of batches of matrices with any number of dimensions. The operator takes the second one transposed.
  int matmul(int x, int y) {
    extents result = shape(x);
    int const k = shape(x).back(), n = shape(y).back(), m = shape(x)[shape(x).size() - 2], b = count(x) / (m * k);
    int const l = move(x, {b, m, k}), r = move(move(y, {b, k, n}), {b, n, k});
    result.back() = n;
    return move(add(ago::partition::pattern::fusable_out, {b, m, n}, {b, m, n, k}, {l, r}), result);
  }
  int layer_norm(int x) {
    extents rows = shape(x);
    rows.back() = 1;
    int const mean = reduce(x, rows), variance = add(ago::partition::pattern::reduction, rows, shape(x), {x, mean});
    int const deviation = elementwise(plus(variance));
    return plus(plus(broadcast(broadcast(x, mean), deviation)));
  }
  int softmax(int x) { return add(ago::partition::pattern::opaque, shape(x), shape(x), {x}); }
  int concat(int x, int y) {
    extents result = shape(x);
    result[1] += shape(y)[1];
    int const v = add(ago::partition::pattern::injective, result, result, {x, y});
    g_.tuple[v] = true;
    return v;
  }

  int transformer(int x, int hidden) {
    int const places = shape(x)[0], n = shape(x)[1], c = shape(x)[2], heads = 4, d = c / heads;
    int const qkv = move(move(linear(layer_norm(x), 3 * c), {places, n, 3, heads, d}), {places, heads, 3, n, d});
    int const q = move(qkv, {places, heads, n, d}), k = move(qkv, {places, heads, n, d});
    int const v = move(qkv, {places, heads, n, d});
    int const scores = matmul(plus(q), move(k, {places, heads, d, n}));
    int const mixed = matmul(softmax(scores), v);
    int const joined = move(move(mixed, {places, n, heads, d}), {places, n, c});
    int const y = broadcast(x, linear(joined, c));
    return broadcast(y, linear(silu(linear(layer_norm(y), hidden)), c));
  }

  int inverted_residual(int x, int out, int stride) {
    int const wide = 4 * shape(x)[1];
    int const y = silu(conv_norm(silu(conv_norm(x, wide)), wide, 3, stride, true)), z = conv_norm(y, out);
    return stride == 1 && shape(x) == shape(z) ? broadcast(x, z) : z;
  }

  int mobilevit_block(int x, mobilevit_shape::stage const& s) {
    int const c = shape(x)[1], d = s.tokens, odd = shape(x)[2] % 2;  // patches of 2x2 need an even number of pixels
    int const h = shape(x)[2] + odd, w = shape(x)[3] + odd, n = h * w / 4;
    int const local = silu(conv_norm(x, c, 3));
    int y = convolution(local, shape(local), d, 1, 1, false);
    if (odd) y = move(y, {1, d, h, w});
    y = move(move(move(y, {d * h / 2, 2, w / 2, 2}), {d * h / 2, w / 2, 2, 2}), {1, d, n, 4});
    y = move(move(y, {1, 4, n, d}), {4, n, d});
    for (int i = 0; i < s.layers; ++i) y = transformer(y, s.hidden);
    y = move(move(move(layer_norm(y), {1, 4, n, d}), {1, d, n, 4}), {d * h / 2, w / 2, 2, 2});
    y = move(move(y, {d * h / 2, 2, w / 2, 2}), {1, d, h, w});
    if (odd) y = move(y, {1, d, h - 1, w - 1});
    return silu(conv_norm(concat(x, silu(conv_norm(y, c))), c, 3));
  }

 private:
  extents const& shape(int v) const { return shape_[std::size_t(v)]; }
  int count(int v) const {
    int n = 1;
    for (int e : shape(v)) n *= e;
    return n;
  }

  int add(ago::partition::pattern kind, extents result, extents const& loops, extents const& operands,
          int constants = 0) {
    auto& d = g_.operators;
    int const v = d.count, begin = d.first[v];
    d.weight[v] = ago::partition::weight_of(loops.data(), int(loops.size()), constants_);
    d.complex[v] = kind == ago::partition::pattern::fusable_out;
    g_.kind[v] = kind;
    g_.constants[v] = constants;
    d.first[v + 1] = begin;
    for (int u : operands) {
      bool const same = kind == ago::partition::pattern::broadcast && shape(u) == result;
      g_.edge[d.first[v + 1]] = same ? ago::partition::pattern::elementwise : kind;
      d.source[d.first[v + 1]++] = u;
    }
    shape_.push_back(std::move(result));
    return d.count++;
  }

  ago::partition::weight_constants constants_;
  relay_graph g_{};
  std::vector<extents> shape_;
};

/// The operators of a whole MobileViT.
inline relay_graph relay_mobilevit(mobilevit_shape const& s, ago::partition::weight_constants constants = {}) {
  relay_builder b(constants);
  int x = b.silu(b.plus(b.convolution(-1, {1, 3, s.size, s.size}, s.stem, 3, 2, false)));
  x = b.inverted_residual(x, s.first, 1);
  for (int i = 0; i < 3; ++i) x = b.inverted_residual(x, s.second, i == 0 ? 2 : 1);
  for (auto const& stage : s.stages) x = b.mobilevit_block(b.inverted_residual(x, stage.channels, 2), stage);
  x = b.silu(b.conv_norm(x, s.last));
  b.classify(b.reduce(x, {1, s.last}), 1000);
  return b.graph();
}

}  // namespace bench
