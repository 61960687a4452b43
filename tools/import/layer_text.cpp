// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers as C++ text.
#include "arithmetic.hpp"
#include "expression.hpp"

namespace ago::importer {

namespace {

std::string text_of(int x) { return std::to_string(x); }
std::string text_of(bool x) { return x ? "true" : "false"; }
std::string text_of(extent2 e) { return e.h == e.w ? text_of(e.h) : "{" + text_of(e.h) + ", " + text_of(e.w) + "}"; }
std::string text_of(padding const& p) {
  if (p.is_same) return "same";
  pads const& s = p.sides;
  if (s.top != s.bottom || s.left != s.right)
    return "pads{" + text_of(s.top) + ", " + text_of(s.left) + ", " + text_of(s.bottom) + ", " + text_of(s.right) + "}";
  return text_of(extent2{s.top, s.left});
}
std::string text_of(ago::axis a) {
  constexpr char const* names[] = {"images", "rows", "columns", "channels"};
  return std::string("axis::") + names[int(a)];
}

std::string text_of(pad_mode m) {
  constexpr char const* names[] = {"constant", "reflect", "edge", "wrap"};
  return std::string("pad_mode::") + names[int(m)];
}
std::string text_of(sampling s) {
  constexpr char const* names[] = {"standard", "half_pixel", "asymmetric", "align_corners", "half_pixel_or_first"};
  return std::string("sampling::") + names[int(s)];
}
std::string text_of(rounding r) {
  constexpr char const* names[] = {"down", "up", "nearest_or_down", "nearest_or_up"};
  return std::string("rounding::") + names[int(r)];
}

std::string text_of(extent3 e) {
  if (e.d == e.h && e.h == e.w) return text_of(e.d);
  return "{" + text_of(e.d) + ", " + text_of(e.h) + ", " + text_of(e.w) + "}";
}
std::string text_of(pads3 const& p) {
  if (p.front == p.back && p.top == p.bottom && p.left == p.right) return text_of(extent3{p.front, p.top, p.left});
  std::string r;
  for (int side : {p.front, p.top, p.left, p.back, p.bottom, p.right}) r += (r.empty() ? "{" : ", ") + text_of(side);
  return r + "}";
}

argument number(char const* field, int value, char const* otherwise = "") {
  return {field, text_of(value), otherwise, "int"};
}
argument extent(char const* field, extent2 value, char const* otherwise = "") {
  return {field, text_of(value), otherwise, "extent2"};
}
argument optional_extent(char const* field, extent2 value, extent2 otherwise) {
  return {field, text_of(value), text_of(otherwise), "extent2"};
}
argument sides(padding const& value) { return {".pad", text_of(value), "0", "padding"}; }
argument flag(char const* field, bool value, bool otherwise) {
  return {field, text_of(value), text_of(otherwise), "bool"};
}
argument real(char const* field, float value, char const* otherwise = "") {
  return {field, literal(value), otherwise, "float"};
}

/// Layers without arguments, and those with a few numbers.
struct namer {
  item operator()(input const&) const { return {.name = "input"}; }
  item operator()(conv2d const& l) const {
    return {.name = "conv2d",
            .arguments = {number(".out", l.out), extent(".kernel", l.kernel, "1"), extent(".stride", l.stride, "1"),
                          sides(l.pad), extent(".dilation", l.dilation, "1"), number(".groups", l.groups, "1"),
                          flag(".bias", l.bias, false)}};
  }
  /// A window on volumes. Its arguments are not replaced by parameters of blocks.
  template <class Layer>
  static item on_volume(char const* name, Layer const& l, std::vector<argument> more) {
    item r{.name = name};
    if constexpr (requires { l.out; }) r.arguments.push_back(number(".out", l.out));
    r.arguments.push_back({".kernel", text_of(l.kernel), "", ""});
    if constexpr (requires { l.stride.given; })
      r.arguments.push_back({".stride", text_of(l.stride.value_or(l.kernel)), text_of(l.kernel), ""});
    else r.arguments.push_back({".stride", text_of(l.stride), "1", ""});
    r.arguments.push_back({".pad", text_of(l.pad), "0", ""});
    if constexpr (requires { l.output_pad; }) r.arguments.push_back({".output_pad", text_of(l.output_pad), "0", ""});
    r.arguments.push_back({".dilation", text_of(l.dilation), "1", ""});
    if constexpr (requires { l.ceil; }) r.arguments.push_back(flag(".ceil", l.ceil, false));
    r.arguments.insert(r.arguments.end(), more.begin(), more.end());
    return r;
  }
  item operator()(conv3d const& l) const { return on_volume("conv3d", l, {number(".groups", l.groups, "1")}); }
  item operator()(conv_transpose3d const& l) const {
    return on_volume("conv_transpose3d", l, {number(".groups", l.groups, "1")});
  }
  item operator()(max_pool3d const& l) const { return on_volume("max_pool3d", l, {}); }
  item operator()(max_pool3d_index const& l) const {
    return on_volume("max_pool3d_index", l, {flag(".column_major", l.column_major, false)});
  }
  item operator()(avg_pool3d const& l) const {
    return on_volume("avg_pool3d", l, {flag(".count_pads", l.count_pads, true)});
  }
  item operator()(lp_pool3d const& l) const { return on_volume("lp_pool3d", l, {real(".p", l.p, "2.f")}); }
  item operator()(col2im const& l) const {
    return {.name = "col2im",
            .arguments = {number(".height", l.height),
                          number(".width", l.width),
                          extent(".kernel", l.kernel),
                          extent(".stride", l.stride, "1"),
                          {".pad", "{" + text_of(l.pad.top) + ", " + text_of(l.pad.left) + "}", "{0, 0}", ""},
                          extent(".dilation", l.dilation, "1")}};
  }
  item operator()(take_along_axis const&) const { return {.name = "take_along_axis"}; }
  item operator()(gather_nd const& l) const {
    return {.name = "gather_nd",
            .arguments = {number(".first", l.first, "1"), number(".second", l.second, "1"),
                          number(".third", l.third, "1"), number(".fourth", l.fourth, "1")}};
  }
  item operator()(reverse_sequence const&) const { return {.name = "reverse_sequence"}; }
  item operator()(grid_sample const& l) const {
    constexpr char const *modes[] = {"bilinear", "nearest", "bicubic"}, *paddings[] = {"zeros", "border", "reflection"};
    return {.name = "grid_sample",
            .arguments = {{".mode", std::string("grid_sample::") + modes[l.mode], "grid_sample::bilinear", ""},
                          {".outside", std::string("grid_sample::") + paddings[l.outside], "grid_sample::zeros", ""},
                          flag(".align_corners", l.align_corners, false)}};
  }
  item operator()(hardmax const&) const { return {.name = "hardmax"}; }
  item operator()(triangle const& l) const {
    return {.name = "triangle", .arguments = {number(".diagonal", l.diagonal, "0"), flag(".lower", l.lower, false)}};
  }
  item operator()(view_as const& l) const {
    item r{.name = "view", .positional = true};
    for (int d = 0; d < l.to.rank; ++d) r.arguments.push_back({"", text_of(l.to.of[d]), "", ""});
    return r;
  }
  item operator()(conv_transpose const& l) const {
    return {.name = "conv_transpose",
            .arguments = {number(".out", l.out), extent(".kernel", l.kernel, "1"), extent(".stride", l.stride, "1"),
                          sides(l.pad), extent(".output_pad", l.output_pad, "0"), extent(".dilation", l.dilation, "1"),
                          number(".groups", l.groups, "1"), flag(".bias", l.bias, false)}};
  }
  item operator()(depth_to_space const& l) const { return block_of("depth_to_space", l.block); }
  item operator()(pixel_shuffle const& l) const { return block_of("pixel_shuffle", l.block); }
  item operator()(space_to_depth const& l) const { return block_of("space_to_depth", l.block); }
  static item block_of(char const* name, extent2 block) {
    return {.name = name, .arguments = {extent(".block", block)}};
  }
  item operator()(pointwise const& l) const {
    return {.name = "pointwise", .arguments = {number(".out", l.out), flag(".bias", l.bias, false)}};
  }
  item operator()(depthwise const& l) const {
    return {.name = "depthwise",
            .arguments = {extent(".kernel", l.kernel), extent(".stride", l.stride, "1"), sides(l.pad),
                          extent(".dilation", l.dilation, "1"), number(".multiplier", l.multiplier, "1"),
                          flag(".bias", l.bias, false)}};
  }
  item operator()(linear const& l) const {
    return {.name = "linear", .arguments = {number(".out", l.out), flag(".bias", l.bias, true)}};
  }
  item operator()(bias const&) const { return {.name = "bias"}; }
  item operator()(batch_norm const& l) const {
    return {.name = "batch_norm", .arguments = {real(".epsilon", l.epsilon, "1e-05f")}};
  }
  item operator()(layer_norm const& l) const {
    return {.name = "layer_norm", .arguments = {real(".epsilon", l.epsilon, "1e-05f")}};
  }
  item operator()(rms_norm const& l) const {
    return {.name = "rms_norm", .arguments = {real(".epsilon", l.epsilon, "1e-05f")}};
  }
  item operator()(group_norm const& l) const {
    return {.name = "group_norm",
            .arguments = {number(".groups", l.groups, "1"), real(".epsilon", l.epsilon, "1e-05f")}};
  }
  item operator()(instance_norm const& l) const {
    return {.name = "instance_norm", .arguments = {real(".epsilon", l.epsilon, "1e-05f")}};
  }
  item operator()(l2_normalize const& l) const {
    return {.name = "l2_normalize",
            .arguments = {{".along", text_of(l.along), "axis::channels", ""}, real(".least", l.least, "1e-12f")}};
  }
  item operator()(local_response_norm const& l) const {
    return {.name = "local_response_norm",
            .arguments = {number(".size", l.size, "5"), real(".alpha", l.alpha, ".0001f"),
                          real(".beta", l.beta, ".75f"), real(".bias", l.bias, "1.f")}};
  }
  item operator()(embedding const& l) const {
    return {.name = "embedding", .arguments = {number(".entries", l.entries), number(".width", l.width)}};
  }
  item operator()(positions const&) const { return {.name = "positions"}; }
  item operator()(relu const&) const { return {.name = "relu"}; }
  item operator()(relu6 const&) const { return {.name = "relu6"}; }
  item operator()(leaky_relu const& l) const { return {.name = "leaky_relu", .arguments = {real(".slope", l.slope)}}; }
  item operator()(clip const& l) const {
    return {.name = "clip", .arguments = {real(".lo", l.lo), real(".hi", l.hi)}, .positional = true};
  }
  item operator()(hard_sigmoid const&) const { return {.name = "hard_sigmoid"}; }
  item operator()(hard_swish const&) const { return {.name = "hard_swish"}; }
  item operator()(sigmoid const&) const { return {.name = "sigmoid"}; }
  item operator()(silu const&) const { return {.name = "silu"}; }
  item operator()(hyperbolic_tangent const&) const { return {.name = "hyperbolic_tangent"}; }
  item operator()(gelu const& l) const {
    return {.name = "gelu", .arguments = {flag(".approximate", l.approximate, false)}};
  }
  item operator()(identity const&) const { return {.name = "identity"}; }
  item operator()(map_of const& l) const {
    return {
        .name = "map", .arguments = {{"", "[](auto x) { return " + l.expression + "; }", "", ""}}, .positional = true};
  }
  item operator()(max_pool const& l) const {
    return {
        .name = "max_pool",
        .arguments = {extent(".kernel", l.kernel), optional_extent(".stride", l.stride.value_or(l.kernel), l.kernel),
                      sides(l.pad), extent(".dilation", l.dilation, "1"), flag(".ceil", l.ceil, false)}};
  }
  item operator()(avg_pool const& l) const {
    return {
        .name = "avg_pool",
        .arguments = {extent(".kernel", l.kernel), optional_extent(".stride", l.stride.value_or(l.kernel), l.kernel),
                      sides(l.pad), extent(".dilation", l.dilation, "1"), flag(".ceil", l.ceil, false),
                      flag(".count_pads", l.count_pads, true)}};
  }
  item operator()(global_avg_pool const&) const { return {.name = "global_avg_pool"}; }
  item operator()(global_max_pool const&) const { return {.name = "global_max_pool"}; }
  item operator()(softmax const&) const { return {.name = "softmax"}; }
  item operator()(slice const& l) const {
    return {.name = "slice",
            .arguments = {number(".begin", l.begin),
                          number(".count", l.count),
                          {".axis", text_of(l.axis), "axis::channels", ""},
                          number(".step", l.step, "1")}};
  }
  item operator()(channel_shuffle const& l) const {
    return {.name = "channel_shuffle", .arguments = {number(".groups", l.groups)}};
  }
  item operator()(reshape const& l) const {
    return {
        .name = "reshape",
        .arguments = {number(".n", l.n, "0"), number(".h", l.h, "0"), number(".w", l.w, "0"), number(".c", l.c, "0")}};
  }
  item operator()(permute const& l) const {
    item r{.name = "permute", .positional = true};
    for (int a : {l.n, l.h, l.w, l.c}) r.arguments.push_back({"", text_of(a), "", ""});
    return r;
  }
  item operator()(pad const& l) const {
    return {.name = "pad",
            .arguments = {{".sides", text_of(l.sides), "0", "padding"},
                          real(".value", l.value, "0.f"),
                          {".mode", text_of(l.mode), "pad_mode::constant", ""},
                          number(".channels_before", l.channels_before, "0"),
                          number(".channels_after", l.channels_after, "0")}};
  }
  item operator()(resize_nearest const& l) const {
    item r = resize_to("resize_nearest", l.height, l.width, l.sampling);
    if (l.rounding != rounding::down) r.arguments.push_back({".rounding", text_of(l.rounding), "", ""});
    r.positional = r.arguments.size() == 2;
    return r;
  }
  item operator()(resize_bilinear const& l) const {
    return resize_to("resize_bilinear", l.height, l.width, l.sampling);
  }
  static item resize_to(char const* name, int height, int width, ago::sampling from) {
    item r{.name = name, .arguments = {number(".height", height), number(".width", width)}};
    if (from != sampling::standard) r.arguments.push_back({".sampling", text_of(from), "", ""});
    r.positional = r.arguments.size() == 2;
    return r;
  }
  item operator()(attention const& l) const {
    return {
        .name = "attention",
        .arguments = {number(".heads", l.heads, "1"), extent(".patch", l.patch, "1"), real(".scale", l.scale, "0.f")}};
  }
  item operator()(to_nchw const&) const { return {.name = "to_nchw"}; }
  item operator()(elu const& l) const { return {.name = "elu", .arguments = {real(".alpha", l.alpha, "1.f")}}; }
  item operator()(selu const& l) const {
    return {.name = "selu", .arguments = {real(".alpha", l.alpha, "1.6732632f"), real(".gamma", l.gamma, "1.050701f")}};
  }
  item operator()(celu const& l) const { return {.name = "celu", .arguments = {real(".alpha", l.alpha, "1.f")}}; }
  item operator()(affine_sigmoid const& l) const {
    return {
        .name = "affine_sigmoid", .arguments = {real(".alpha", l.alpha), real(".beta", l.beta)}, .positional = true};
  }
  item operator()(threshold const& l) const {
    return {.name = "threshold", .arguments = {real(".at", l.at), real(".value", l.value)}, .positional = true};
  }
  item operator()(shrink const& l) const {
    return {.name = "shrink", .arguments = {real(".lambda", l.lambda), real(".bias", l.bias)}, .positional = true};
  }
  item operator()(affine const& l) const {
    return {.name = "affine", .arguments = {real(".factor", l.factor, "1.f"), real(".summand", l.summand, "0.f")}};
  }
  item operator()(to_power const& l) const {
    return {.name = "to_power", .arguments = {real(".exponent", l.exponent)}};
  }
  item operator()(softplus const&) const { return {.name = "softplus"}; }
  item operator()(mish const&) const { return {.name = "mish"}; }
  item operator()(softsign const&) const { return {.name = "softsign"}; }
  item operator()(negative const&) const { return {.name = "negative"}; }
  item operator()(absolute const&) const { return {.name = "absolute"}; }
  item operator()(square_root const&) const { return {.name = "square_root"}; }
  item operator()(reciprocal_root const&) const { return {.name = "reciprocal_root"}; }
  item operator()(reciprocal const&) const { return {.name = "reciprocal"}; }
  item operator()(exponential const&) const { return {.name = "exponential"}; }
  item operator()(logarithm const&) const { return {.name = "logarithm"}; }
  item operator()(error_function const&) const { return {.name = "error_function"}; }
  item operator()(sine const&) const { return {.name = "sine"}; }
  item operator()(cosine const&) const { return {.name = "cosine"}; }
  item operator()(round_down const&) const { return {.name = "round_down"}; }
  item operator()(round_up const&) const { return {.name = "round_up"}; }
  item operator()(round_off const&) const { return {.name = "round_off"}; }
  item operator()(scale const&) const { return {.name = "scale"}; }
  item operator()(prelu const& l) const { return {.name = "prelu", .arguments = {flag(".shared", l.shared, false)}}; }
  item operator()(expand const& l) const {
    return {
        .name = "expand",
        .arguments = {number(".n", l.n, "0"), number(".h", l.h, "0"), number(".w", l.w, "0"), number(".c", l.c, "0")}};
  }
  item operator()(tile const& l) const {
    return {
        .name = "tile",
        .arguments = {number(".n", l.n, "1"), number(".h", l.h, "1"), number(".w", l.w, "1"), number(".c", l.c, "1")}};
  }
  item operator()(constant const& l) const {
    return {
        .name = "constant",
        .arguments = {number(".n", l.n, "1"), number(".h", l.h, "1"), number(".w", l.w, "1"), number(".c", l.c, "1")}};
  }
  static item reduction_of(char const* name, axes const& along) {
    std::string list;
    for (int i = 0; i < 4; ++i)
      if (along.has[i]) list += (list.empty() ? "" : ", ") + text_of(ago::axis(i));
    return {.name = name, .arguments = {{"", "{" + list + "}", "", ""}}, .positional = true};
  }
  item operator()(reduce_sum const& l) const { return reduction_of("reduce_sum", l.along); }
  item operator()(reduce_mean const& l) const { return reduction_of("reduce_mean", l.along); }
  item operator()(reduce_max const& l) const { return reduction_of("reduce_max", l.along); }
  item operator()(reduce_min const& l) const { return reduction_of("reduce_min", l.along); }
  item operator()(reduce_product const& l) const { return reduction_of("reduce_product", l.along); }
  item operator()(arg_max const& l) const {
    return {.name = "arg_max", .arguments = {{".along", text_of(l.along), "", ""}, flag(".last", l.last, false)}};
  }
  item operator()(binary const& l) const {
    switch (l.kind) {
      case op::add: return {.name = "+"};
      case op::sub: return {.name = "-"};
      case op::mul: return {.name = "*"};
      case op::div: return {.name = "/"};
      default: return {.name = name_of(l.kind)};
    }
  }
  item operator()(join const& l) const {
    return {.name = "concat", .arguments = {{"", text_of(l.along), "axis::channels", ""}}};
  }
  item operator()(product_of const& l) const {
    return {.name = "matmul", .arguments = {flag("", l.transposed, false)}};
  }
};

}  // namespace

item item_of(call const& c) {
  item r = std::visit(namer{}, c.what);
  r.origin = c.origin;
  return r;
}

std::string written_layer(item const& i);

std::string head_of(call const& c, std::vector<std::string> const& x) {
  item const i = item_of(c);
  if (i.name.size() == 1) return x[0] + " " + i.name + " " + x[1];
  std::string list;
  if (i.name == "concat" && i.arguments[0].value != i.arguments[0].otherwise) list = i.arguments[0].value;
  for (std::string const& name : x) list += (list.empty() ? "" : ", ") + name;
  if (i.name == "matmul" && i.arguments[0].value == "true") list += ", true";
  bool const is_function = i.name == "concat" || i.name == "matmul" || std::holds_alternative<binary>(c.what);
  return (is_function ? i.name : written_layer(i)) + "(" + list + ")";
}

/// conv2d{.out = 8, .kernel = 3}
std::string written_layer(item const& i) {
  std::string list;
  std::size_t given = 0;
  for (argument const& a : i.arguments) given += a.value != a.otherwise;
  bool const first_only = given == 1 && !i.arguments.empty() && i.arguments[0].value != i.arguments[0].otherwise;
  for (argument const& a : i.arguments) {
    if (a.value == a.otherwise && !i.positional) continue;
    list += list.empty() ? "" : ", ";
    list += (i.positional || (first_only && i.kind == item_kind::layer) ? "" : a.field + " = ") + a.value;
  }
  return i.name + (i.kind == item_kind::block ? "(" + list + ")" : "{" + list + "}");
}

}  // namespace ago::importer
