// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folding of elementwise operators. Integers wrap around, floats are single precision.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fold.hpp"
#include "view.hpp"

namespace ago::onnx::folding {
namespace {

using wide = std::uint64_t;

std::int64_t wrap(wide x) { return static_cast<std::int64_t>(x); }

std::int64_t divide(std::int64_t a, std::int64_t b) {
  if (b == 0) throw fault{"", "a constant is divided by 0"};
  return b == -1 ? wrap(wide{0} - static_cast<wide>(a)) : a / b;
}

/// With the sign of the divisor, as in Python; with `fmod`, with that of the dividend, as in C.
std::int64_t modulo(std::int64_t a, std::int64_t b, bool fmod) {
  if (b == 0) throw fault{"", "a constant is divided by 0"};
  if (b == -1) return 0;
  std::int64_t const rest = a % b;
  return !fmod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) throw fault{"", "0 to a negative power"};
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  }
  wide result = 1, factor = static_cast<wide>(base);
  for (; exponent > 0; exponent /= 2, factor *= factor) {
    if (exponent % 2) result *= factor;
  }
  return wrap(result);
}

/// Rounds towards zero; numbers beyond the integers become the nearest integer, NaN becomes 0.
std::int64_t truncated(float x) {
  constexpr float limit = 9223372036854775808.0f;
  if (std::isnan(x)) return 0;
  if (x >= limit) return std::numeric_limits<std::int64_t>::max();
  if (x <= -limit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(x);
}

/// An operator on two numbers: for floats, and for integers. Null if it is not defined.
struct binary {
  char const* type;
  float (*real)(float, float);
  std::int64_t (*integer)(std::int64_t, std::int64_t);
};

constexpr binary binaries[] = {
    {"Add", [](float a, float b) { return a + b; },
     [](std::int64_t a, std::int64_t b) { return wrap(static_cast<wide>(a) + static_cast<wide>(b)); }},
    {"Sum", [](float a, float b) { return a + b; },
     [](std::int64_t a, std::int64_t b) { return wrap(static_cast<wide>(a) + static_cast<wide>(b)); }},
    {"Sub", [](float a, float b) { return a - b; },
     [](std::int64_t a, std::int64_t b) { return wrap(static_cast<wide>(a) - static_cast<wide>(b)); }},
    {"Mul", [](float a, float b) { return a * b; },
     [](std::int64_t a, std::int64_t b) { return wrap(static_cast<wide>(a) * static_cast<wide>(b)); }},
    {"Div", [](float a, float b) { return a / b; }, divide},
    {"Pow", [](float a, float b) { return std::pow(a, b); }, power},
    {"Max", [](float a, float b) { return std::isnan(a) || a > b ? a : b; },
     [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
    {"Min", [](float a, float b) { return std::isnan(a) || a < b ? a : b; },
     [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
};

/// Comparisons and logic; both result in integers.
struct relation {
  char const* type;
  bool (*real)(float, float);
  bool (*integer)(std::int64_t, std::int64_t);
};

constexpr relation relations[] = {
    {"Equal", [](float a, float b) { return a == b; }, [](std::int64_t a, std::int64_t b) { return a == b; }},
    {"Greater", [](float a, float b) { return a > b; }, [](std::int64_t a, std::int64_t b) { return a > b; }},
    {"GreaterOrEqual", [](float a, float b) { return a >= b; }, [](std::int64_t a, std::int64_t b) { return a >= b; }},
    {"Less", [](float a, float b) { return a < b; }, [](std::int64_t a, std::int64_t b) { return a < b; }},
    {"LessOrEqual", [](float a, float b) { return a <= b; }, [](std::int64_t a, std::int64_t b) { return a <= b; }},
    {"And", nullptr, [](std::int64_t a, std::int64_t b) { return a && b; }},
    {"Or", nullptr, [](std::int64_t a, std::int64_t b) { return a || b; }},
    {"Xor", nullptr, [](std::int64_t a, std::int64_t b) { return (a != 0) != (b != 0); }},
};

struct unary {
  char const* type;
  float (*real)(float);
  std::int64_t (*integer)(std::int64_t);
};

constexpr unary unaries[] = {
    {"Abs", [](float x) { return std::fabs(x); },
     [](std::int64_t x) { return x < 0 ? wrap(wide{0} - static_cast<wide>(x)) : x; }},
    {"Neg", [](float x) { return -x; }, [](std::int64_t x) { return wrap(wide{0} - static_cast<wide>(x)); }},
    {"Sign", [](float x) { return static_cast<float>((x > 0) - (x < 0)); },
     [](std::int64_t x) { return static_cast<std::int64_t>((x > 0) - (x < 0)); }},
    {"Not", nullptr, [](std::int64_t x) { return static_cast<std::int64_t>(x == 0); }},
    {"Relu", [](float x) { return x < 0 ? 0 : x; }, [](std::int64_t x) { return x < 0 ? 0 : x; }},
    {"Ceil", [](float x) { return std::ceil(x); }, nullptr},
    {"Floor", [](float x) { return std::floor(x); }, nullptr},
    {"Round", [](float x) { return std::nearbyint(x); }, nullptr},
    {"Sqrt", [](float x) { return std::sqrt(x); }, nullptr},
    {"Reciprocal", [](float x) { return 1 / x; }, nullptr},
    {"Exp", [](float x) { return std::exp(x); }, nullptr},
    {"Log", [](float x) { return std::log(x); }, nullptr},
    {"Sin", [](float x) { return std::sin(x); }, nullptr},
    {"Cos", [](float x) { return std::cos(x); }, nullptr},
    {"Tanh", [](float x) { return std::tanh(x); }, nullptr},
    {"Sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); }, nullptr},
    {"Erf", [](float x) { return std::erf(x); }, nullptr},
};

template <class Table>
auto find(Table const& table, std::string const& type) {
  return std::find_if(std::begin(table), std::end(table), [&](auto const& entry) { return type == entry.type; });
}

constant operand(site const& s, std::size_t i, extents const& dims) { return repeated(s.known(i, "operand"), dims); }

results one(constant c) {
  std::vector<constant> all;
  all.push_back(std::move(c));
  return all;
}

constant combined(site const& s, binary const& b, extents const& dims) {
  constant left = operand(s, 0, dims);
  for (std::size_t i = 1; i < s.inputs(); ++i) {
    constant const right = operand(s, i, dims);
    for (std::size_t k = 0; k < left.reals.size(); ++k) left.reals[k] = b.real(left.reals[k], right.reals[k]);
    for (std::size_t k = 0; k < left.integers.size(); ++k) {
      left.integers[k] = b.integer(left.integers[k], right.integers[k]);
    }
  }
  return left;
}

/// Pow with operands of different types; the result has the type of the base.
constant mixed_power(site const& s, extents const& dims) {
  constant base = operand(s, 0, dims);
  constant const exponent = operand(s, 1, dims);
  for (std::size_t k = 0; k < base.reals.size(); ++k) {
    base.reals[k] = std::pow(base.reals[k], static_cast<float>(exponent.integers[k]));
  }
  for (std::size_t k = 0; k < base.integers.size(); ++k) {
    base.integers[k] = truncated(std::pow(static_cast<float>(base.integers[k]), exponent.reals[k]));
  }
  return base;
}

constant related(site const& s, relation const& r, extents const& dims) {
  constant const left = operand(s, 0, dims), right = operand(s, 1, dims);
  constant c = zeros(element::integer, dims);
  for (std::size_t k = 0; k < c.integers.size(); ++k) {
    c.integers[k] = left.type == element::real ? r.real(left.reals[k], right.reals[k])
                                               : r.integer(left.integers[k], right.integers[k]);
  }
  return c;
}

constant mapped(site const& s, unary const& u) {
  constant c = s.known(0, "operand");
  for (float& x : c.reals) x = u.real(x);
  for (std::int64_t& x : c.integers) x = u.integer(x);
  return c;
}

constant chosen(site const& s, extents const& dims) {
  constant const condition = operand(s, 0, dims), other = operand(s, 2, dims);
  constant c = operand(s, 1, dims);
  both(c, other, [&](auto& to, auto const& from) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = condition.integers[k] ? to[k] : from[k];
  });
  return c;
}

constant modulus(site const& s, extents const& dims) {
  bool const fmod = s.flag("fmod", false);
  constant left = operand(s, 0, dims);
  constant const right = operand(s, 1, dims);
  if (left.type == element::real && !fmod) throw fault{"fmod", "it must be 1 for floats"};
  for (std::size_t k = 0; k < left.reals.size(); ++k) left.reals[k] = std::fmod(left.reals[k], right.reals[k]);
  for (std::size_t k = 0; k < left.integers.size(); ++k) {
    left.integers[k] = modulo(left.integers[k], right.integers[k], fmod);
  }
  return left;
}

/// An integer wrapped to the narrower type of the file.
std::int64_t narrowed(std::int64_t x, std::int64_t type) {
  switch (type) {
    case 2: return static_cast<std::uint8_t>(x);
    case 3: return static_cast<std::int8_t>(x);
    case 4: return static_cast<std::uint16_t>(x);
    case 5: return static_cast<std::int16_t>(x);
    case 6: return static_cast<std::int32_t>(x);
    case 9: return x != 0;
    case 12: return static_cast<std::uint32_t>(x);
    default: return x;
  }
}

constant cast(site const& s, element to) {
  constant c = s.known(0, "operand");
  std::int64_t const type = s.integer("to", 0);
  if (c.type == element::real && to == element::integer) {
    bool const logical = type == 9;  // 0.5 becomes true
    for (float const x : c.reals) c.integers.push_back(logical ? x != 0 : narrowed(truncated(x), type));
    c.reals.clear();
  } else if (c.type == element::integer && to == element::real) {
    for (std::int64_t const x : c.integers) c.reals.push_back(static_cast<float>(x));
    c.integers.clear();
  } else {
    for (std::int64_t& x : c.integers) x = narrowed(x, type);
  }
  c.type = to;
  return c;
}

results clipped(site const& s) {
  constant c = s.known(0, "operand");
  bool const inputs = s.opset() >= 11;
  if (c.type == element::integer) {
    std::int64_t const low = s.has_input(1) ? s.integer(1, "min") : std::numeric_limits<std::int64_t>::min();
    std::int64_t const high = s.has_input(2) ? s.integer(2, "max") : std::numeric_limits<std::int64_t>::max();
    for (std::int64_t& x : c.integers) x = std::min(std::max(x, low), high);
  } else {
    constexpr float largest = std::numeric_limits<float>::infinity();
    float const low = !inputs ? s.real("min", -largest) : s.has_input(1) ? s.reals(1, "min")[0] : -largest;
    float const high = !inputs ? s.real("max", largest) : s.has_input(2) ? s.reals(2, "max")[0] : largest;
    for (float& x : c.reals) x = std::min(std::max(x, low), high);
  }
  return one(std::move(c));
}

/// With a single scale, or one per element of an axis.
results dequantized(site const& s) {
  constant const& x = s.known(0, "x");
  constant const& scale = s.known(1, "x_scale");
  if (x.type != element::integer || scale.type != element::real || s.integer("block_size", 0) != 0) return {};
  extents around = scale.dims;
  if (volume(scale.dims) != 1) {
    std::size_t const axis = axis_of(s.integer("axis", 1), s.rank(0));
    if (scale.dims != extents{x.dims[axis]}) throw fault{"x_scale", "it has the shape " + text_of(scale.dims)};
    around.resize(s.rank(0) - axis, 1);
  } else {
    around.clear();
  }
  constant spread = scale, zero = zeros(element::integer, scale.dims);
  if (s.has_input(2)) zero = s.known(2, "x_zero_point");
  if (zero.dims != scale.dims || zero.type != element::integer)
    throw fault{"x_zero_point", "it does not fit the scale"};
  spread.dims = zero.dims = around;
  spread = repeated(spread, x.dims);
  zero = repeated(zero, x.dims);
  for (std::size_t k = 0; k < x.integers.size(); ++k) {
    spread.reals[k] *= static_cast<float>(wrap(static_cast<wide>(x.integers[k]) - static_cast<wide>(zero.integers[k])));
  }
  return one(std::move(spread));
}

}  // namespace

results arithmetic(site const& s) {
  std::string const& type = s.type();
  extents const& dims = s.output_dims(0);
  if (s.inputs() == 0) return {};
  bool const real = s.element_type(0) == element::real;
  if (type == "Pow" && s.element_type(1) != s.element_type(0)) return one(mixed_power(s, dims));
  if (auto const b = find(binaries, type); b != std::end(binaries)) return one(combined(s, *b, dims));
  if (auto const r = find(relations, type); r != std::end(relations)) {
    return real && !r->real ? results{} : one(related(s, *r, dims));
  }
  if (auto const u = find(unaries, type); u != std::end(unaries)) {
    return (real ? u->real != nullptr : u->integer != nullptr) ? one(mapped(s, *u)) : results{};
  }
  if (type == "Where") return one(chosen(s, dims));
  if (type == "Mod") return one(modulus(s, dims));
  if (type == "Cast") return one(cast(s, s.output_type(0)));
  if (type == "Clip") return clipped(s);
  if (type == "DequantizeLinear") return dequantized(s);
  return {};
}

}  // namespace ago::onnx::folding
