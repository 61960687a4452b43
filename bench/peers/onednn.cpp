// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// oneDNN 2.x through its primitives: clamps and additions as post-operations, memory shared between values.
#include "../buffer.hpp"
#include "onednn_terms.hpp"
#include "peer.hpp"

#include <dlfcn.h>

#include <optional>
#include <string>
#include <unordered_map>

namespace bench {
namespace {

using ago::op;

enum class layout { blocked, nhwc, any };  ///< of values inside the network; outside they are NHWC

/// Looks the function up in this process, which has loaded the OpenMP library that oneDNN was built with.
void limit_threads(int threads) {
  if (auto const set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(threads);
}

class onednn final : public peer {
 public:
  onednn(layer_list const& list, peer_memory memory, int threads, layout how)
      : engine_{dnnl::engine::kind::cpu, 0}, stream_{engine_}, how_{how} {
    limit_threads(threads);
    unsigned const avx512 = dnnl_cpu_isa_avx512_core;
    bool const wide = (unsigned(dnnl::get_effective_cpu_isa()) & avx512) == avx512;
    block_ = wide ? 16 : 8;
    blocked_ = wide ? tag::nChw16c : tag::nChw8c;
    for (std::size_t i = 0; i < list.layers.size(); ++i) add_layer(list, int(i), memory);
    for (std::size_t k = 0; k < memory.outputs.size(); ++k) write_output(list, list.outputs[k], memory.outputs[k]);
    bind();
  }

  void run() override {
    for (auto const& s : steps_) s.what.execute(stream_, s.bound);
    stream_.wait();
  }

  void run_layer() override {
    for (auto const& s : steps_)
      if (s.what.get_kind() != dnnl::primitive::kind::reorder) s.what.execute(stream_, s.bound);
    stream_.wait();
  }

 private:
  /// Memory of a value: the caller's, or a place in scratch memory, which may be shared with another value.
  struct value {
    memory::desc form;
    void* caller = nullptr;
    int shares = -1;
    lifetime needed{};
  };
  struct step {
    dnnl::primitive what;
    std::unordered_map<int, int> values;  ///< argument to value
    std::unordered_map<int, memory> bound;
  };

  int add_value(memory::desc const& form, void* caller = nullptr, int shares = -1) {
    values_.push_back({form, caller, shares, {form.get_size(), int(steps_.size()), int(steps_.size())}});
    return int(values_.size()) - 1;
  }
  memory::desc const& form(int v) const { return values_[std::size_t(v)].form; }
  int owner(int v) const {
    int const shares = values_[std::size_t(v)].shares;
    return shares < 0 ? v : owner(shares);
  }

  void add_step(dnnl::primitive what, std::unordered_map<int, int> values,
                std::unordered_map<int, memory> constants = {}) {
    for (auto const& [argument, v] : values) {
      lifetime& needed = values_[std::size_t(owner(v))].needed;
      needed.last = std::max(needed.last, int(steps_.size()));
    }
    steps_.push_back({std::move(what), std::move(values), std::move(constants)});
  }

  /// The value in another form: the same value, or a copy reordered by an additional step.
  int in_form(int v, memory::desc const& wanted) {
    if (same_bytes(form(v), wanted)) return v;
    int const to = add_value(wanted);
    add_step(dnnl::reorder({engine_, form(v), engine_, wanted}), {{DNNL_ARG_FROM, v}, {DNNL_ARG_TO, to}});
    return to;
  }

  /// Constant parameters in the form that the primitive requires.
  memory packed(std::vector<float> const& parameters, memory::desc const& given, memory::desc const& wanted) {
    memory const from(given, engine_, const_cast<float*>(parameters.data()));
    memory to(wanted, engine_);
    dnnl::reorder(from, to).execute(stream_, const_cast<memory&>(from), to);
    stream_.wait();
    return to;
  }

  int value_of(int layer) const { return value_of_layer_[std::size_t(layer)]; }

  void add_layer(layer_list const& list, int i, peer_memory memory) {
    layer const& l = list.layers[std::size_t(i)];
    if (is_of_transformers(l.kind)) throw unsupported(std::string(name_of(l.kind)) + " is not written for oneDNN");
    int v = -1;
    if (l.kind == op::input) {
      v = add_value(describe(l.out, tag::nhwc), memory.inputs[std::size_t(i)]);
    } else if (l.kind == op::linear && l.out.h == 1 && l.out.w == 1 && l.other < 0) {
      v = inner_product(l);
    } else if (is_complex(l.kind)) {
      v = convolution(list, l, i);
    } else if (is_pool(l.kind)) {
      v = pool(l);
    } else if (l.kind == op::add) {
      v = add(value_of(l.source), value_of(l.other), l.after);
    } else if (l.kind == op::clip) {
      v = activate(l);
    } else if (l.kind == op::slice) {
      v = slice(l);
    } else if (l.kind == op::concat) {
      v = concat(list, l, i);
    } else if (l.kind == op::channel_shuffle) {
      v = shuffle(l);
    }
    value_of_layer_.push_back(v);
  }

  using convolution_plan = dnnl::convolution_forward::primitive_desc;

  static bool is_fast(convolution_plan const& p) {
    std::string const name = p.impl_info_str();
    return name.find("ref") == name.npos && name.find("gemm") == name.npos;
  }

  convolution_plan plan(layer const& l, memory::desc const& source, memory::desc const& destination,
                        memory::desc const& weights, dnnl::post_ops const& after) const {
    ago::ir::window const& w = l.win;
    return {{dnnl::prop_kind::forward_inference,
             dnnl::algorithm::convolution_auto,
             source,
             weights,
             {{l.out.c}, memory::data_type::f32, tag::a},
             destination,
             {w.stride_h, w.stride_w},
             {w.dilation_h - 1, w.dilation_w - 1},
             {w.pad_top, w.pad_left},
             {w.pad_bottom, w.pad_right}},
            with(after),
            engine_};
  }

  /// The first forms of source and destination that have a fast implementation.
  convolution_plan choose(layer const& l, int source, std::optional<memory::desc> const& fixed_destination,
                          memory::desc const& weights, dnnl::post_ops const& after) const {
    struct forms {
      memory::desc source, destination;
    };
    memory::desc const any_source = describe(l.in, tag::any);
    memory::desc const destination = fixed_destination.value_or(describe(l.out, tag::any));
    std::vector<forms> candidates;
    if (how_ == layout::nhwc)
      candidates.push_back({describe(l.in, tag::nhwc), fixed_destination.value_or(describe(l.out, tag::nhwc))});
    if (how_ == layout::blocked) {
      memory::desc const blocked = fixed_destination.value_or(describe(l.out, blocked_));
      if (l.in.c >= block_) {
        candidates.push_back({describe(l.in, blocked_), blocked});
      } else {
        candidates.push_back({form(source), blocked});
        candidates.push_back({describe(l.in, tag::nchw), blocked});
      }
    }
    for (auto const& c : candidates) try {
        convolution_plan const p = plan(l, c.source, c.destination, weights, after);
        if (is_fast(p)) return p;
      } catch (dnnl::error const&) {}
    return plan(l, any_source, destination, weights, after);
  }

  int convolution(layer_list const& list, layer const& l, int i) {
    int source = value_of(l.source);
    int const other = l.other < 0 ? -1 : value_of(l.other);
    // Adding in place needs a value in scratch memory that has no later reader.
    bool const in_place = other >= 0 && list.last_reader[std::size_t(l.other)] == i && l.other != l.source &&
                          !values_[std::size_t(owner(other))].caller;
    dnnl::post_ops after;
    append(after, l.before);
    append(after, l.function);
    std::optional<memory::desc> destination;
    if (other >= 0) destination = form(other);
    if (in_place) {
      after.append_sum(1);
      append(after, l.after);
    }
    auto const groups = l.groups;
    memory::dims const extents = {groups, l.out.c / groups, l.in.c / groups, l.win.kernel_h, l.win.kernel_w};
    memory::dims const shape = groups > 1 ? extents : memory::dims(extents.begin() + 1, extents.end());
    auto const f32 = memory::data_type::f32;
    memory::desc const weights(shape, f32, tag::any);
    convolution_plan p = choose(l, source, destination, weights, after);
    int shares = in_place ? other : -1;
    if (std::optional<part> const whole = part_of(list, i); whole && other < 0) {
      int const to = joined(list, whole->of);
      convolution_plan const direct = choose(l, source, place_of(to, l, whole->first), weights, after);
      if (is_fast(direct) || !is_fast(p)) p = direct, shares = to;
    }
    source = in_form(source, p.src_desc());
    int const to = add_value(p.dst_desc(), nullptr, shares);
    memory::desc const given(shape, f32, groups > 1 ? tag::goihw : tag::oihw), bias({l.out.c}, f32, tag::a);
    add_step(
        dnnl::convolution_forward(p), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}},
        {{DNNL_ARG_WEIGHTS, packed(l.weights, given, p.weights_desc())}, {DNNL_ARG_BIAS, packed(l.bias, bias, bias)}});
    return other < 0 || in_place ? to : add(to, other, l.after);
  }

  int inner_product(layer const& l) {
    auto const f32 = memory::data_type::f32;
    memory::dims const shape = {l.out.c, l.in.c, 1, 1};
    memory::desc const bias({l.out.c}, f32, tag::a), result({l.out.n, l.out.c}, f32, tag::nc);
    dnnl::post_ops after;
    append(after, l.before);
    append(after, l.function);
    dnnl::inner_product_forward::primitive_desc const p(
        {dnnl::prop_kind::forward_inference, describe(l.in, tag::any), {shape, f32, tag::any}, bias, result},
        with(after), engine_);
    int const source = in_form(value_of(l.source), p.src_desc());
    int const to = add_value(p.dst_desc().reshape(dims_of(l.out)));
    add_step(dnnl::inner_product_forward(p), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}},
             {{DNNL_ARG_WEIGHTS, packed(l.weights, {shape, f32, tag::oihw}, p.weights_desc())},
              {DNNL_ARG_BIAS, packed(l.bias, bias, bias)}});
    return to;
  }

  int pool(layer const& l) {
    ago::ir::window w = l.win;
    if (l.kind == op::global_avg_pool) w = {.kernel_h = l.in.h, .kernel_w = l.in.w};
    if (w.dilation_h > 1 || w.dilation_w > 1) throw unsupported("dilated pooling is not supported here with oneDNN");
    dnnl::algorithm const how = l.kind == op::max_pool ? dnnl::algorithm::pooling_max
                                : l.count_pads         ? dnnl::algorithm::pooling_avg_include_padding
                                                       : dnnl::algorithm::pooling_avg_exclude_padding;
    int const source = value_of(l.source);
    dnnl::pooling_forward::primitive_desc const p({dnnl::prop_kind::forward_inference,
                                                   how,
                                                   form(source),
                                                   describe(l.out, tag::any),
                                                   {w.stride_h, w.stride_w},
                                                   {w.kernel_h, w.kernel_w},
                                                   {w.pad_top, w.pad_left},
                                                   {w.pad_bottom, w.pad_right}},
                                                  engine_);
    int const to = add_value(p.dst_desc());
    add_step(dnnl::pooling_forward(p), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
    return to;
  }

  int add(int first, int second, clamp behind) {
    second = in_form(second, form(first));
    dnnl::post_ops after;
    append(after, behind);
    dnnl::binary::primitive_desc const p({dnnl::algorithm::binary_add, form(first), form(second), form(first)},
                                         with(after), engine_);
    int const to = add_value(p.dst_desc());
    add_step(dnnl::binary(p), {{DNNL_ARG_SRC_0, first}, {DNNL_ARG_SRC_1, second}, {DNNL_ARG_DST, to}});
    return to;
  }

  int activate(layer const& l) {
    int const source = value_of(l.source), to = add_value(form(source));
    bool const relu = l.after.lower == 0 && std::isinf(l.after.upper);
    dnnl::eltwise_forward::primitive_desc const p(
        {dnnl::prop_kind::forward_inference, relu ? dnnl::algorithm::eltwise_relu : dnnl::algorithm::eltwise_clip,
         form(source), relu ? 0 : std::max(l.after.lower, -FLT_MAX), relu ? 0 : std::min(l.after.upper, FLT_MAX)},
        engine_);
    add_step(dnnl::eltwise_forward(p), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
    return to;
  }

  /// A part of an NHWC value, because blocks of channels cannot be cut.
  int slice(layer const& l) {
    int const source = in_form(value_of(l.source), describe(l.in, tag::nhwc));
    return add_value(form(source).submemory_desc(dims_of(l.out), {0, l.begin, 0, 0}), nullptr, source);
  }

  /// The value of a concatenation, created when its first part is written.
  int joined(layer_list const& list, int number) {
    auto const [found, is_new] = joined_.try_emplace(number, -1);
    if (is_new) {
      layer const& l = list.layers[std::size_t(number)];
      bool const whole_blocks = std::all_of(
          l.parts.begin(), l.parts.end(), [&](int part) { return list.layers[std::size_t(part)].out.c % block_ == 0; });
      found->second = add_value(describe(l.out, whole_blocks && how_ != layout::nhwc ? blocked_ : tag::nhwc));
    }
    return found->second;
  }

  struct part {
    int of, first;  ///< concatenation, channel
  };
  /// The concatenation that a layer may write its result into.
  static std::optional<part> part_of(layer_list const& list, int number) {
    for (std::size_t i = 0; i < list.layers.size(); ++i) {
      int first = 0;
      for (int const p : list.layers[i].parts) {
        if (p == number) return part{int(i), first};
        first += list.layers[std::size_t(p)].out.c;
      }
    }
    return std::nullopt;
  }

  /// A part's place in a concatenation.
  memory::desc place_of(int joined_value, layer const& l, int first) const {
    return form(joined_value).submemory_desc(dims_of(l.out), {0, first, 0, 0});
  }

  /// Reorders the parts that were not written in place.
  int concat(layer_list const& list, layer const& l, int i) {
    int const to = joined(list, i);
    int first = 0;
    for (int const number : l.parts) {
      layer const& source = list.layers[std::size_t(number)];
      int const v = value_of(number), place = add_value(place_of(to, source, first), nullptr, to);
      if (owner(v) != owner(to) || form(v).data.offset0 != form(place).data.offset0)
        add_step(dnnl::reorder({engine_, form(v), engine_, form(place)}), {{DNNL_ARG_FROM, v}, {DNNL_ARG_TO, place}});
      first += source.out.c;
    }
    return to;
  }

  int shuffle(layer const& l) {
    int const source = value_of(l.source), to = add_value(form(source));
    dnnl::shuffle_forward::primitive_desc const p(
        {dnnl::prop_kind::forward_inference, form(source), 1, l.in.c / l.groups}, engine_);
    add_step(dnnl::shuffle_forward(p), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
    return to;
  }

  void write_output(layer_list const& list, int layer, float* to) {
    memory::desc const wanted = describe(list.layers[std::size_t(layer)].out, tag::nhwc);
    int const v = value_of(layer);
    value& own = values_[std::size_t(v)];
    if (same_bytes(own.form, wanted) && own.shares < 0 && !own.caller) {
      own.caller = to;
    } else {
      int const outside = add_value(wanted, to);
      add_step(dnnl::reorder({engine_, form(v), engine_, wanted}), {{DNNL_ARG_FROM, v}, {DNNL_ARG_TO, outside}});
    }
  }

  void bind() {
    std::vector<lifetime> pieces;
    for (value const& v : values_) pieces.push_back(v.caller || v.shares >= 0 ? lifetime{0, 0, 0} : v.needed);
    placement const where = place(pieces);
    scratch_.emplace(where.bytes / sizeof(float));
    std::vector<memory> memories;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      auto const from = std::size_t(owner(int(i)));
      void* const data =
          values_[from].caller ? values_[from].caller : scratch_->data() + where.offsets[from] / sizeof(float);
      memories.emplace_back(values_[i].form, engine_, data);
    }
    for (step& s : steps_)
      for (auto const& [argument, v] : s.values) s.bound.emplace(argument, memories[std::size_t(v)]);
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  layout how_;
  int block_ = 0;
  tag blocked_{};
  std::vector<value> values_;
  std::vector<int> value_of_layer_;
  std::unordered_map<int, int> joined_;  ///< layer to value
  std::vector<step> steps_;
  std::optional<buffer> scratch_;
};

std::unique_ptr<peer> load(layer_list const& list, peer_memory memory, int threads, layout how) {
  try {
    return std::make_unique<onednn>(list, memory, threads, how);
  } catch (dnnl::error const& e) { throw unsupported(std::string("oneDNN: ") + e.what()); }
}

}  // namespace

std::unique_ptr<peer> load_onednn_blocked(layer_list const& list, peer_memory memory, int threads) {
  return load(list, memory, threads, layout::blocked);
}
std::unique_ptr<peer> load_onednn_nhwc(layer_list const& list, peer_memory memory, int threads) {
  return load(list, memory, threads, layout::nhwc);
}
std::unique_ptr<peer> load_onednn_any(layer_list const& list, peer_memory memory, int threads) {
  return load(list, memory, threads, layout::any);
}

}  // namespace bench
