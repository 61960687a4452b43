// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XNNPACK through its operator API: NHWC, clamps fused. It has no fused addition; SiLU is a sigmoid and a product.
#include "../buffer.hpp"
#include "peer.hpp"

#include <xnnpack.h>

#include <algorithm>
#include <optional>
#include <string>

namespace bench {
namespace {

using ago::op;

void must(xnn_status status, layer const& l, char const* what) {
  if (status == xnn_status_success) return;
  throw unsupported(std::string(name_of(l.kind)) + ": XNNPACK could not " + what + " it, status " +
                    std::to_string(status));
}

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
  xnnpack(layer_list const& list, peer_memory memory, int threads) : list_{list} {
    if (xnn_initialize(nullptr) != xnn_status_success) throw unsupported("XNNPACK does not run on this machine");
    if (threads > 1) threads_.reset(pthreadpool_create(std::size_t(threads)));
    place_values(memory);
    for (std::size_t i = 0; i < list.layers.size(); ++i) add_layer(int(i));
  }

  void run() override {
    for (auto const& o : operators_) xnn_run_operator(o.get(), threads_.get());
  }

 private:
  struct release {
    void operator()(xnn_operator_t o) const { xnn_delete_operator(o); }
    void operator()(pthreadpool_t p) const { pthreadpool_destroy(p); }
  };
  using operator_handle = std::unique_ptr<xnn_operator, release>;

  /// Channels of a value: in memory of its own, or among those of another value.
  struct place {
    float* data = nullptr;
    std::size_t stride = 0;  ///< floats between pixels
  };
  /// The value whose memory contains this one, and its first channel there.
  struct view {
    int of, first;
  };

  layer const& at(int v) const { return list_.layers[std::size_t(v)]; }

  /// Whether the layer can write its result into a concatenation, among other channels.
  bool writes_with_gaps(int v) const {
    layer const& l = at(v);
    bool const is_output = std::find(list_.outputs.begin(), list_.outputs.end(), v) != list_.outputs.end();
    return l.kind != op::input && l.kind != op::slice && l.kind != op::add && l.other < 0 && l.function != op::silu &&
           !is_output;
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
    std::vector<lifetime> pieces(std::size_t(2 * count), {0, 0, 0});  // values, then the factors of SiLU
    for (int v = 0; v < count; ++v) {
      if (at(v).function == op::silu) pieces[std::size_t(count + v)] = {bytes(v), v, v};
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
    gates_.assign(data.begin() + count, data.end());
  }

  float* value(int v) const { return values_[std::size_t(v)].data; }
  std::size_t stride(int v) const { return values_[std::size_t(v)].stride; }
  float* dense(int v) const {
    if (stride(v) != std::size_t(at(v).out.c)) throw unsupported("XNNPACK cannot add values that are slices of others");
    return value(v);
  }
  void append(xnn_operator_t o) { operators_.emplace_back(o); }

  void add_layer(int i) {
    layer const& l = list_.layers[std::size_t(i)];
    if (l.kind == op::input) return;
    if (is_of_transformers(l.kind)) throw unsupported(std::string(name_of(l.kind)) + " is not written for XNNPACK");
    if (l.kind == op::linear) {
      linear(l, i);
    } else if (is_complex(l.kind)) {
      convolution(l, i);
    } else if (l.kind == op::global_avg_pool) {
      global_average(l, i);
    } else if (l.kind == op::max_pool || l.kind == op::avg_pool) {
      pool(l, i);
    } else if (l.kind == op::clip) {
      activate(l, i);
    } else if (l.kind == op::concat) {
      join(l, i);
    } else if (l.kind == op::channel_shuffle) {
      shuffle(l, i);
    }
    if (l.function == op::silu) silu(l, i);
    if (l.function == op::gelu) throw unsupported("XNNPACK has no gelu");
    if (l.kind == op::add) {
      sum(l, dense(l.source), i);
    } else if (l.other >= 0) {
      sum(l, value(i), i);
    }
  }

  void convolution(layer const& l, int i) {
    ago::window const& w = l.win;
    auto const groups = std::uint32_t(l.groups);
    auto const in = std::size_t(l.in.c), out = std::size_t(l.out.c);
    std::size_t const from = stride(l.source), to = stride(i);
    std::vector<float> const weights = channels_last(l);
    xnn_operator_t o = nullptr;
    must(xnn_create_convolution2d_nhwc_f32(
             std::uint32_t(w.pad_top), std::uint32_t(w.pad_right), std::uint32_t(w.pad_bottom),
             std::uint32_t(w.pad_left), std::uint32_t(w.kernel_h), std::uint32_t(w.kernel_w), std::uint32_t(w.stride_h),
             std::uint32_t(w.stride_w), std::uint32_t(w.dilation_h), std::uint32_t(w.dilation_w), groups, in / groups,
             out / groups, from, to, weights.data(), l.bias.data(), l.before.lower, l.before.upper, 0, &o),
         l, "create");
    append(o);
    must(xnn_setup_convolution2d_nhwc_f32(o, std::size_t(l.in.n), std::size_t(l.in.h), std::size_t(l.in.w),
                                          value(l.source), value(i), threads_.get()),
         l, "set up");
  }

  void linear(layer const& l, int i) {
    auto const in = std::size_t(l.in.c), out = std::size_t(l.out.c);
    xnn_operator_t o = nullptr;
    must(xnn_create_fully_connected_nc_f32(in, out, stride(l.source), stride(i), l.weights.data(), l.bias.data(),
                                           l.before.lower, l.before.upper, 0, &o),
         l, "create");
    append(o);
    must(xnn_setup_fully_connected_nc_f32(o, std::size_t(l.out.pixels()), value(l.source), value(i), threads_.get()), l,
         "set up");
  }

  void global_average(layer const& l, int i) {
    auto const channels = std::size_t(l.in.c);
    clamp const none;
    xnn_operator_t o = nullptr;
    must(
        xnn_create_global_average_pooling_nwc_f32(channels, stride(l.source), stride(i), none.lower, none.upper, 0, &o),
        l, "create");
    append(o);
    must(xnn_setup_global_average_pooling_nwc_f32(o, std::size_t(l.in.n), std::size_t(l.in.h) * std::size_t(l.in.w),
                                                  value(l.source), value(i), threads_.get()),
         l, "set up");
  }

  void pool(layer const& l, int i) {
    ago::window const& w = l.win;
    bool const average = l.kind == op::avg_pool;
    bool const padded = w.pad_top + w.pad_left + w.pad_bottom + w.pad_right > 0;
    if (average && l.count_pads && padded) throw unsupported("XNNPACK has no avg_pool that counts pads");
    if (average && (w.dilation_h > 1 || w.dilation_w > 1)) throw unsupported("XNNPACK has no dilated avg_pool");
    auto const u = [](int x) { return std::uint32_t(x); };
    std::size_t const channels = std::size_t(l.in.c), from = stride(l.source), to = stride(i);
    clamp const none;
    xnn_operator_t o = nullptr;
    must(average ? xnn_create_average_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                         u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                         channels, from, to, none.lower, none.upper, 0, &o)
                 : xnn_create_max_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                     u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                     u(w.dilation_h), u(w.dilation_w), channels, from, to, none.lower,
                                                     none.upper, 0, &o),
         l, "create");
    append(o);
    auto const setup = average ? xnn_setup_average_pooling2d_nhwc_f32 : xnn_setup_max_pooling2d_nhwc_f32;
    must(setup(o, std::size_t(l.in.n), std::size_t(l.in.h), std::size_t(l.in.w), value(l.source), value(i),
               threads_.get()),
         l, "set up");
  }

  void activate(layer const& l, int i) {
    auto const channels = std::size_t(l.out.c);
    xnn_operator_t o = nullptr;
    must(xnn_create_clamp_nc_f32(channels, stride(l.source), stride(i), l.after.lower, l.after.upper, 0, &o), l,
         "create");
    append(o);
    must(xnn_setup_clamp_nc_f32(o, std::size_t(l.out.pixels()), value(l.source), value(i), threads_.get()), l,
         "set up");
  }

  /// Copies the parts of a concatenation that could not be written in place.
  void join(layer const& l, int i) {
    float* to = value(i);
    for (int const part : l.parts) {
      auto const channels = std::size_t(at(part).out.c);
      if (value(part) != to) {
        xnn_operator_t o = nullptr;
        must(xnn_create_copy_nc_x32(channels, stride(part), stride(i), 0, &o), l, "create");
        append(o);
        must(xnn_setup_copy_nc_x32(o, std::size_t(l.out.pixels()), value(part), to, threads_.get()), l, "set up");
      }
      to += channels;
    }
  }

  void shuffle(layer const& l, int i) {
    auto const groups = std::size_t(l.groups);
    xnn_operator_t o = nullptr;
    must(xnn_create_channel_shuffle_nc_x32(groups, std::size_t(l.in.c) / groups, stride(l.source), stride(i), 0, &o), l,
         "create");
    append(o);
    must(xnn_setup_channel_shuffle_nc_x32(o, std::size_t(l.out.pixels()), value(l.source), value(i), threads_.get()), l,
         "set up");
  }

  void silu(layer const& l, int i) {
    std::size_t const channels = std::size_t(l.out.c), count = std::size_t(l.out.count());
    float* const gate = gates_[std::size_t(i)];
    xnn_operator_t o = nullptr;
    must(xnn_create_sigmoid_nc_f32(channels, channels, channels, 0, &o), l, "create the sigmoid of");
    append(o);
    must(xnn_setup_sigmoid_nc_f32(o, std::size_t(l.out.pixels()), value(i), gate, threads_.get()), l, "set up");
    clamp const none;
    must(xnn_create_multiply_nd_f32(none.lower, none.upper, 0, &o), l, "create the product of");
    append(o);
    must(xnn_setup_multiply_nd_f32(o, 1, &count, 1, &count, value(i), gate, value(i), threads_.get()), l, "set up");
  }

  void sum(layer const& l, float const* first, int i) {
    std::size_t const count = std::size_t(l.out.count());
    xnn_operator_t o = nullptr;
    must(xnn_create_add_nd_f32(l.after.lower, l.after.upper, 0, &o), l, "create");
    append(o);
    must(xnn_setup_add_nd_f32(o, 1, &count, 1, &count, first, dense(l.other), value(i), threads_.get()), l, "set up");
  }

  layer_list const& list_;
  std::unique_ptr<pthreadpool, release> threads_;
  std::optional<buffer> scratch_;
  std::vector<place> values_;  ///< of the layers
  std::vector<float*> gates_;  ///< the factors of SiLU
  std::vector<operator_handle> operators_;
};

}  // namespace

std::unique_ptr<peer> load_xnnpack(layer_list const& list, peer_memory memory, int threads) {
  return std::make_unique<xnnpack>(list, memory, threads);
}

}  // namespace bench
