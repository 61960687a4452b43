// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XNNPACK through its operators, NHWC. It has no fused addition.
#include "peer.hpp"
#include "xnnpack_operators.hpp"

#include <algorithm>
#include <optional>

namespace bench {
namespace {

using ago::op;

/// [out][in][ky][kx] to [out][ky][kx][in]
std::vector<float> channels_last(layer const& l) {
  int const in = l.in.c / l.groups, window = l.win.kernel_h * l.win.kernel_w;
  std::vector<float> w(l.weights.size());
  for (int o = 0; o < l.out.c; ++o)
    for (int i = 0; i < in; ++i)
      for (int k = 0; k < window; ++k)
        w[std::size_t((o * window + k) * in + i)] = l.weights[std::size_t((o * in + i) * window + k)];
  return w;
}

class xnnpack final : public peer {
 public:
  xnnpack(layer_list const& list, peer_memory memory, int threads) : list_{list}, operators_{threads} {
    place_values(memory);
    for (std::size_t i = 0; i < list.layers.size(); ++i) add_layer(int(i));
  }

  void run() override { operators_.run(); }

 private:
  using place = xnnpack_operators::place;
  /// The value whose memory contains this one, and its first channel there.
  struct view {
    int of, first;
  };

  layer const& at(int v) const { return list_.layers[std::size_t(v)]; }

  /// Whether the layer can write its result into a concatenation, among other channels.
  bool writes_with_gaps(int v) const {
    layer const& l = at(v);
    bool const is_output = std::find(list_.outputs.begin(), list_.outputs.end(), v) != list_.outputs.end();
    return l.kind != op::input && l.kind != op::slice && l.kind != op::add && l.other < 0 &&
           l.function == op::identity && !is_of_transformers(l.kind) && !is_output;
  }

  std::vector<view> find_views() const {
    std::vector<view> views;
    for (int v = 0; v < int(list_.layers.size()); ++v) {
      views.push_back({v, 0});
      if (at(v).kind == op::slice) views.back() = {at(v).source, at(v).begin};
      int first = 0;
      for (int const part : at(v).parts) {
        view& own = views[std::size_t(part)];
        if (own.of == part && writes_with_gaps(part)) own = {v, first};
        first += at(part).out.c;
      }
    }
    for (std::size_t v = 0; v < views.size(); ++v)
      for (int next; (next = views[std::size_t(views[v].of)].of) != views[v].of;)
        views[v] = {next, views[v].first + views[std::size_t(views[v].of)].first};
    return views;
  }

  void place_values(peer_memory memory) {
    int const count = int(list_.layers.size()), inputs = int(memory.inputs.size());
    auto const bytes = [&](int v) { return std::size_t(at(v).out.count()) * sizeof(float) + XNN_EXTRA_BYTES; };
    std::vector<view> const views = find_views();
    std::vector<lifetime> pieces(std::size_t(2 * count), {0, 0, 0});  // values, then what layers need besides
    for (int v = 0; v < count; ++v) {
      std::size_t const scratch = xnnpack_operators::scratch_floats(at(v));
      if (scratch > 0) pieces[std::size_t(count + v)] = {scratch * sizeof(float) + XNN_EXTRA_BYTES, v, v};
      lifetime& own = pieces[std::size_t(views[std::size_t(v)].of)];
      int const last = std::max(v, list_.last_reader[std::size_t(v)]);
      if (own.bytes == 0) own = {bytes(views[std::size_t(v)].of), v, last};  // the first writer
      own.last = std::max(own.last, last);
    }
    for (int v = 0; v < inputs; ++v) pieces[std::size_t(v)] = {0, 0, 0};
    placement const where = bench::place(pieces);
    scratch_.emplace(where.bytes / sizeof(float));
    std::vector<float*> data;
    for (std::size_t const offset : where.offsets) data.push_back(scratch_->data() + offset / sizeof(float));
    std::copy(memory.inputs.begin(), memory.inputs.end(), data.begin());
    for (std::size_t k = 0; k < memory.outputs.size(); ++k) {
      int const v = list_.outputs[k];
      if (v < inputs || views[std::size_t(v)].of != v) throw unsupported("an output that has no memory of its own");
      data[std::size_t(v)] = memory.outputs[k];
    }
    for (view const& v : views) values_.push_back({data[std::size_t(v.of)] + v.first, std::size_t(at(v.of).out.c)});
    scratch_of_.assign(data.begin() + count, data.end());
  }

  place value(int v) const { return values_[std::size_t(v)]; }
  float* dense(int v) const {
    if (value(v).stride != std::size_t(at(v).out.c))
      throw unsupported("XNNPACK cannot add values that are slices of others");
    return value(v).data;
  }

  void add_layer(int i) {
    layer const& l = list_.layers[std::size_t(i)];
    if (l.kind == op::input) return;
    place const to = value(i);
    float* const scratch = scratch_of_[std::size_t(i)];
    if (l.kind == op::linear) {
      operators_.linear(l, value(l.source), to);
    } else if (l.kind == op::layer_norm) {
      operators_.normalise(l, dense(l.source), to.data, scratch);
    } else if (l.kind == op::attention_values) {
      operators_.attend(l, dense(l.source), dense(l.other), dense(l.parts[0]), to.data, scratch);
    } else if (is_complex(l.kind)) {
      operators_.convolution(l, channels_last(l), value(l.source), to);
    } else if (l.kind == op::global_avg_pool) {
      operators_.global_average(l, value(l.source), to);
    } else if (l.kind == op::max_pool || l.kind == op::avg_pool) {
      pool(l, i);
    } else if (l.kind == op::clip) {
      operators_.limit(l, value(l.source), to);
    } else if (l.kind == op::concat) {
      join(l, i);
    } else if (l.kind == op::channel_shuffle) {
      operators_.shuffle(l, value(l.source), to);
    }
    if (l.function != op::identity) operators_.apply_function(l, to.data, scratch);
    if (l.kind == op::add) {
      operators_.add(l, dense(l.source), dense(l.other), to.data);
    } else if (has_weights(l.kind) && l.other >= 0) {
      operators_.add(l, to.data, dense(l.other), to.data);
    }
  }

  void pool(layer const& l, int i) {
    ago::ir::window const& w = l.win;
    bool const average = l.kind == op::avg_pool;
    bool const padded = w.pad_top + w.pad_left + w.pad_bottom + w.pad_right > 0;
    if (average && l.count_pads && padded) throw unsupported("XNNPACK has no avg_pool that counts pads");
    if (average && (w.dilation_h > 1 || w.dilation_w > 1)) throw unsupported("XNNPACK has no dilated avg_pool");
    operators_.pool(l, value(l.source), value(i));
  }

  /// Copies the parts of a concatenation that could not be written in place.
  void join(layer const& l, int i) {
    place to = value(i);
    for (int const part : l.parts) {
      auto const channels = std::size_t(at(part).out.c);
      if (value(part).data != to.data) operators_.copy(l, channels, value(part), to);
      to.data += channels;
    }
  }

  layer_list const& list_;
  std::optional<buffer> scratch_;
  std::vector<place> values_;       ///< of the layers
  std::vector<float*> scratch_of_;  ///< layers
  xnnpack_operators operators_;
};

}  // namespace

std::unique_ptr<peer> load_xnnpack(layer_list const& list, peer_memory memory, int threads) {
  return std::make_unique<xnnpack>(list, memory, threads);
}

}  // namespace bench
