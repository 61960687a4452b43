// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering.hpp"

#include "../onnx/refused.hpp"
#include "arithmetic.hpp"
#include "patterns.hpp"
#include "simplify.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace ago::importer {

namespace {

/// Operators that work on NHWC images.
bool works_on_images(std::string const& type) {
  static std::set<std::string, std::less<>> const types{"Conv",
                                                        "ConvTranspose",
                                                        "MaxPool",
                                                        "AveragePool",
                                                        "LpPool",
                                                        "GlobalAveragePool",
                                                        "GlobalMaxPool",
                                                        "BatchNormalization",
                                                        "InstanceNormalization",
                                                        "Resize",
                                                        "Upsample",
                                                        "DepthToSpace",
                                                        "SpaceToDepth",
                                                        "LRN",
                                                        "PRelu",
                                                        "GroupNormalization"};
  return types.count(type) != 0;
}

/// Which values reach such an operator through nothing but elementwise operators and padding.
std::vector<bool> images_of(onnx::model const& m) {
  std::vector<bool> r(m.values.size(), false);
  for (std::size_t i = m.operations.size(); i-- > 0;) {
    onnx::operation const& op = m.operations[i];
    bool const is_end = works_on_images(op.type);
    for (int x : op.inputs)
      for (int y : op.outputs) {
        if (x < 0 || y < 0) continue;
        bool const same = op.type == "Pad" || m.values[std::size_t(x)].dims == m.values[std::size_t(y)].dims;
        if (is_end || (same && r[std::size_t(y)])) r[std::size_t(x)] = true;
      }
  }
  return r;
}

int checked(std::int64_t extent) {
  if (extent <= 0) throw unsupported("a value has no elements");
  if (extent > tracing::int_limit) throw unsupported("a value is too large");
  return int(extent);
}

/// The caller's memory is row-major, as in ONNX, except for images with `channels_last`.
view add_input(builder& net, extents const& dims, bool is_image, bool channels_last) {
  std::vector<int> d;
  for (std::int64_t extent : dims) d.push_back(checked(extent));
  if (d.size() == 4 && is_image && (d[2] > 1 || d[3] > 1)) {
    auto const memory = channels_last ? ago::layout::nhwc : ago::layout::nchw;
    int const x = net.add_input({.n = d[0], .h = d[2], .w = d[3], .c = d[1], .layout = memory});
    return {x, of_axes(dims, {0, 2, 3, 1})};
  }
  if (d.size() == 4 && is_image) return {net.add_input({.n = d[0], .c = d[1]}), row_major(dims)};
  if (d.size() == 2) return {net.add_input({.n = d[0], .c = d[1]}), row_major(dims)};
  if (d.size() == 3) return {net.add_input({.n = d[0], .w = d[1], .c = d[2]}), row_major(dims)};
  while (d.size() > 4) d[1] = checked(std::int64_t(d[0]) * d[1]), d.erase(d.begin());
  d.insert(d.begin(), 4 - d.size(), 1);
  return {net.add_input({.n = d[0], .h = d[1], .w = d[2], .c = d[3]}), row_major(dims)};
}

extents dims_of(shape const& s) { return {s.n, s.h, s.w, s.c}; }

/// Whether an NCHW tensor is stored as NHWC.
bool is_turned_image(layout const& l, shape const& s) {
  auto const g = groups_of(l, s);
  if (l.is_row_major() || !g) return false;
  std::vector<int> nchw = (*g)[0];
  for (std::size_t extent : {3, 1, 2}) nchw.insert(nchw.end(), (*g)[extent].begin(), (*g)[extent].end());
  return std::is_sorted(nchw.begin(), nchw.end());
}

/// Outputs are row-major, as in ONNX, except for images with `channels_last`.
port add_output(builder& net, view const& x, onnx::value const& value, bool channels_last) {
  layout const l = simplified(x.how);
  shape const s = net.dims(x.value);
  bool const turned = is_turned_image(l, s);
  if (turned && channels_last) return net.add_output(x.value), port{value.name, dims_of(s)};
  if (turned) net.add_output(net.apply(to_nchw{}, {x.value}));
  else net.add_output(l.is_row_major() ? x.value : in_row_major(net, {x.value, l}).value);
  return {value.name, value.dims};
}

class lowering {
 public:
  lowering(onnx::model const& m, lowering_options const& o)
      : model_(m), options_(o), c_(m, o.most_weights), is_image_(images_of(m)) {}

  lowered_model run() {
    for (int v : model_.inputs) input(v);
    if (model_.inputs.empty()) findings_.push_back({"", "", "", "the model has no inputs: it is constant"});
    if (findings_.empty())
      for (auto const& op : model_.operations) lower_one(op);
    if (findings_.empty())
      for (int v : model_.outputs) output(v);
    if (findings_.empty() && options_.trace) trace();
    if (!findings_.empty()) throw onnx::import_error(findings_);
    result_.network = simplified(c_.net.take());
    result_.notes = model_.notes;
    return std::move(result_);
  }

 private:
  void input(int v) {
    auto const& value = model_.values[std::size_t(v)];
    c_.net.origin(value.name);
    try {
      view const x = add_input(c_.net, value.dims, is_image_[std::size_t(v)], options_.channels_last);
      c_.define(v, x);
      bool const turned = options_.channels_last && !simplified(x.how).is_row_major();
      result_.inputs.push_back({value.name, turned ? dims_of(c_.net.dims(x.value)) : value.dims});
    } catch (unsupported const& u) { findings_.push_back({"", "", value.name, u.what()}); }
  }
  void lower_one(onnx::operation const& op) {
    auto const found = rules().find(op.type);
    if (found == rules().end()) return complain(op, op.unfolded.empty() ? onnx::refusal_of(op.type) : op.unfolded);
    for (int v : op.inputs)
      if (v >= 0 && !c_.known(v) && !c_.defined(v)) return;  // its maker is already reported
    for (int v : op.outputs)
      if (v >= 0 && product(c_.dims(v)) == 0) return complain(op, "a value has no elements");
    c_.net.origin(op.name);
    try {
      found->second(node_reader(c_, op));
    } catch (unsupported const& u) { complain(op, u.what()); }
  }
  void complain(onnx::operation const& op, std::string reason) {
    findings_.push_back({op.name, op.type, "", std::move(reason)});
  }
  void output(int v) {
    auto const& value = model_.values[std::size_t(v)];
    c_.net.origin(value.name);
    try {
      result_.outputs.push_back(add_output(c_.net, c_.tensor_of(v), value, options_.channels_last));
    } catch (unsupported const& u) { findings_.push_back({"", "", value.name, u.what()}); }
  }
  void trace() {
    std::set<int> const outputs(model_.outputs.begin(), model_.outputs.end());
    for (auto const& op : model_.operations)
      for (int v : op.outputs)
        if (v >= 0 && c_.defined(v) && !outputs.count(v) && !c_.known(v)) output(v);
  }

  onnx::model const& model_;
  lowering_options options_;
  context c_;
  std::vector<bool> is_image_;
  lowered_model result_;
  std::vector<onnx::finding> findings_;
};

template <class T>
T const* find(onnx::operation const& op, char const* name) {
  auto const at = op.attributes.find(name);
  if (at == op.attributes.end()) return nullptr;
  T const* value = std::get_if<T>(&at->second);
  if (!value) throw unsupported(std::string("attribute ") + name + " has the wrong type");
  return value;
}

}  // namespace

onnx::constant const* context::known(int value) const {
  auto const& v = model.values[std::size_t(value)];
  return v.known ? &*v.known : nullptr;
}

void context::count_read(std::size_t numbers) {
  read_ += std::int64_t(numbers);
  if (read_ > most_read_)
    throw unsupported("the nodes together read more than " + std::to_string(most_read_) + " constant numbers");
}

std::vector<float> context::reals(onnx::constant const& k) {
  count_read(k.reals.size() + k.integers.size());
  if (k.type == onnx::element::real) return k.reals;
  return {k.integers.begin(), k.integers.end()};
}

std::vector<std::int64_t> context::integers(onnx::constant const& k, char const* what) {
  count_read(k.reals.size() + k.integers.size());
  if (k.type == onnx::element::integer) return k.integers;
  std::vector<std::int64_t> r;
  constexpr float most = 1 << 24;  // beyond this, floats skip integers
  for (float x : k.reals) {
    if (!(std::fabs(x) <= most) || x != std::floor(x)) throw unsupported(std::string(what) + " must be whole numbers");
    r.push_back(std::int64_t(x));
  }
  return r;
}

view context::tensor_of(int value) {
  auto& v = views_[std::size_t(value)];
  if (!v) {
    auto const* k = known(value);
    if (!k) throw unsupported("it reads a value that no node computes");
    v = constant(k->dims, reals(*k));
  }
  return *v;
}

void context::define(int value, view v) {
  if (v.how.dims != dims(value)) {
    std::string text =
        "the importer made another shape of " + onnx::printable(model.values[std::size_t(value)].name) + ":";
    for (std::int64_t d : v.how.dims) text += " " + std::to_string(d);
    throw unsupported(text);
  }
  if (v.how.count() != net.dims(v.value).count()) throw unsupported("the importer lost elements");
  v.how = simplified(v.how);
  views_[std::size_t(value)] = std::move(v);
}

std::vector<float> context::table(extents const& dims) const {
  net.afford(dims);
  return std::vector<float>(std::size_t(product(dims)), 0.f);
}

view context::constant(extents const& dims, std::vector<float> const& values) {
  return {net.apply(ago::constant{.c = checked(std::int64_t(values.size()))}, {0}, values), row_major(dims)};
}

int node_reader::input(int i) const {
  if (!has(i)) throw unsupported("input " + std::to_string(i) + " is missing");
  return op.inputs[std::size_t(i)];
}

std::vector<float> node_reader::reals(int i, char const* what) const {
  auto const* k = known(i);
  if (!k) throw unsupported(std::string(what) + " must be constant");
  return c.reals(*k);
}

std::vector<std::int64_t> node_reader::integers(int i, char const* what) const {
  auto const* k = known(i);
  if (!k) throw unsupported(std::string(what) + " must be constant");
  return c.integers(*k, what);
}

extents const& node_reader::out_dims(int i) const {
  if (!wants(i)) throw unsupported("output " + std::to_string(i) + " is not used");
  return c.dims(op.outputs[std::size_t(i)]);
}

void node_reader::define(view v, int output) const {
  if (wants(output)) c.define(op.outputs[std::size_t(output)], std::move(v));
}

std::int64_t node_reader::integer(char const* attribute, std::int64_t otherwise) const {
  auto const* v = find<std::int64_t>(op, attribute);
  return v ? *v : otherwise;
}
float node_reader::real(char const* attribute, float otherwise) const {
  auto const* v = find<float>(op, attribute);
  return v ? *v : otherwise;
}
std::string node_reader::text(char const* attribute, char const* otherwise) const {
  auto const* v = find<std::string>(op, attribute);
  return v ? *v : otherwise;
}
std::vector<std::int64_t> node_reader::list(char const* attribute, std::vector<std::int64_t> otherwise) const {
  auto const* v = find<std::vector<std::int64_t>>(op, attribute);
  return v ? *v : otherwise;
}
std::vector<std::int64_t> node_reader::list_or_input(char const* attribute, int i,
                                                     std::vector<std::int64_t> otherwise) const {
  return given(attribute) ? list(attribute) : has(i) ? integers(i, attribute) : otherwise;
}

int axis_of(std::int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= std::max(rank, 1)) throw unsupported("there is no axis " + std::to_string(axis));
  return int(axis);
}

rule_table const& rules() {
  static rule_table const table = [] {
    rule_table t;
    add_elementwise_rules(t);
    add_window_rules(t);
    add_product_rules(t);
    add_movement_rules(t);
    add_reduction_rules(t);
    add_normalisation_rules(t);
    add_pad_rules(t);
    add_resize_rules(t);
    add_attention_rules(t);
    add_place_rules(t);
    return t;
  }();
  return table;
}

lowered_model lower(onnx::model const& model, lowering_options const& options) {
  // A trace needs the values inside patterns too.
  return options.trace ? lowering(model, options).run() : lowering(with_patterns(model), options).run();
}

}  // namespace ago::importer
