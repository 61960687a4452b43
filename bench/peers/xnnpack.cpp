// XNNPACK by its operator API: NHWC, clamps fused; it offers no fused addition, and SiLU as a sigmoid and a product.
#include "../buffer.hpp"
#include "peer.hpp"

#include <xnnpack.h>

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

  void place_values(peer_memory memory) {
    int const count = int(list_.layers.size()), inputs = int(memory.inputs.size());
    auto const bytes = [&](int v) {
      return std::size_t(list_.layers[std::size_t(v)].out.count()) * sizeof(float) + XNN_EXTRA_BYTES;
    };
    std::vector<lifetime> pieces;
    for (int v = inputs; v < count; ++v)
      pieces.push_back({bytes(v), v, std::max(v, list_.last_reader[std::size_t(v)])});
    for (int v = inputs; v < count; ++v)  // what SiLU multiplies with
      pieces.push_back({list_.layers[std::size_t(v)].function == op::silu ? bytes(v) : 0, v, v});
    inputs_ = inputs;
    placement const where = place(pieces);
    scratch_.emplace(where.bytes / sizeof(float));
    values_.assign(memory.inputs.begin(), memory.inputs.end());
    for (std::size_t const offset : where.offsets) values_.push_back(scratch_->data() + offset / sizeof(float));
    for (std::size_t k = 0; k < memory.outputs.size(); ++k) {
      if (list_.outputs[k] < inputs) throw unsupported("an output that is an input");
      values_[std::size_t(list_.outputs[k])] = memory.outputs[k];
    }
  }

  float* value(int v) const { return values_[std::size_t(v)]; }
  void append(xnn_operator_t o) { operators_.emplace_back(o); }

  void add_layer(int i) {
    layer const& l = list_.layers[std::size_t(i)];
    if (l.kind == op::input) return;
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
    }
    if (l.function == op::silu) silu(l, i);
    if (l.function == op::gelu) throw unsupported("gelu is not offered by XNNPACK");
    if (l.kind == op::add) {
      sum(l, value(l.source), i);
    } else if (l.other >= 0) {
      sum(l, value(i), i);
    }
  }

  void convolution(layer const& l, int i) {
    ago::window const& w = l.win;
    auto const groups = std::uint32_t(l.groups);
    auto const in = std::size_t(l.in.c), out = std::size_t(l.out.c);
    std::vector<float> const weights = channels_last(l);
    xnn_operator_t o = nullptr;
    must(xnn_create_convolution2d_nhwc_f32(
             std::uint32_t(w.pad_top), std::uint32_t(w.pad_right), std::uint32_t(w.pad_bottom),
             std::uint32_t(w.pad_left), std::uint32_t(w.kernel_h), std::uint32_t(w.kernel_w), std::uint32_t(w.stride_h),
             std::uint32_t(w.stride_w), std::uint32_t(w.dilation_h), std::uint32_t(w.dilation_w), groups, in / groups,
             out / groups, in, out, weights.data(), l.bias.data(), l.before.lower, l.before.upper, 0, &o),
         l, "create");
    append(o);
    must(xnn_setup_convolution2d_nhwc_f32(o, std::size_t(l.in.n), std::size_t(l.in.h), std::size_t(l.in.w),
                                          value(l.source), value(i), threads_.get()),
         l, "set up");
  }

  void linear(layer const& l, int i) {
    auto const in = std::size_t(l.in.c), out = std::size_t(l.out.c);
    xnn_operator_t o = nullptr;
    must(xnn_create_fully_connected_nc_f32(in, out, in, out, l.weights.data(), l.bias.data(), l.before.lower,
                                           l.before.upper, 0, &o),
         l, "create");
    append(o);
    must(xnn_setup_fully_connected_nc_f32(o, std::size_t(l.out.pixels()), value(l.source), value(i), threads_.get()), l,
         "set up");
  }

  void global_average(layer const& l, int i) {
    auto const channels = std::size_t(l.in.c);
    clamp const none;
    xnn_operator_t o = nullptr;
    must(xnn_create_global_average_pooling_nwc_f32(channels, channels, channels, none.lower, none.upper, 0, &o), l,
         "create");
    append(o);
    must(xnn_setup_global_average_pooling_nwc_f32(o, std::size_t(l.in.n), std::size_t(l.in.h) * std::size_t(l.in.w),
                                                  value(l.source), value(i), threads_.get()),
         l, "set up");
  }

  void pool(layer const& l, int i) {
    ago::window const& w = l.win;
    bool const average = l.kind == op::avg_pool;
    bool const padded = w.pad_top + w.pad_left + w.pad_bottom + w.pad_right > 0;
    if (average && l.count_pads && padded) throw unsupported("avg_pool that counts pads is not offered by XNNPACK");
    if (average && (w.dilation_h > 1 || w.dilation_w > 1)) throw unsupported("dilated avg_pool is not offered");
    auto const u = [](int x) { return std::uint32_t(x); };
    auto const channels = std::size_t(l.in.c);
    clamp const none;
    xnn_operator_t o = nullptr;
    must(average ? xnn_create_average_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                         u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                         channels, channels, channels, none.lower, none.upper, 0, &o)
                 : xnn_create_max_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                     u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                     u(w.dilation_h), u(w.dilation_w), channels, channels, channels,
                                                     none.lower, none.upper, 0, &o),
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
    must(xnn_create_clamp_nc_f32(channels, channels, channels, l.after.lower, l.after.upper, 0, &o), l, "create");
    append(o);
    must(xnn_setup_clamp_nc_f32(o, std::size_t(l.out.pixels()), value(l.source), value(i), threads_.get()), l,
         "set up");
  }

  void silu(layer const& l, int i) {
    std::size_t const channels = std::size_t(l.out.c), count = std::size_t(l.out.count());
    float* const gate = value(int(list_.layers.size()) + i - inputs_);
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
    must(xnn_setup_add_nd_f32(o, 1, &count, 1, &count, first, value(l.other), value(i), threads_.get()), l, "set up");
  }

  layer_list const& list_;
  std::unique_ptr<pthreadpool, release> threads_;
  std::optional<buffer> scratch_;
  int inputs_ = 0;
  std::vector<float*> values_;  ///< of the layers, then what SiLU multiplies each with
  std::vector<operator_handle> operators_;
};

}  // namespace

std::unique_ptr<peer> load_xnnpack(layer_list const& list, peer_memory memory, int threads) {
  return std::make_unique<xnnpack>(list, memory, threads);
}

}  // namespace bench
