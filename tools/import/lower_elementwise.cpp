// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators: activations, arithmetic, comparisons.
#include "arithmetic.hpp"
#include "images.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace ago::importer {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// `yes` where x is true, that is not 0, otherwise `no`.
std::string where_true(float yes, float no) { return where_less(wide(0), "math::abs(x)", wide(yes), wide(no)); }

template <class Layer>
void layer_of(node_reader const& n) {
  n.define(unary(n.c, n.x(), Layer{}));
}

void same(node_reader const& n) { n.define(n.x()); }

/// Rounded towards zero.
view truncated(context& c, view x) { return mapped(c, x, where_less("x", wide(0), "math::ceil(x)", "math::floor(x)")); }

void dropout(node_reader const& n) {
  if (n.wants(1)) {  // dropout does nothing at inference
    std::vector<float> ones = n.c.table(n.dims());
    std::fill(ones.begin(), ones.end(), 1.f);
    n.define(n.c.constant(n.dims(), ones), 1);
  }
  n.define(n.x());
}

void cast(node_reader const& n) {
  constexpr std::int64_t to_bool = 9;
  auto const& from = n.c.model.values[std::size_t(n.input(0))];
  auto const& to = n.c.model.values[std::size_t(n.op.outputs[0])];
  if (n.integer("to", 1) == to_bool) return n.define(mapped(n.c, n.x(), where_true(1, 0)));
  bool const rounds = from.type == onnx::element::real && to.type == onnx::element::integer;
  n.define(rounds ? truncated(n.c, n.x()) : n.x());
}

/// Operators without a layer of their own, as an expression of x.
std::string formula(node_reader const& n) {
  std::string const& type = n.op.type;
  if (type == "Sign") return where_less(wide(0), "x", wide(1), where_less("x", wide(0), wide(-1), wide(0)));
  if (type == "Swish") return "x * math::sigmoid(" + literal(n.real("alpha", 1)) + " * x)";
  if (type == "Tan") return "math::sin(x) / math::cos(x)";
  if (type == "Sinh") return ".5f * (math::exp(x) - math::exp(-x))";
  if (type == "Cosh") return ".5f * (math::exp(x) + math::exp(-x))";
  if (type == "Atan") return "math::atan(x)";
  if (type == "Asin") return "math::atan(x / math::sqrt((1.f - x) * (1.f + x)))";
  if (type == "Acos") return "2.f * math::atan(math::sqrt((1.f - x) / (1.f + x)))";
  if (type == "Asinh") return "math::log(x + math::sqrt(x * x + 1.f))";
  if (type == "Acosh") return "math::log(x + math::sqrt(x * x - 1.f))";
  if (type == "Atanh") return ".5f * math::log((1.f + x) / (1.f - x))";
  throw std::logic_error("importer: no formula for " + type);
}

void by_formula(node_reader const& n) { n.define(mapped(n.c, n.x(), formula(n))); }

/// Layers whose parameters are attributes.
void with_numbers(node_reader const& n) {
  std::string const& type = n.op.type;
  auto const layer = [&](layer_value l) { n.define(unary(n.c, n.x(), std::move(l))); };
  if (type == "Elu") return layer(elu{n.real("alpha", 1)});
  if (type == "Celu") return layer(celu{n.real("alpha", 1)});
  if (type == "Selu") return layer(selu{n.real("alpha", 1.6732632423543772f), n.real("gamma", 1.0507009873554805f)});
  if (type == "ThresholdedRelu") return layer(threshold{n.real("alpha", 1), 0});
  if (type == "Shrink") return layer(shrink{n.real("lambd", 0.5f), n.real("bias", 0)});
  layer(affine{-1, 1});  // Not
}

void leaky(node_reader const& n) { n.define(unary(n.c, n.x(), leaky_relu{n.real("alpha", 0.01f)})); }

void hard_sigmoid_rule(node_reader const& n) {
  float const alpha = n.real("alpha", 0.2f), beta = n.real("beta", 0.5f);
  if (std::fabs(alpha - 1 / 6.f) < 1e-7f && beta == 0.5f) return n.define(unary(n.c, n.x(), hard_sigmoid{}));
  n.define(unary(n.c, n.x(), affine_sigmoid{alpha, beta}));
}

void gelu_rule(node_reader const& n) { n.define(unary(n.c, n.x(), gelu{n.text("approximate", "none") == "tanh"})); }

/// A bound of Clip, in any operator set.
float bound(node_reader const& n, char const* attribute, int input, float otherwise) {
  if (n.given(attribute)) return n.real(attribute, otherwise);
  if (!n.has(input)) return otherwise;
  auto const k = n.reals(input, attribute);
  if (k.size() != 1) throw unsupported(std::string(attribute) + " must be one number");
  return k[0];
}

void clip_rule(node_reader const& n) {
  float const lo = bound(n, "min", 1, -infinity), hi = bound(n, "max", 2, infinity);
  view const x = n.x();
  if (lo == 0 && hi == 6) return n.define(unary(n.c, x, relu6{}));
  if (lo == 0 && hi >= std::numeric_limits<float>::max()) return n.define(unary(n.c, x, relu{}));
  if (lo > hi) return n.define(unary(n.c, x, clip{hi, hi}));  // the upper bound wins
  constexpr float most = std::numeric_limits<float>::max();
  if (lo > -infinity || hi < infinity) return n.define(unary(n.c, x, clip{std::max(lo, -most), std::min(hi, most)}));
  n.define(x);
}

arithmetic arithmetic_of(std::string const& type) {
  if (type == "Sub") return arithmetic::subtract;
  if (type == "Mul" || type == "And") return arithmetic::multiply;
  if (type == "Div") return arithmetic::divide;
  if (type == "Max" || type == "Or") return arithmetic::maximum;
  if (type == "Min") return arithmetic::minimum;
  if (type == "Pow") return arithmetic::power;
  return arithmetic::add;
}

/// Arithmetic of two inputs, of which one may be constant.
view pair(node_reader const& n, arithmetic what, int i, int k) {
  if (n.known(i)) return combined(n.c, what, n.dims(i), n.reals(i, ""), n.x(k));
  if (n.known(k)) return combined(n.c, what, n.x(i), n.dims(k), n.reals(k, ""));
  return combined(n.c, what, n.x(i), n.x(k));
}

bool of_integers(node_reader const& n) {
  return n.c.model.values[std::size_t(n.op.outputs[0])].type == onnx::element::integer;
}

/// a <what> the second operand, which may be constant.
view with_second(node_reader const& n, arithmetic what, view const& a) {
  return n.known(1) ? combined(n.c, what, a, n.dims(1), n.reals(1, "")) : combined(n.c, what, a, n.x(1));
}

/// The quotient of two integers, rounded towards zero. Half a unit more keeps the rounding of floats from changing the
/// result, up to 2^22.
view quotient(node_reader const& n) {
  std::string const farther = where_less("x", wide(0), "x - .5f", "x + .5f");
  return truncated(n.c, with_second(n, arithmetic::divide, mapped(n.c, n.x(0), farther)));
}

/// The remainder of integers, with the sign of the divisor or, if `fmod`, of the dividend.
void modulus(node_reader const& n) {
  if (!of_integers(n)) throw unsupported("remainders of floats are not supported");
  auto const remainder = [&](view const& x, view const& q) {
    return combined(n.c, arithmetic::subtract, x, with_second(n, arithmetic::multiply, q));
  };
  view const x = n.x(0), r = remainder(x, quotient(n));
  if (n.integer("fmod", 0) != 0) return n.define(r);
  view const other_sign =
      mapped(n.c, with_second(n, arithmetic::multiply, r), where_less("x", wide(0), wide(-1), wide(0)));
  n.define(remainder(r, other_sign));
}

void two_values(node_reader const& n) {
  if (n.op.type == "Div" && of_integers(n)) return n.define(quotient(n));
  if (n.input(0) == n.input(1) && n.op.type == "Mul") return n.define(mapped(n.c, n.x(), "x * x"));
  n.define(pair(n, arithmetic_of(n.op.type), 0, 1));
}

/// Sum, Mean, Max, Min of any number of values.
void many(node_reader const& n) {
  auto const what = arithmetic_of(n.op.type == "Mean" ? "Add" : n.op.type);
  int const count = int(n.op.inputs.size());
  view r = count == 1 ? n.x() : pair(n, what, 0, 1);
  for (int i = 2; i < count; ++i)
    r = n.known(i) ? combined(n.c, what, r, n.dims(i), n.reals(i, "")) : combined(n.c, what, r, n.x(i));
  if (n.op.type == "Mean" && count > 1) r = unary(n.c, r, affine{1.f / float(count), 0});
  n.define(r);
}

/// True is 1.
void compare(node_reader const& n) {
  view const d = pair(n, arithmetic::subtract, 0, 1);
  std::string const zero = wide(0), one = wide(1), type = n.op.type;
  auto const truth = [&] {
    if (type == "Greater") return where_less(zero, "x", one, zero);
    if (type == "Less") return where_less("x", zero, one, zero);
    if (type == "GreaterOrEqual") return where_less("x", zero, zero, one);
    if (type == "LessOrEqual") return where_less(zero, "x", zero, one);
    return type == "Equal" ? where_true(0, 1) : where_true(1, 0);  // Xor
  };
  n.define(mapped(n.c, d, truth()));
}

// Where is the maximum of two minima with infinities: its result is bitwise one of the elements. A product with the
// condition would lose small numbers beside the large ones of a mask, and make NaN of infinities.

/// The result if the condition is the same everywhere.
view chosen(node_reader const& n, int i) {
  if (!n.known(i)) return expanded(n.c, n.x(i), n.out_dims());
  return n.c.constant(n.out_dims(), broadcast_values(n.c, n.dims(i), n.reals(i, ""), n.out_dims()));
}

/// Operand i where the known condition selects it, otherwise -infinity.
view chosen_from(node_reader const& n, std::vector<float> bounds, int i) {
  for (float& b : bounds) b = (b != 0) == (i == 1) ? infinity : -infinity;
  return combined(n.c, arithmetic::minimum, n.x(i), n.dims(0), bounds);
}

/// With a known condition.
view where_known(node_reader const& n) {
  std::vector<float> const truth = n.reals(0, "");
  bool const first = std::all_of(truth.begin(), truth.end(), [](float t) { return t != 0; });
  if (first || std::all_of(truth.begin(), truth.end(), [](float t) { return t == 0; })) return chosen(n, first ? 1 : 2);
  int const i = n.known(1) ? 2 : 1, other = 3 - i;
  view const r = chosen_from(n, truth, i);
  if (!n.known(other)) return combined(n.c, arithmetic::maximum, r, chosen_from(n, truth, other));
  extents const dims = broadcast(n.dims(0), n.dims(other));
  std::vector<float> const all = broadcast_values(n.c, n.dims(0), truth, dims);
  std::vector<float> values = broadcast_values(n.c, n.dims(other), n.reals(other, ""), dims);
  for (std::size_t k = 0; k < values.size(); ++k)
    if ((all[k] != 0) != (other == 1)) values[k] = -infinity;
  bool const none = std::all_of(values.begin(), values.end(), [](float v) { return v == -infinity; });
  return none ? r : combined(n.c, arithmetic::maximum, r, dims, values);
}

/// `yes` or `no`, by a condition computed at run time.
view by_condition(node_reader const& n, float yes, float no) { return mapped(n.c, n.x(), where_true(yes, no)); }

/// The value of a constant operand with a single element.
std::optional<float> only_number(node_reader const& n, int i) {
  if (!n.known(i)) return {};
  auto const k = n.reals(i, "");
  return k.size() == 1 ? std::optional(k[0]) : std::nullopt;
}

view where_computed(node_reader const& n) {
  std::optional<float> const yes = only_number(n, 1), no = only_number(n, 2);
  if (yes && no) return by_condition(n, *yes, *no);
  auto const from = [&](int i, std::optional<float> k) {
    if (k) return i == 1 ? by_condition(n, *k, -infinity) : by_condition(n, -infinity, *k);
    view const bounds = i == 1 ? by_condition(n, infinity, -infinity) : by_condition(n, -infinity, infinity);
    return combined(n.c, arithmetic::minimum, n.x(i), bounds);
  };
  if (yes == -infinity) return from(2, no);
  if (no == -infinity) return from(1, yes);
  return combined(n.c, arithmetic::maximum, from(1, yes), from(2, no));
}

void where_rule(node_reader const& n) { n.define(n.known(0) ? where_known(n) : where_computed(n)); }

void prelu_rule(node_reader const& n) {
  view x = n.x();
  if (n.known(1)) {
    auto const slopes = n.reals(1, "");
    bool const one = std::all_of(slopes.begin(), slopes.end(), [&](float s) { return s == slopes[0]; });
    if (one) return n.define(unary(n.c, x, leaky_relu{slopes[0]}));
  }
  if (n.known(1) && x.how.rank() > 1) {
    auto const slopes = n.reals(1, "");
    x = x.how.rank() == 4 ? as_image(n.c, x) : innermost(n.c.net, x, {1});
    extents channels(x.how.dims.size() - 1, 1);
    channels[0] = x.how.dims[1];
    if (channels == n.dims(1) || n.dims(1) == extents{x.how.dims[1]})
      return n.define({n.c.net.apply(prelu{}, {x.value}, slopes), x.how});
  }
  view const below = unary(n.c, x, clip{std::numeric_limits<float>::lowest(), 0});
  view const sloped = n.known(1) ? combined(n.c, arithmetic::multiply, below, n.dims(1), n.reals(1, "slope"))
                                 : combined(n.c, arithmetic::multiply, below, n.x(1));
  n.define(combined(n.c, arithmetic::add, unary(n.c, x, relu{}), sloped));
}

}  // namespace

void add_elementwise_rules(rule_table& t) {
  t["Relu"] = layer_of<relu>;
  t["Sigmoid"] = layer_of<sigmoid>;
  t["Tanh"] = layer_of<hyperbolic_tangent>;
  t["HardSwish"] = layer_of<hard_swish>;
  t["Silu"] = layer_of<silu>;
  t["Identity"] = same;
  t["Dropout"] = dropout;
  t["Cast"] = cast;
  t["Abs"] = layer_of<absolute>;
  t["Neg"] = layer_of<negative>;
  t["Exp"] = layer_of<exponential>;
  t["Log"] = layer_of<logarithm>;
  t["Sqrt"] = layer_of<square_root>;
  t["Reciprocal"] = layer_of<reciprocal>;
  t["Erf"] = layer_of<error_function>;
  t["Sin"] = layer_of<sine>;
  t["Cos"] = layer_of<cosine>;
  t["Floor"] = layer_of<round_down>;
  t["Ceil"] = layer_of<round_up>;
  t["Round"] = layer_of<round_off>;
  t["Softplus"] = layer_of<softplus>;
  t["Softsign"] = layer_of<softsign>;
  t["Mish"] = layer_of<mish>;
  for (char const* type : {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sign", "Sinh", "Swish", "Tan"})
    t[type] = by_formula;
  for (char const* type : {"Elu", "Celu", "Selu", "ThresholdedRelu", "Shrink", "Not"}) t[type] = with_numbers;
  t["LeakyRelu"] = leaky;
  t["HardSigmoid"] = hard_sigmoid_rule;
  t["Gelu"] = gelu_rule;
  t["Clip"] = clip_rule;
  t["PRelu"] = prelu_rule;
  for (char const* type : {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or"}) t[type] = two_values;
  for (char const* type : {"Sum", "Mean", "Max", "Min"}) t[type] = many;
  for (char const* type : {"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "Xor"}) t[type] = compare;
  t["Where"] = where_rule;
  t["Mod"] = modulus;
}

}  // namespace ago::importer
