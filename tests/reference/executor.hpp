// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of a graph: every operator as plain loops in double precision, with an estimate of the error of float32
// arithmetic. Shares no code with ago/kernel; written for readability, not for speed.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "activation.hpp"
#include "channel_parameters.hpp"
#include "channels.hpp"
#include "expression.hpp"
#include "graph_view.hpp"
#include "movement.hpp"
#include "pooling.hpp"
#include "products.hpp"
#include "reduction.hpp"
#include "sampling.hpp"

namespace reference {

namespace detail {

class executor {
 public:
  executor(graph_view const& graph, std::span<float const> parameters) : graph_{graph}, parameters_{parameters} {
    if (long(parameters.size()) != graph.parameters) throw std::logic_error("reference: wrong number of parameters");
  }

  std::vector<value> run(std::vector<std::vector<float>> const& inputs) {
    if (int(inputs.size()) != graph_.input_count) throw std::logic_error("reference: wrong number of inputs");
    for (int v = 0; v < graph_.size(); ++v) {
      ago::ir::node const& n = graph_.nodes[std::size_t(v)];
      value out{n.out, {}, {}};
      out.exact.resize(std::size_t(n.out.count()));
      out.error.resize(out.exact.size());
      if (v < graph_.input_count) {
        check(n.kind == ago::op::input, n, "inputs come first");
        check(inputs[std::size_t(v)].size() == out.exact.size(), n, "wrong size");
        std::copy(inputs[std::size_t(v)].begin(), inputs[std::size_t(v)].end(), out.exact.begin());
      } else {
        for (int k = 0; k < n.input_count; ++k) check(graph_.operand(v, k) < v, n, "not in topological order");
        compute(v, n, out);
      }
      values_.push_back(std::move(out));
    }
    return std::move(values_);
  }

 private:
  value const& operand(int v, int k = 0) const { return values_[std::size_t(graph_.operand(v, k))]; }
  double parameter(long i) const { return double(parameters_[std::size_t(i)]); }

  void compute(int v, ago::ir::node const& n, value& out) const {
    using ago::op;
    if (is_expression(n.kind)) return evaluate(v, n, out);
    bool const of_two = is_binary(n.kind) || (is_complex(n.kind) && !has_weights(n.kind));
    check(n.kind == op::concat || n.input_count == (of_two ? 2 : 1), n, "operands");
    if (has_weights(n.kind)) return convolve(n, operand(v), out);
    if (n.kind == op::matmul) return matmul(n, operand(v, 0), operand(v, 1), out);
    if (n.kind == op::attention_scores) return attention_scores(n, operand(v, 0), operand(v, 1), out);
    if (n.kind == op::attention_values) return attention_values(n, operand(v, 0), operand(v, 1), out);
    if (is_binary(n.kind)) return combine(n, operand(v, 0), operand(v, 1), out);
    if (is_pool(n.kind)) return pool(n, operand(v), out);
    if (n.kind == op::concat) return concatenate(v, n, out);
    if (n.kind == op::bias || n.kind == op::batch_norm) return normalise(n, terms_before(v), operand(v), out);
    if (n.kind == op::positions) return add_positions(n, operand(v), out);
    if (n.kind == op::scale || n.kind == op::prelu) return multiply(n, operand(v), out);
    if (n.kind == op::softmax) return softmax(n, operand(v), out);
    if (n.kind == op::layer_norm) return layer_norm(n, parameters_, operand(v), out);
    if (n.kind == op::resize_bilinear) return resize_bilinear(n, operand(v), out);
    if (n.kind == op::arg_max) return arg_max(n, operand(v), out);
    if (is_reduction(n.kind)) return reduce(n, operand(v), out);
    if (n.kind == op::constant) return copy_parameters(n, out);
    if (n.kind == op::embedding) return embedding(n, parameters_, operand(v), out);
    if (n.kind >= op::slice && n.kind <= op::resize_nearest) return move(n, operand(v), out);
    if (n.kind == op::from_nchw || n.kind == op::to_nchw) return transpose(n, operand(v), out);
    check(operand(v).extents == n.out, n, "shape");
    if (n.kind == op::identity) {
      out = operand(v);
    } else {
      unary(n, operand(v), out);
    }
  }

  /// An index expression. Its operands are values, but for that whose elements are parameters.
  void evaluate(int v, ago::ir::node const& n, value& out) const {
    check(n.described->result.count() == n.out.count(), n, "shape");
    value weights;
    std::vector<value const*> operands;
    for (int k = 0, next = 0; k < n.described->operand_count; ++k) {
      if (k != n.weight_operand) {
        operands.push_back(&operand(v, next++));
        check(operands.back()->extents.count() == n.described->operands[k].count(), n, "operand");
        continue;
      }
      for (long i = 0; i < n.described->operands[k].count(); ++i) weights.exact.push_back(parameter(n.weight + i));
      weights.error.resize(weights.exact.size());
      operands.push_back(&weights);
    }
    expression_nodes(*n.described, std::move(operands)).compute(out);
  }

  /// gamma / sqrt(variance + epsilon) of channel c; 1 without a norm.
  double norm_scale(ago::ir::node const& n, int c) const {
    channel_parameters const p = parameters_of(n, c);
    if (p.norm < 0) return 1;
    return parameter(p.norm + p.channel) / std::sqrt(parameter(p.norm + 3L * p.channels + p.channel) + n.alpha);
  }

  /// The weight of output channel o, channel i of its group and tap (ky, kx). The blob's order is
  /// [out][in / groups][kernel_h][kernel_w], but [in][out / groups][...] for transposed convolutions. There, tap j from
  /// the end and phase p correspond to the tap k with k * dilation = j * stride + p, if there is one.
  double weight(ago::ir::node const& n, channel_parameters const& own, int group_in, int group_out, int o, int i,
                int ky, int kx) const {
    ago::ir::scattering const& s = n.scatter;
    long const row = long(own.channel) * group_in + i;
    if (!s.is_used()) return parameter(own.weight + (row * n.win.kernel_h + ky) * n.win.kernel_w + kx);
    int const outputs = group_out / (s.stride_h * s.stride_w), phase = o % group_out / outputs;
    for (int y = 0; y < s.kernel_h; ++y)
      for (int x = 0; x < s.kernel_w; ++x)
        if (y * s.dilation_h == (n.win.kernel_h - 1 - ky) * s.stride_h + phase / s.stride_w &&
            x * s.dilation_w == (n.win.kernel_w - 1 - kx) * s.stride_w + phase % s.stride_w) {
          long const pair = (long(o) / group_out * group_in + i) * outputs + o % group_out % outputs;
          return parameter(n.weight + (pair * s.kernel_h + y) * s.kernel_w + x);
        }
    return 0;
  }

  /// conv2d, depthwise, pointwise and linear have the same formula; weights [out][in / groups][kernel_h][kernel_w].
  void convolve(ago::ir::node const& n, value const& in, value& out) const {
    check_windows(n, in.extents, false);
    check(n.kind == ago::op::conv2d || n.kind == ago::op::depthwise || n.win.is_identity(), n, "has a window");
    check(n.kind != ago::op::depthwise || in.extents.c == n.out.c, n, "channels");
    check(n.kind == ago::op::conv2d || n.groups == 1 || n.kind == ago::op::depthwise, n, "groups");
    int const groups = n.kind == ago::op::depthwise ? n.out.c : n.groups;
    check(n.out.c % groups == 0 && in.extents.c % groups == 0, n, "groups do not divide channels");
    int const group_in = in.extents.c / groups, group_out = n.out.c / groups;
    ago::ir::window const& w = n.win;
    for (int image = 0; image < n.out.n; ++image)
      for (int y = 0; y < n.out.h; ++y)
        for (int x = 0; x < n.out.w; ++x)
          for (int o = 0; o < n.out.c; ++o) {
            double const scale = norm_scale(n, o);
            channel_parameters const own = parameters_of(n, o);
            accumulator acc;
            for (int i = 0; i < group_in; ++i)
              for (int ky = 0; ky < w.kernel_h; ++ky)
                for (int kx = 0; kx < w.kernel_w; ++kx) {
                  int const iy = y * w.stride_h - w.pad_top + ky * w.dilation_h;
                  int const ix = x * w.stride_w - w.pad_left + kx * w.dilation_w;
                  if (iy < 0 || iy >= in.extents.h || ix < 0 || ix >= in.extents.w) continue;
                  long const from = in.index(image, iy, ix, o / group_out * group_in + i);
                  acc.add(weight(n, own, group_in, group_out, o, i, ky, kx) * scale, in.exact[std::size_t(from)],
                          in.error[std::size_t(from)]);
                }
            auto const to = std::size_t(out.index(image, y, x, o));
            out.exact[to] = acc.sum;
            out.error[to] = acc.error();
          }
  }

  /// Length of the dot product whose first term may be node v's shift; 0 if v does not follow a convolution.
  int terms_before(int v) const {
    ago::ir::node const& n = graph_.nodes[std::size_t(v)];
    if (n.kind == ago::op::bias || n.kind == ago::op::batch_norm) return terms_before(graph_.operand(v));
    if (n.kind == ago::op::depthwise) return n.win.kernel_h * n.win.kernel_w;
    return has_weights(n.kind) ? n.win.kernel_h * n.win.kernel_w * operand(v).extents.c / n.groups : 0;
  }

  /// bias, with or without a folded norm, and batch_norm: x * slope + offset per channel. `terms`: the length of the
  /// dot product that x is. Its sum may start with the offset; all its roundings are then of the offset's magnitude.
  void normalise(ago::ir::node const& n, int terms, value const& in, value& out) const {
    check(in.extents == n.out, n, "shape");
    for (std::size_t i = 0; i < out.exact.size(); ++i) {
      int const c = int(i % std::size_t(n.out.c));
      double const scale = norm_scale(n, c);
      channel_parameters const p = parameters_of(n, c);
      double const mean = p.norm < 0 ? 0 : parameter(p.norm + 2L * p.channels + p.channel);
      double const beta = p.norm < 0 ? 0 : parameter(p.norm + 1L * p.channels + p.channel);
      bool const is_bias = n.kind == ago::op::bias;
      double const slope = is_bias ? 1 : scale;
      double const shift = is_bias && p.shift >= 0 ? parameter(p.shift + p.channel) : 0;
      out.exact[i] = in.exact[i] * slope + (shift - mean) * scale + beta;
      double const offset = (std::abs(shift) + std::abs(mean)) * std::abs(scale) + std::abs(beta);
      double const rounded = std::abs(in.exact[i] * slope) + (1 + std::sqrt(terms)) * offset;
      out.error[i] = in.error[i] * std::abs(slope) + roundoff * rounded;
    }
  }

  /// The error is propagated by differences of function values, which suits kinks and saturation alike.
  static void unary(ago::ir::node const& n, value const& in, value& out) {
    for (std::size_t i = 0; i < out.exact.size(); ++i) {
      double const x = in.exact[i], e = in.error[i];
      double const y = activate(n, x);
      double const carried = std::max(std::abs(activate(n, x + e) - y), std::abs(activate(n, x - e) - y));
      // For what a user's expression may add to x, and for gelu's polynomial, whose absolute error is bounded.
      double const constants = n.kind == ago::op::map || n.kind == ago::op::gelu ? 1 : 0;
      out.exact[i] = y;
      out.error[i] = carried + roundoff * (std::abs(x) + std::abs(y) + constants);
    }
  }

  /// The operator applied to `x` and `y`, in this order.
  static double combine(ago::op kind, double x, double y) {
    using ago::op;
    switch (kind) {
      case op::add: return x + y;
      case op::mul: return x * y;
      case op::sub: return x - y;
      case op::div: return x / y;
      case op::maximum: return std::max(x, y);
      case op::minimum: return std::min(x, y);
      case op::less: return x < y;
      case op::power: return std::pow(x, y);
      default: throw std::logic_error("reference: not a binary operator");
    }
  }

  /// The second operand's extents are those of the result, or 1. The error is propagated by differences.
  static void combine(ago::ir::node const& n, value const& a, value const& b, value& out) {
    check(a.extents == n.out, n, "shape of the first operand");
    for (std::size_t k = 0; k < 4; ++k)
      check(extents_of(b.extents)[k] == 1 || extents_of(b.extents)[k] == extents_of(n.out)[k], n,
            "shape of the second operand");
    for_each_index(n.out, [&](indices at) {
      auto const i = std::size_t(flat(out, at));
      for (std::size_t k = 0; k < 4; ++k)
        if (extents_of(b.extents)[k] == 1) at[k] = 0;
      auto const j = std::size_t(flat(b, at));
      auto const f = [&](double x, double y) { return n.exchanged ? combine(n.kind, y, x) : combine(n.kind, x, y); };
      double const x = a.exact[i], y = b.exact[j], z = f(x, y);
      double carried = 0;
      for (double const e : {-a.error[i], a.error[i]})
        for (double const d : {-b.error[j], b.error[j]}) carried = std::max(carried, std::abs(f(x + e, y + d) - z));
      double const units = n.kind == ago::op::power ? 4 + 2 * std::abs(std::log(std::abs(z) + 1e-300)) : 1;
      out.exact[i] = z;
      out.error[i] = carried + roundoff * units * std::abs(z);
    });
  }

  void copy_parameters(ago::ir::node const& n, value& out) const {
    for (std::size_t i = 0; i < out.exact.size(); ++i) out.exact[i] = parameter(n.weight + long(i));
  }

  /// Multiplies every element, or the negative ones, by a number per channel or one for all.
  void multiply(ago::ir::node const& n, value const& in, value& out) const {
    check(in.extents == n.out, n, "shape");
    bool const shared = n.kind == ago::op::prelu && n.entries == 1;
    for (std::size_t i = 0; i < out.exact.size(); ++i) {
      channel_parameters const own = parameters_of(n, int(long(i) % n.out.c));
      double const factor = parameter(own.weight + (shared ? 0 : own.channel));
      auto const f = [&](double x) { return n.kind == ago::op::prelu && x >= 0 ? x : x * factor; };
      double const x = in.exact[i], e = in.error[i], y = f(x);
      out.exact[i] = y;
      out.error[i] = std::max(std::abs(f(x + e) - y), std::abs(f(x - e) - y)) + roundoff * std::abs(y);
    }
  }

  /// The table [rows][columns][channels] is the same for every image.
  void add_positions(ago::ir::node const& n, value const& in, value& out) const {
    check(in.extents == n.out, n, "shape");
    long const image = long(n.out.h) * n.out.w * n.out.c;
    for (std::size_t i = 0; i < out.exact.size(); ++i) {
      out.exact[i] = in.exact[i] + parameter(n.weight + long(i) % image);
      out.error[i] = in.error[i] + roundoff * std::abs(out.exact[i]);
    }
  }

  void concatenate(int v, ago::ir::node const& n, value& out) const {
    auto const axis = std::size_t(n.axis);
    int first = 0;
    for (int k = 0; k < n.input_count; ++k) {
      indices part = extents_of(operand(v, k).extents), whole = extents_of(n.out);
      place_part(n, operand(v, k), first, out);
      first += part[axis];
      part[axis] = whole[axis] = 0;
      check(part == whole, n, "extents");
    }
    check(first == extents_of(n.out)[axis], n, "extents along the axis");
  }

  /// from_nchw: channel-first memory to NHWC; to_nchw: the reverse. Extents have the same meaning in both.
  static void transpose(ago::ir::node const& n, value const& in, value& out) {
    check(in.extents == n.out, n, "shape");
    for (int image = 0; image < n.out.n; ++image)
      for (int y = 0; y < n.out.h; ++y)
        for (int x = 0; x < n.out.w; ++x)
          for (int c = 0; c < n.out.c; ++c) {
            auto const last = std::size_t(out.index(image, y, x, c));
            auto const first = std::size_t(((long(image) * n.out.c + c) * n.out.h + y) * n.out.w + x);
            bool const from_first = n.kind == ago::op::from_nchw;
            out.exact[from_first ? last : first] = in.exact[from_first ? first : last];
            out.error[from_first ? last : first] = in.error[from_first ? first : last];
          }
  }

  graph_view graph_;
  std::span<float const> parameters_;
  std::vector<value> values_;
};

}  // namespace detail

/// The value of every node, for finding the first layer that differs. Throws std::logic_error if the graph is
/// inconsistent (extents, operands, parameters).
inline std::vector<value> run_all(graph_view const& graph, std::span<float const> parameters,
                                  std::vector<std::vector<float>> const& inputs) {
  return detail::executor(graph, parameters).run(inputs);
}

/// The outputs of a graph.
inline std::vector<std::vector<double>> run(graph_view const& graph, std::span<float const> parameters,
                                            std::vector<std::vector<float>> const& inputs) {
  std::vector<value> const values = run_all(graph, parameters, inputs);
  std::vector<std::vector<double>> outputs;
  for (int const v : graph.outputs) outputs.push_back(values[std::size_t(v)].exact);
  return outputs;
}

}  // namespace reference
