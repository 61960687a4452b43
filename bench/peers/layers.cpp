// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace bench {

using ago::op;

clamp clamp::then(clamp next) const {
  return {std::clamp(lower, next.lower, next.upper), std::clamp(upper, next.lower, next.upper)};
}

namespace {

std::optional<clamp> as_clamp(ago::ir::node const& n) {
  clamp bounds;
  if (n.kind == op::relu) return clamp{.lower = 0, .upper = bounds.upper};
  if (n.kind == op::relu6) return clamp{.lower = 0, .upper = 6};
  if (n.kind == op::clip) return clamp{.lower = n.alpha, .upper = n.beta};
  return std::nullopt;
}

class fuser {
 public:
  fuser(graph_view const& graph, std::span<float const> parameters) : graph_{graph}, parameters_{parameters} {
    readers_.resize(std::size_t(graph.size()));
    layer_of_.resize(readers_.size(), -1);
    taken_.resize(readers_.size());
    for (int v = 0; v < graph.size(); ++v)
      for (int k = 0; k < graph.node(v).input_count; ++k) readers_[std::size_t(graph.operand(v, k))].push_back(v);
    for (int const v : graph.outputs) readers_[std::size_t(v)].push_back(graph.size());
  }

  layer_list run() {
    for (int v = 0; v < graph_.size(); ++v)
      if (!taken_[std::size_t(v)]) begin(v);
    // A layer is complete with its last node; in that order, every operand comes before its reader.
    std::sort(open_.begin(), open_.end(), [](auto const& a, auto const& b) { return a.last < b.last; });
    layer_list list;
    for (pending& p : open_) {
      layer_of_[std::size_t(p.last)] = int(list.layers.size());
      if (p.what.source >= 0) p.what.source = layer_of_[std::size_t(p.what.source)];
      if (p.what.other >= 0) p.what.other = layer_of_[std::size_t(p.what.other)];
      for (int& part : p.what.parts) part = layer_of_[std::size_t(part)];
      list.layers.push_back(std::move(p.what));
    }
    for (int const v : graph_.outputs) list.outputs.push_back(layer_of_[std::size_t(v)]);
    find_last_readers(list);
    return list;
  }

 private:
  struct pending {
    layer what;
    int last;  ///< the last node that it represents
  };

  [[noreturn]] void refuse(int v, std::string const& why) const {
    ago::ir::node const& n = graph_.node(v);
    throw unsupported(std::string(name_of(n.kind)) + " (layer " + std::to_string(n.layer) + ") " + why);
  }

  float parameter(int offset) const { return parameters_[std::size_t(offset)]; }

  /// Scale and offset that a norm applies to channel c.
  struct affine {
    double scale = 1, offset = 0;
  };
  affine norm(ago::ir::node const& n, int c) const {
    int const channels = n.out.c;
    double const variance = double(parameter(n.norm + 3 * channels + c)) + double(n.alpha);
    double const scale = double(parameter(n.norm + c)) / std::sqrt(variance);
    return {scale, double(parameter(n.norm + channels + c)) - double(parameter(n.norm + 2 * channels + c)) * scale};
  }

  void begin(int v) {
    ago::ir::node const& n = graph_.node(v);
    pending p{{.kind = n.kind, .out = n.out, .win = n.win, .groups = graph_.groups(v), .count_pads = n.count_pads}, v};
    if (n.input_count > 0) {
      p.what.source = graph_.operand(v);
      p.what.in = graph_.node(p.what.source).out;
    }
    if (has_weights(n.kind)) {
      convolution(p, v);
    } else if (n.kind == op::add) {
      p.what.other = graph_.operand(v, 1);
      if (graph_.node(p.what.other).out != n.out) refuse(v, "is not supported with a broadcast operand");
      absorb_clamps(p, p.what.after);
    } else if (std::optional<clamp> const bounds = as_clamp(n)) {
      p.what.kind = op::clip;
      p.what.after = *bounds;
      absorb_clamps(p, p.what.after);
    } else if (n.kind == op::max_pool || n.kind == op::avg_pool) {
      widen_pads(p.what);
      bool const widened = p.what.win != n.win;
      if (n.kind == op::avg_pool && n.count_pads && widened)
        refuse(v, "that counts pads is not supported with extents rounded up");
    } else if (n.kind == op::concat || n.kind == op::slice) {
      if (n.axis != 3 || n.step != 1) refuse(v, "is supported for adjacent channels only");
      p.what.begin = n.begin;
      if (n.kind == op::concat)
        for (int k = 0; k < n.input_count; ++k) p.what.parts.push_back(graph_.operand(v, k));
    } else if (n.kind == op::attention_scores) {
      attention(p, v);
    } else if (n.kind == op::layer_norm) {
      p.what.weights.assign(parameters_.begin() + n.weight, parameters_.begin() + n.weight + n.out.c);
      p.what.bias.assign(parameters_.begin() + n.shift, parameters_.begin() + n.shift + n.out.c);
      p.what.alpha = n.alpha;
    } else if (n.kind == op::bias || n.kind == op::batch_norm) {
      refuse(v, "is supported after a convolution only");
    } else if (n.kind != op::input && n.kind != op::global_avg_pool && n.kind != op::channel_shuffle) {
      refuse(v, "is not supported");
    }
    open_.push_back(std::move(p));
  }

  /// The only reader of the layer's result so far, or -1.
  int sole_reader(pending const& p) const {
    auto const& readers = readers_[std::size_t(p.last)];
    return readers.size() == 1 && readers[0] < graph_.size() ? readers[0] : -1;
  }
  void absorb(pending& p, int v) {
    taken_[std::size_t(v)] = true;
    p.last = v;
  }

  void absorb_clamps(pending& p, clamp& into) {
    for (int v; (v = sole_reader(p)) >= 0;) {
      std::optional<clamp> const bounds = as_clamp(graph_.node(v));
      if (!bounds) return;
      into = into.then(*bounds);
      absorb(p, v);
    }
  }

  bool absorb_function(pending& p) {
    int const v = sole_reader(p);
    if (v < 0 || (graph_.node(v).kind != op::silu && graph_.node(v).kind != op::gelu)) return false;
    p.what.function = graph_.node(v).kind;
    absorb(p, v);
    return true;
  }

  /// Scores, softmax and the product with the values are one layer.
  void attention(pending& p, int v) {
    ago::ir::node const& n = graph_.node(v);
    if (n.win.stride_h != 1 || n.win.stride_w != 1) refuse(v, "within patches is not supported");
    p.what.other = graph_.operand(v, 1);
    p.what.in = graph_.node(p.what.other).out;
    p.what.alpha = n.alpha;
    for (op const next : {op::softmax, op::attention_values}) {
      int const reader = sole_reader(p);
      if (reader < 0 || graph_.node(reader).kind != next || graph_.operand(reader) != p.last)
        refuse(v, "is supported with softmax and values only");
      absorb(p, reader);
    }
    p.what.kind = op::attention_values;
    p.what.parts = {graph_.operand(p.last, 1)};
    p.what.out = graph_.node(p.last).out;
  }

  void convolution(pending& p, int v) {
    ago::ir::node const& n = graph_.node(v);
    if (n.is_merged()) refuse(v, "of several layers is not supported");
    long const count = n.out.c * graph_.fan_in(v), per_channel = graph_.fan_in(v);
    auto const first = parameters_.begin() + n.weight;
    std::vector<double> scale(std::size_t(n.out.c), 1.), shift(std::size_t(n.out.c), 0.);
    if (n.norm >= 0)
      for (int c = 0; c < n.out.c; ++c) scale[std::size_t(c)] = norm(n, c).scale;
    absorb_affine(p, scale, shift);
    p.what.weights.assign(first, first + count);
    for (long i = 0; i < count; ++i) {
      float& w = p.what.weights[std::size_t(i)];
      w = float(double(w) * scale[std::size_t(i / per_channel)]);
    }
    p.what.bias.assign(shift.begin(), shift.end());
    if (absorb_function(p)) return;
    absorb_clamps(p, p.what.before);
    int const sum = sole_reader(p);
    if (sum < 0 || graph_.node(sum).kind != op::add || taken_[std::size_t(sum)]) return;
    int const other = graph_.operand(sum, graph_.operand(sum, 0) == p.last ? 1 : 0);
    if (graph_.node(other).out != n.out) return;
    p.what.other = other;
    absorb(p, sum);
    absorb_clamps(p, p.what.after);
  }

  /// Folds the biases and batch norms that follow: weights times `scale`, then + `shift`.
  void absorb_affine(pending& p, std::vector<double>& scale, std::vector<double>& shift) {
    for (int v; (v = sole_reader(p)) >= 0;) {
      ago::ir::node const& n = graph_.node(v);
      if (n.kind != op::bias && n.kind != op::batch_norm) return;
      for (int c = 0; c < n.out.c; ++c) {
        auto const i = std::size_t(c);
        affine const by = n.norm >= 0 ? norm(n, c) : affine{};
        double const bias = n.kind == op::bias && n.shift >= 0 ? double(parameter(n.shift + c)) : 0.;
        if (n.kind == op::batch_norm) {
          scale[i] *= by.scale;
          shift[i] = shift[i] * by.scale + by.offset;
        } else {  // a norm is already folded into the weights; apply it to the bias
          shift[i] += bias * by.scale + by.offset;
        }
      }
      absorb(p, v);
    }
  }

  /// Ceil mode: the last window may extend beyond the specified pads.
  void widen_pads(layer& pool) const {
    ago::ir::window& w = pool.win;
    w.pad_bottom = std::max(w.pad_bottom, (pool.out.h - 1) * w.stride_h + w.span_h() - pool.in.h - w.pad_top);
    w.pad_right = std::max(w.pad_right, (pool.out.w - 1) * w.stride_w + w.span_w() - pool.in.w - w.pad_left);
  }

  static void find_last_readers(layer_list& list) {
    int const count = int(list.layers.size());
    list.last_reader.assign(std::size_t(count), -1);
    for (int i = 0; i < count; ++i) {
      layer const& l = list.layers[std::size_t(i)];
      for (int const v : {l.source, l.other})
        if (v >= 0) list.last_reader[std::size_t(v)] = i;
      for (int const v : l.parts) list.last_reader[std::size_t(v)] = i;
    }
    for (int const v : list.outputs) list.last_reader[std::size_t(v)] = count;
    for (int i = count; i-- > 0;)  // the reader of a slice may read it in place
      if (layer const& l = list.layers[std::size_t(i)]; l.kind == op::slice)
        list.last_reader[std::size_t(l.source)] =
            std::max(list.last_reader[std::size_t(l.source)], list.last_reader[std::size_t(i)]);
  }

  graph_view graph_;
  std::span<float const> parameters_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> layer_of_;
  std::vector<bool> taken_;  ///< nodes that a layer represents in addition to its first
  std::vector<pending> open_;
};

}  // namespace

layer_list fuse_layers(graph_view const& graph, std::span<float const> parameters) {
  return fuser(graph, parameters).run();
}

}  // namespace bench
