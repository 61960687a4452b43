// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of ago's graphs that move elements, as index expressions; and all operators by their node.
#pragma once

#include "layers.hpp"

namespace expression_test {

namespace layers {

inline definition movement(ago::node const& n, extents const& in) {
  using ago::op;
  extents const out = extents_of(n.out);
  int const ph = n.win.stride_h, pw = n.win.stride_w;
  return compute("movement", [&](operand x) {
    var i{out[0]}, y{out[1]}, j{out[2]}, c{out[3]};
    affine const at[] = {i, y, j, c};
    auto const copied = [&](affine const& a, affine const& b, affine const& d, affine const& e) {
      return result(i, y, j, c) = (n.kind == op::pad ? padded(x, n.alpha) : x)(a, b, d, e);
    };
    switch (n.kind) {
      case op::slice: {
        auto const index = [&](int d) { return d == n.axis ? n.begin + n.step * at[d] : at[d]; };
        return copied(index(0), index(1), index(2), index(3));
      }
      case op::channel_shuffle: return copied(i, y, j, c % n.groups * (in[3] / n.groups) + c / n.groups);
      case op::reshape: {
        affine const place = ((i * out[1] + y) * out[2] + j) * out[3] + c;
        return copied(place / (in[1] * in[2] * in[3]), place / (in[2] * in[3]) % in[1], place / in[3] % in[2],
                      place % in[3]);
      }
      case op::permute: {
        affine from[4];
        for (int k = 0; k < 4; ++k) from[n.order[k]] = at[k];
        return copied(from[0], from[1], from[2], from[3]);
      }
      case op::unfold: {
        int const columns = in[2] / pw;
        return copied(i / (ph * pw), j / columns * ph + i / pw % ph, j % columns * pw + i % pw, c);
      }
      case op::fold:
        return copied(i * (ph * pw) + y % ph * pw + j % pw, 0, y / ph * (out[2] / pw) + j / pw, c);
      case op::pad: return copied(i, y - n.win.pad_top, j - n.win.pad_left, c - n.begin);
      case op::expand: {
        auto const index = [&](int d) { return in[d] == 1 ? affine(0) : at[d]; };
        return copied(index(0), index(1), index(2), index(3));
      }
      case op::to_nchw: return result(i, c, y, j) = x(i, y, j, c);
      case op::resize_nearest: return copied(i, in[1] * y / out[1], in[2] * j / out[2], c);
      default: return copied(i, y, j, c);
    }
  })(in);
}

/// The operand is stored as images, channels, rows, columns.
inline definition from_nchw(extents const& in) {
  return compute("from_nchw", [](operand x) {
    var i, y, j, c;
    return result(i, y, j, c) = x(i, c, y, j);
  })(extents(in[0], in[3], in[1], in[2]));
}

inline definition concat(ago::node const& n, std::vector<extents> const& in) {
  auto const joined = [&](auto... parts) {
    operand const all[] = {parts...};
    extents const out = extents_of(n.out);
    var v[4]{var(out[0]), var(out[1]), var(out[2]), var(out[3])};
    int first = out[n.axis];
    scalar element = 0;
    for (int k = int(sizeof...(parts)); k-- > 0;) {
      first -= in[std::size_t(k)][n.axis];
      auto const at = [&](int d) { return d == n.axis ? v[d] - first : affine(v[d]); };
      scalar const part = padded(all[k], 0)(at(0), at(1), at(2), at(3));
      int const end = first + in[std::size_t(k)][n.axis];
      element = k + 1 == int(sizeof...(parts)) ? part : select(v[n.axis] < end, part, element);
    }
    return result(v[0], v[1], v[2], v[3]) = element;
  };
  if (in.size() == 1) return compute("concat", [&](operand a) { return joined(a); })(in[0]);
  return compute("concat", [&](operand a, operand b) { return joined(a, b); })(in[0], in[1]);
}

inline described embedding(ago::node const& n, extents const& in) {
  described r{{}, {n.weight}};
  r.as = compute("embedding", [&](operand row, weights parameter) {
    operand const table = parameter("table", n.entries, n.out.c);
    var i, y, j, c;
    return result(i, y, j, c) = table(row(i, y, j, 0), c);
  })(in);
  return r;
}

}  // namespace layers

/// The operator of a node, whose operands have the extents `in`. Nothing if it has no index expression, or needs a
/// user's function.
inline std::optional<described> description_of(ago::node const& n, std::vector<extents> const& in) {
  using ago::op;
  using ago::op_class;
  switch (class_of(n.kind)) {
    case op_class::input:
    case op_class::constant:
    case op_class::contraction:  // these hold an expression
    case op_class::nest: return {};
    case op_class::convolution:
    case op_class::matrix_product: return layers::convolution(n, in[0]);
    case op_class::value_product:
      if (n.kind == op::matmul) return described{layers::matmul(n, in[0], in[1]), {}};
      if (n.kind == op::attention_scores) return described{layers::attention_scores(n, in[0], in[1]), {}};
      return described{layers::attention_values(n, in[0], in[1]), {}};
    case op_class::parametric: return layers::parametric(n, in[0]);
    case op_class::function:
      if (n.kind == op::map) return {};
      [[fallthrough]];
    case op_class::arithmetic:
    case op_class::identity: return described{layers::unary(n, in[0]), {}};
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power: return described{layers::binary(n, in[0], in[1]), {}};
    case op_class::window_pool:
    case op_class::global_pool: return described{layers::pool(n, in[0]), {}};
    case op_class::norm:
      return n.kind == op::softmax ? described{layers::softmax(in[0]), {}} : layers::layer_norm(n, in[0]);
    case op_class::reduction:
      if (n.kind == op::arg_max) return {};  // its result is an index
      return described{layers::reduction(n, in[0]), {}};
    case op_class::layout:
      if (n.kind == op::from_nchw) return described{layers::from_nchw(in[0]), {}};
      return described{layers::movement(n, in[0]), {}};
    case op_class::resize:  // other ways of sampling compute positions in floating point
      if (n.kind != op::resize_nearest || n.begin % 2 != 0 || n.begin > 2 || n.step > 1) return {};
      return described{layers::movement(n, in[0]), {}};
    case op_class::movement:
    case op_class::pad:
    case op_class::expand: return described{layers::movement(n, in[0]), {}};
    case op_class::concat:
      if (in.size() > 2) return {};  // likewise, with more operands
      return described{layers::concat(n, in), {}};
    case op_class::embedding: return layers::embedding(n, in[0]);
  }
  ago::detail::no_case_for_this_value();
}

}  // namespace expression_test
