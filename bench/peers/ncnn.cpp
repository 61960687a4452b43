// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ncnn, in float32: the layers are written in its text format, and the weights follow in the order of the layers.
#include "peer.hpp"

#include <datareader.h>
#include <net.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <iomanip>
#include <sstream>

namespace bench {
namespace {

using ago::op;

/// The two files of a model, in memory.
struct ncnn_model {
  std::string text;
  std::vector<float> weights;  ///< each layer's weights after the number 0, which stands for float32
};

/// Of a value. (g++ 12 warns wrongly of "v" + std::to_string(v).)
std::string name(int v) { return std::string("v").append(std::to_string(v)); }

class ncnn_writer {
 public:
  explicit ncnn_writer(layer_list const& list)
      : list_{list}, copies_(list.layers.size()), contained_(copies_.size()), has_rows_{has_rows(list)} {
    for (int v = 0; v < count(); ++v)
      if (at(v).kind == op::attention_values) surround(v);
    for (int v = 0; v < count(); ++v)
      for (int const from : reads(v)) ++readers(from);
  }

  /// Whether values are matrices with a row for each pixel, as ncnn has them in transformers; otherwise, they are
  /// images.
  static bool has_rows(layer_list const& list) {
    return std::any_of(list.layers.begin(), list.layers.end(),
                       [](layer const& l) { return is_of_transformers(l.kind); });
  }

  ncnn_model run() {
    for (int v = 0; v < count(); ++v)
      if (!contained_[std::size_t(v)]) add(v);
    std::ostringstream all;
    all << "7767517\n" << lines_ << ' ' << values_ << '\n' << text_.str();
    return {all.str(), std::move(weights_)};
  }

 private:
  struct copies {
    int readers = 0, next = 0;
  };
  /// An attention with the linear layers around it, which ncnn has as one layer: those of queries, keys and values, and
  /// the one that reads its result.
  struct attention {
    int of, query, key, value, result;
  };

  int count() const { return int(list_.layers.size()); }
  layer const& at(int v) const { return list_.layers[std::size_t(v)]; }
  int& readers(int v) { return copies_[std::size_t(v)].readers; }

  std::vector<int> slices_of(int source) const {
    std::vector<int> all;
    for (int v = 0; v < count(); ++v)
      if (at(v).kind == op::slice && at(v).source == source) all.push_back(v);
    std::sort(all.begin(), all.end(), [&](int a, int b) { return at(a).begin < at(b).begin; });
    return all;
  }
  bool is_first_slice(int v) const {
    std::vector<int> const all = slices_of(at(v).source);
    return v == *std::min_element(all.begin(), all.end());
  }

  /// The only layer that reads v, or -1.
  int sole_reader(int v) const {
    int found = -1;
    for (int r = 0; r < count(); ++r) {
      layer const& l = at(r);
      int const times = (l.source == v) + (l.other == v) + int(std::count(l.parts.begin(), l.parts.end(), v));
      if (times == 0) continue;
      if (found >= 0 || times > 1) return -1;
      found = r;
    }
    return list_.last_reader[std::size_t(v)] < count() ? found : -1;
  }

  /// Finds the linear layers around the attention.
  void surround(int v) {
    layer const& l = at(v);
    attention const a{v, l.source, l.other, l.parts[0], sole_reader(v)};
    for (int const before : {a.query, a.key, a.value}) {
      layer const& b = at(before);
      bool const is_plain = b.kind == op::linear && b.before.is_identity() && b.other < 0 && b.function == op::identity;
      if (!is_plain || sole_reader(before) != v) throw unsupported("ncnn has attention of linear layers only");
      contained_[std::size_t(before)] = true;
    }
    if (a.result < 0 || at(a.result).kind != op::linear || at(a.result).out.c != at(a.query).in.c)
      throw unsupported("ncnn has attention with a linear layer after it only");
    contained_[std::size_t(v)] = true;
    attentions_.push_back(a);
  }
  /// The attention that ends with linear layer v, or null.
  attention const* ended_by(int v) const {
    auto const found =
        std::find_if(attentions_.begin(), attentions_.end(), [&](attention const& a) { return a.result == v; });
    return found == attentions_.end() ? nullptr : &*found;
  }

  /// Queries, keys and values; once if they are the same.
  std::vector<int> inputs_of(attention const& a) const {
    std::vector<int> const all{at(a.query).source, at(a.key).source, at(a.value).source};
    return all[0] == all[1] && all[0] == all[2] ? std::vector{all[0]} : all;
  }

  /// The values that the line of layer v reads.
  std::vector<int> reads(int v) const {
    layer const& l = at(v);
    if (contained_[std::size_t(v)] || (l.kind == op::slice && !is_first_slice(v))) return {};
    attention const* const a = ended_by(v);
    std::vector<int> all = a ? inputs_of(*a) : l.parts;
    if (!a && l.kind != op::concat && l.source >= 0) all.push_back(l.source);
    if (l.other >= 0) all.push_back(l.other);
    return all;
  }

  /// The name under which the next reader finds the value: a value with several readers is copied, in name.
  std::string operand(int v) {
    copies& c = copies_[std::size_t(v)];
    return c.readers > 1 ? name(v) + '_' + std::to_string(c.next++) : name(v);
  }
  std::ostream& line(std::string const& type, std::string const& called, std::vector<std::string> const& from,
                     std::vector<std::string> const& to) {
    ++lines_;
    values_ += int(to.size());
    text_ << '\n' << type << ' ' << called << ' ' << from.size() << ' ' << to.size();
    for (std::string const& s : from) text_ << ' ' << s;
    for (std::string const& s : to) text_ << ' ' << s;
    return text_;
  }

  void add(int v) {
    layer const& l = at(v);
    if (l.out.n != 1) throw unsupported("ncnn has no batches");
    bool const then_adds = is_complex(l.kind) && l.other >= 0;
    bool const has_function = l.function != op::identity;  // instead of an addition
    std::string const result = then_adds || has_function ? name(v) + "_before" : name(v);
    if (l.kind == op::input) {
      line("Input", result, {}, {result});
    } else if (has_rows_) {
      row(v, result);
    } else if (is_complex(l.kind)) {
      complex(l, result);
    } else if (l.kind == op::max_pool || l.kind == op::avg_pool || l.kind == op::global_avg_pool) {
      pool(l, result);
    } else if (l.kind == op::concat) {
      std::vector<std::string> from;
      for (int const part : l.parts) from.push_back(operand(part));
      line("Concat", result, from, {result}) << " 0=0";
    } else if (l.kind == op::slice) {
      if (is_first_slice(v)) slice(v);
    } else if (l.kind == op::channel_shuffle) {
      line("ShuffleChannel", result, {operand(l.source)}, {result}) << " 0=" << l.groups;
    } else if (l.kind == op::clip) {
      activate(operand(l.source), result, l.after);
    } else if (l.kind == op::add) {
      add(l, operand(l.source), operand(l.other), result);
    } else {
      throw unsupported(std::string(name_of(l.kind)) + " is not written for ncnn");
    }
    if (then_adds) add(l, result, operand(l.other), name(v));
    if (has_function) line(l.function == op::silu ? "Swish" : "GELU", name(v), {result}, {name(v)});
    if (readers(v) > 1) {
      std::vector<std::string> to;
      for (int k = 0; k < readers(v); ++k) to.push_back(name(v) + '_' + std::to_string(k));
      line("Split", name(v) + "_split", {name(v)}, to);
    }
  }

  void add(layer const& l, std::string const& first, std::string const& second, std::string const& result) {
    std::string const sum = l.after.is_identity() ? result : result + "_sum";
    line("BinaryOp", sum, {first, second}, {sum}) << " 0=0";
    if (!l.after.is_identity()) activate(sum, result, l.after);
  }

  void activate(std::string const& from, std::string const& to, clamp c) {
    if (is_relu(c)) {
      line("ReLU", to, {from}, {to});
    } else {
      line("Clip", to, {from}, {to}) << " 0=" << number(c.lower) << " 1=" << number(c.upper);
    }
  }
  /// A bound as ncnn reads it: with a point or exponent, or it would be an integer, and finite.
  static std::string number(float x) {
    std::ostringstream text;
    constexpr float most = std::numeric_limits<float>::max();
    text << std::scientific << std::setprecision(9) << std::clamp(x, -most, most);
    return text.str();
  }
  static bool is_relu(clamp c) { return c.lower == 0 && c.upper == clamp{}.upper; }

  void complex(layer const& l, std::string const& result) {
    bool const is_product = l.kind == op::linear && l.in.pixels() == 1;
    auto& to = line(is_product     ? "InnerProduct"
                    : l.groups > 1 ? "ConvolutionDepthWise"
                                   : "Convolution",
                    result, {operand(l.source)}, {result});
    to << " 0=" << l.out.c;
    if (is_product) {
      to << " 1=1 2=" << l.weights.size();
    } else {
      ago::ir::window const w = l.kind == op::linear ? ago::ir::window{} : l.win;
      to << " 1=" << w.kernel_w << " 11=" << w.kernel_h << " 2=" << w.dilation_w << " 12=" << w.dilation_h
         << " 3=" << w.stride_w << " 13=" << w.stride_h << " 4=" << w.pad_left << " 14=" << w.pad_top
         << " 15=" << w.pad_right << " 16=" << w.pad_bottom << " 5=1 6=" << l.weights.size();
      if (l.groups > 1) to << " 7=" << l.groups;
    }
    if (is_relu(l.before)) {
      to << " 9=1";
    } else if (!l.before.is_identity()) {
      to << " 9=3 -23310=2," << number(l.before.lower) << ',' << number(l.before.upper);
    }
    weights_.push_back(0);
    append(l.weights, l.bias);
  }

  /// A layer of matrices.
  void row(int v, std::string const& result) {
    layer const& l = at(v);
    if (l.kind == op::layer_norm) {
      line("LayerNorm", result, {operand(l.source)}, {result}) << " 0=" << l.out.c << " 1=" << number(l.alpha);
      append(l.weights, l.bias);
    } else if (l.kind == op::linear) {
      std::string const product = l.before.is_identity() ? result : result + "_product";
      if (attention const* const a = ended_by(v)) {
        attend(*a, product);
      } else {
        line("Gemm", product, {operand(l.source)}, {product})
            << " 3=1 5=1 6=1 7=" << l.out.pixels() << " 8=" << l.out.c << " 9=" << l.in.c << " 10=4";
        weights_.push_back(0);
        append(l.weights);
        weights_.push_back(0);
        append(l.bias);
      }
      if (!l.before.is_identity()) activate(product, result, l.before);
    } else if (l.kind == op::add) {
      add(l, operand(l.source), operand(l.other), result);
    } else if (l.kind == op::clip) {
      activate(operand(l.source), result, l.after);
    } else {
      throw unsupported(std::string(name_of(l.kind)) + " in a transformer is not written for ncnn");
    }
  }

  void attend(attention const& a, std::string const& result) {
    layer const &of = at(a.of), &query = at(a.query), &key = at(a.key), &value = at(a.value);
    std::vector<std::string> from;
    for (int const v : inputs_of(a)) from.push_back(operand(v));
    line("MultiHeadAttention", result, from, {result})
        << " 0=" << query.out.c << " 1=" << of.groups << " 2=" << query.weights.size() << " 3=" << key.in.c
        << " 4=" << value.in.c << " 6=" << number(of.alpha);
    for (int const v : {a.query, a.key, a.value, a.result}) {
      weights_.push_back(0);
      append(at(v).weights, at(v).bias);
    }
  }

  void append(std::same_as<std::vector<float>> auto const&... parameters) {
    (weights_.insert(weights_.end(), parameters.begin(), parameters.end()), ...);
  }

  void pool(layer const& l, std::string const& result) {
    auto& to = line("Pooling", result, {operand(l.source)}, {result});
    ago::ir::window const& w = l.win;
    to << " 0=" << (l.kind == op::max_pool ? 0 : 1);
    if (l.kind == op::global_avg_pool) {
      to << " 4=1";
    } else if (w.dilation_h > 1 || w.dilation_w > 1) {
      throw unsupported("ncnn has no dilated pooling");
    } else {
      to << " 1=" << w.kernel_w << " 11=" << w.kernel_h << " 2=" << w.stride_w << " 12=" << w.stride_h
         << " 3=" << w.pad_left << " 13=" << w.pad_top << " 14=" << w.pad_right << " 15=" << w.pad_bottom
         << " 5=1 6=" << int(l.count_pads);
    }
  }

  /// All slices of a value are one layer.
  void slice(int v) {
    int const source = at(v).source;
    std::vector<std::string> to;
    std::string sizes;
    int next = 0;
    for (int const s : slices_of(source)) {
      if (at(s).begin != next) throw unsupported("slices that overlap or leave channels out are not written for ncnn");
      next += at(s).out.c;
      to.push_back(name(s));
      sizes += ',' + std::to_string(at(s).out.c);
    }
    if (next != at(source).out.c) throw unsupported("slices that leave channels out are not written for ncnn");
    line("Slice", name(v) + "_slice", {operand(source)}, to) << " -23300=" << to.size() << sizes << " 1=0";
  }

  layer_list const& list_;
  std::vector<copies> copies_;
  std::vector<bool> contained_;  ///< layers that an attention's line contains
  std::vector<attention> attentions_;
  bool has_rows_;
  std::ostringstream text_;
  std::vector<float> weights_;
  int lines_ = 0, values_ = 0;
};

class ncnn_peer final : public peer {
 public:
  ncnn_peer(layer_list const& list, peer_memory memory, int threads, bool for_little_cores)
      : in_{memory.inputs[0]}, out_{memory.outputs[0]}, shape_{list.layers[0].out}, last_{list.outputs[0]},
        has_rows_{ncnn_writer::has_rows(list)} {
    ncnn::Option& o = net_.opt;
    o.num_threads = threads;
    o.use_fp16_packed = o.use_fp16_storage = o.use_fp16_arithmetic = o.use_bf16_storage = false;
    o.use_vulkan_compute = false;
    o.use_a53_a55_optimized_kernel = for_little_cores;
    o.blob_allocator = &values_;
    o.workspace_allocator = &scratch_;
    model_ = ncnn_writer(list).run();
    auto const* bytes = reinterpret_cast<unsigned char const*>(model_.weights.data());
    if (net_.load_param_mem(model_.text.c_str()) != 0) throw unsupported("ncnn refuses the network");
    ncnn::DataReaderFromMemory reader(bytes);
    if (net_.load_model(reader) != 0) throw unsupported("ncnn refuses the weights");
    if (has_rows_) image_.create(shape_.c, shape_.h * shape_.w);
    else image_.create(shape_.w, shape_.h, shape_.c);
  }

  void run() override {
    if (has_rows_) {
      std::memcpy(image_.row(0), in_, image_.total() * sizeof(float));
      run_layer();
      std::memcpy(out_, result_.row(0), result_.total() * sizeof(float));
      return;
    }
    for (int c = 0; c < shape_.c; ++c)
      for (int i = 0; i < shape_.h * shape_.w; ++i) image_.channel(c)[i] = in_[i * shape_.c + c];
    run_layer();
    ncnn::Mat const flat = result_.dims == 1 ? result_ : result_.reshape(result_.w * result_.h, result_.c);
    if (result_.dims == 1) {
      std::memcpy(out_, flat.row(0), std::size_t(flat.w) * sizeof(float));
    } else {
      for (int c = 0; c < flat.h; ++c)
        for (int i = 0; i < flat.w; ++i) out_[i * flat.h + c] = flat.row(c)[i];
    }
  }

  void run_layer() override {
    ncnn::Extractor extractor = net_.create_extractor();
    extractor.input(name(0).c_str(), image_);
    result_.release();
    extractor.extract(name(last_).c_str(), result_);
  }

 private:
  ncnn_model model_;  // ncnn may refer to its weights
  ncnn::UnlockedPoolAllocator values_;
  ncnn::PoolAllocator scratch_;
  ncnn::Net net_;
  ncnn::Mat image_, result_;
  float const* in_;
  float* out_;
  ago::shape shape_;
  int last_;
  bool has_rows_;
};

}  // namespace

std::unique_ptr<peer> load_ncnn(layer_list const& list, peer_memory memory, int threads) {
  return std::make_unique<ncnn_peer>(list, memory, threads, false);
}

/// With the kernels for Cortex-A53 and A55.
std::unique_ptr<peer> load_ncnn_little(layer_list const& list, peer_memory memory, int threads) {
  return std::make_unique<ncnn_peer>(list, memory, threads, true);
}

}  // namespace bench
