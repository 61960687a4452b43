// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of ago's graphs as index expressions: those that are.
#pragma once

#include <ago/expression/notation.hpp>
#include <ago/graph/graph.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace expression_test {

using namespace ago::expression;

/// An operator as a definition, and where its parameters are: for each, the offset among the graph's parameters.
struct described {
  definition as;
  std::vector<int> parameters;
};

inline extents extents_of(ago::shape const& s) { return extents(s.n, s.h, s.w, s.c); }

namespace layers {

/// The formula of an activation.
inline scalar activation(ago::node const& n, scalar const& x) {
  using ago::op;
  auto const clip = [](scalar const& v, double lower, double upper) { return minimum(maximum(v, lower), upper); };
  switch (n.kind) {
    case op::relu: return maximum(x, 0);
    case op::relu6: return clip(x, 0, 6);
    case op::leaky_relu: return select(x < 0, x * n.alpha, x);
    case op::clip: return clip(x, n.alpha, n.beta);
    case op::hard_sigmoid: return clip(x / 6 + .5, 0, 1);
    case op::hard_swish: return x * clip(x / 6 + .5, 0, 1);
    case op::sigmoid: return sigmoid(x);
    case op::silu: return x * sigmoid(x);
    case op::gelu: return .5 * x * (1 + erf(x * .7071067811865476));
    case op::gelu_tanh: return .5 * x * (1 + tanh(.7978845608028654 * (x + .044715 * x * x * x)));
    default: return tanh(x);
  }
}

inline scalar combined(ago::node const& n, scalar a, scalar b) {
  using ago::op;
  if (n.transposed) std::swap(a, b);
  switch (n.kind) {
    case op::add: return a + b;
    case op::mul: return a * b;
    case op::sub: return a - b;
    case op::div: return a / b;
    case op::maximum: return maximum(a, b);
    case op::minimum: return minimum(a, b);
    case op::less: return a < b;
    default: return pow(a, b);
  }
}

inline definition unary(ago::node const& n, extents const& in) {
  return compute("unary", [&](operand x) {
    var i, y, c, j;
    return result(i, y, j, c) = n.kind == ago::op::identity ? x(i, y, j, c) : activation(n, x(i, y, j, c));
  })(in);
}

inline definition binary(ago::node const& n, extents const& first, extents const& second) {
  return compute("binary", [&](operand a, operand b) {
    var v[4];
    auto const at = [&](operand o, int d) { return o.extent(d) == 1 ? affine(0) : affine(v[d]); };
    return result(v[0], v[1], v[2], v[3]) =
               combined(n, a(v[0], v[1], v[2], v[3]), b(at(b, 0), at(b, 1), at(b, 2), at(b, 3)));
  })(first, second);
}

inline described parametric(ago::node const& n, extents const& in) {
  using ago::op;
  described r;
  int const channels = in[3];
  r.as = compute("parametric", [&](operand x, weights parameter) {
    var i, y, j, c;
    scalar const value = x(i, y, j, c);
    auto const per_channel = [&](char const* name, int offset) {
      r.parameters.push_back(offset);
      return parameter(name)(c);
    };
    auto const defined = [&](scalar const& v) { return result(i, y, j, c) = v; };
    switch (n.kind) {
      case op::bias: return defined(value + per_channel("shift", n.shift));
      case op::scale: return defined(value * per_channel("scale", n.weight));
      case op::positions: r.parameters = {n.weight}; return defined(value + parameter("table")(y, j, c));
      case op::prelu:
        r.parameters = {n.weight};
        return defined(select(value < 0, value * parameter("slope")(n.entries == 1 ? affine(0) : affine(c)), value));
      default: {
        scalar const gamma = per_channel("gamma", n.norm), beta = per_channel("beta", n.norm + channels);
        scalar const mean = per_channel("mean", n.norm + 2 * channels);
        scalar const variance = per_channel("variance", n.norm + 3 * channels);
        return defined((value - mean) * gamma * rsqrt(variance + n.alpha) + beta);
      }
    }
  })(in);
  return r;
}

inline described convolution(ago::node const& n, extents const& in) {
  bool const depthwise = n.kind == ago::op::depthwise, rows = n.kind == ago::op::linear;
  ago::window const& w = n.win;
  bool const pads = w.pad_top || w.pad_left || w.pad_bottom || w.pad_right, windows = !w.is_identity() || depthwise;
  int const groups = depthwise ? n.out.c : n.groups, group_in = in[3] / groups, group_out = n.out.c / groups;
  described r{{}, {n.weight}};
  if (rows) {
    r.as = compute("linear", [&](operand x, weights parameter) {  // rows are the pixels of all images
      operand const weight = parameter("weight", n.out.c, in[3]);
      var m, k, c;
      return result(m, k) = sum(c)(x(m, c) * weight(k, c));
    })(extents(int(n.out.pixels()), in[3]));
    return r;
  }
  r.as = compute("convolution", [&](operand x, weights parameter) {
    operand const weight = parameter("weight", n.out.c, group_in, w.kernel_h, w.kernel_w);
    operand const image = pads ? padded(x, 0) : x;
    var i, y{n.out.h}, j{n.out.w}, k, c, p, q;
    affine const row = w.stride_h * y + w.dilation_h * p - w.pad_top;
    affine const column = w.stride_w * j + w.dilation_w * q - w.pad_left;
    if (!windows && groups == 1) return result(i, y, j, k) = sum(c)(x(i, y, j, c) * weight(k, c, 0, 0));
    if (depthwise) return result(i, y, j, k) = sum(p, q)(image(i, row, column, k) * weight(k, 0, p, q));
    affine const channel = groups == 1 ? affine(c) : k / group_out * group_in + c;
    return result(i, y, j, k) = sum(c, p, q)(image(i, row, column, channel) * weight(k, c, p, q));
  })(in);
  return r;
}

inline definition matmul(ago::node const& n, extents const& first, extents const& second) {
  return compute("matmul", [&](operand a, operand b) {
    var i, y, j, k, m;
    affine const image = second[0] == 1 ? affine(0) : affine(i), row = second[1] == 1 ? affine(0) : affine(y);
    scalar const right = n.transposed ? b(image, row, m, k) : b(image, row, k, m);
    return result(i, y, j, m) = sum(k)(a(i, y, j, k) * right) * n.alpha;
  })(first, second);
}

/// Row and column of token t in sequence s of an image with patches.
inline std::pair<affine, affine> pixel(ago::window const& patch, int width, affine const& t, affine const& s) {
  int const columns = width / patch.stride_w;
  return {t / columns * patch.stride_h + s / patch.stride_w % patch.stride_h,
          t % columns * patch.stride_w + s % patch.stride_w};
}

inline definition attention_scores(ago::node const& n, extents const& first, extents const& second) {
  return compute("attention_scores", [&](operand q, operand k) {
    int const sequences = n.win.stride_h * n.win.stride_w, depth = first[3] / n.groups;
    var s{n.out.n}, head{n.groups}, t{n.out.w}, u{n.out.c}, c{depth};
    auto const [y, x] = pixel(n.win, first[2], t, s);
    auto const [v, w] = pixel(n.win, second[2], u, s);
    return result(s, head, t, u) =
               sum(c)(q(s / sequences, y, x, depth * head + c) * k(s / sequences, v, w, depth * head + c)) * n.alpha;
  })(first, second);
}

inline definition attention_values(ago::node const& n, extents const& first, extents const& second) {
  return compute("attention_values", [&](operand p, operand value) {
    int const ph = n.win.stride_h, pw = n.win.stride_w, columns = n.out.w / pw, others = second[2] / pw;
    var i{n.out.n}, y{n.out.h}, x{n.out.w}, c, u;
    return result(i, y, x, c) = sum(u)(
               p(ph * pw * i + y % ph * pw + x % pw, c / (n.out.c / n.groups), y / ph * columns + x / pw, u) *
               value(i, u / others * ph + y % ph, u % others * pw + x % pw, c));
  })(first, second);
}

inline definition pool(ago::node const& n, extents const& in) {
  using ago::op;
  bool const global = n.kind == op::global_max_pool || n.kind == op::global_avg_pool;
  bool const largest = n.kind == op::max_pool || n.kind == op::global_max_pool;
  ago::window const& w = n.win;
  return compute("pool", [&](operand x) {
    if (global) {
      var i, c, p, q, y{1}, j{1};
      if (largest) return result(i, y, j, c) = maximum(p, q)(x(i, p, q, c));
      return result(i, y, j, c) = sum(p, q)(x(i, p, q, c)) / (double(in[1]) * in[2]);
    }
    bool const pads = w.pad_top || w.pad_left || w.pad_bottom || w.pad_right;
    var i, y{n.out.h}, j{n.out.w}, c, p{w.kernel_h}, q{w.kernel_w};
    affine const row = w.stride_h * y + w.dilation_h * p - w.pad_top;
    affine const column = w.stride_w * j + w.dilation_w * q - w.pad_left;
    if (largest) {
      operand const image = pads ? padded(x, -__builtin_huge_valf()) : x;
      return result(i, y, j, c) = maximum(p, q)(image(i, row, column, c));
    }
    scalar const total = sum(p, q)((pads ? padded(x, 0) : x)(i, row, column, c));
    if (!pads || n.count_pads) return result(i, y, j, c) = total / (double(w.kernel_h) * w.kernel_w);
    scalar const inside =
        select(row >= 0 && row < in[1] && column >= 0 && column < in[2], x.number(1), 0);
    return result(i, y, j, c) = total / sum(p, q)(inside);
  })(in);
}

inline definition reduction(ago::node const& n, extents const& in) {
  using ago::op;
  extents const out = extents_of(n.out);
  return compute("reduction", [&](operand x) {
    var kept[4], one[4]{var(1), var(1), var(1), var(1)};
    bool folds[4];
    fold f{n.kind == op::reduce_max       ? node_kind::maximum_of
           : n.kind == op::reduce_min     ? node_kind::minimum_of
           : n.kind == op::reduce_product ? node_kind::product
                                          : node_kind::sum};
    double count = 1;
    for (int d = 0; d < 4; ++d) {
      folds[d] = out[d] != in[d];
      if (folds[d]) f.over[f.count++] = &kept[d];
      count *= folds[d] ? in[d] : 1;
    }
    auto const at = [&](int d) -> var& { return folds[d] ? one[d] : kept[d]; };
    scalar const folded = f(x(kept[0], kept[1], kept[2], kept[3]));
    return result(at(0), at(1), at(2), at(3)) = n.kind == op::reduce_mean ? folded / count : folded;
  })(in);
}

inline definition softmax(extents const& in) {
  return compute("softmax", [](operand x) {
    var i, y, j, c;
    operand const peak = result(i, y, j) = maximum(c)(x(i, y, j, c));
    operand const e = result(i, y, j, c) = exp(x(i, y, j, c) - peak(i, y, j));
    operand const total = result(i, y, j) = sum(c)(e(i, y, j, c));
    return result(i, y, j, c) = e(i, y, j, c) / total(i, y, j);
  })(in);
}

inline described layer_norm(ago::node const& n, extents const& in) {
  described r{{}, {n.weight, n.shift}};
  r.as = compute("layer_norm", [&](operand x, weights parameter) {
    operand const gamma = parameter("gamma"), beta = parameter("beta");
    var i, y, j, c;
    operand const mean = result(i, y, j) = sum(c)(x(i, y, j, c)) / in[3];
    operand const centred = result(i, y, j, c) = x(i, y, j, c) - mean(i, y, j);
    operand const variance = result(i, y, j) = sum(c)(centred(i, y, j, c) * centred(i, y, j, c)) / in[3];
    return result(i, y, j, c) = centred(i, y, j, c) * rsqrt(variance(i, y, j) + n.alpha) * gamma(c) + beta(c);
  })(in);
  return r;
}

}  // namespace layers

}  // namespace expression_test
