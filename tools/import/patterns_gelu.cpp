// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GELU, which exporters write as several operators, each exporter in another order.
#include "neighbourhood.hpp"

#include <array>

namespace ago::importer {

namespace {

using onnx::operation;

/// Coefficients of 1, x, x^2 and x^3.
using cubic = std::array<double, 4>;

std::optional<cubic> sum_of(cubic a, cubic const& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

cubic scaled(cubic a, double factor) {
  for (double& k : a) k *= factor;
  return a;
}

/// Nothing if the degree is too high.
std::optional<cubic> product_of(cubic const& a, cubic const& b) {
  cubic r{};
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k) {
      double const c = a[i] * b[k];
      if (c != 0 && i + k >= r.size()) return {};
      if (c != 0) r[i + k] += c;
    }
  return r;
}

/// A value as a polynomial in `x`, if it consists of sums, products and powers with known numbers.
std::optional<cubic> polynomial_of(neighbourhood const& n, int value, int x, int depth = 8) {
  if (value == x) return cubic{0, 1, 0, 0};
  if (auto const k = n.number(value)) return cubic{double(*k), 0, 0, 0};
  operation const* op = depth > 0 ? n.maker(value) : nullptr;
  if (!op || op->inputs.size() != 2) return {};
  if (op->type != "Add" && op->type != "Sub" && op->type != "Mul" && op->type != "Div" && op->type != "Pow") return {};
  auto const a = polynomial_of(n, op->inputs[0], x, depth - 1);
  if (!a) return {};
  if (op->type == "Pow") {
    if (n.is_number(op->inputs[1], 2)) return product_of(*a, *a);
    auto const square = n.is_number(op->inputs[1], 3) ? product_of(*a, *a) : std::nullopt;
    return square ? product_of(*square, *a) : std::nullopt;
  }
  if (op->type == "Div") {
    auto const k = n.number(op->inputs[1]);
    return k && *k != 0 ? std::optional(scaled(*a, 1. / double(*k))) : std::nullopt;
  }
  auto const b = polynomial_of(n, op->inputs[1], x, depth - 1);
  if (!b) return {};
  return op->type == "Mul" ? product_of(*a, *b) : sum_of(*a, op->type == "Add" ? *b : scaled(*b, -1));
}

bool is_about(std::optional<cubic> const& p, cubic const& wanted) {
  if (!p) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(std::fabs((*p)[i] - wanted[i]) <= 2e-5 * std::fabs(wanted[i]))) return false;
  return true;
}

/// A product of several values: the product of its constant factors, and the other factors.
struct factors {
  double number = 1;
  std::vector<int> others;
};

void collect(neighbourhood const& n, int value, factors& to, int depth = 4) {
  if (auto const k = n.number(value)) {
    to.number *= double(*k);
    return;
  }
  if (auto const* m = depth > 0 ? n.maker(value, "Mul") : nullptr) {
    for (int v : m->inputs) collect(n, v, to, depth - 1);
    return;
  }
  auto const* d = depth > 0 ? n.maker(value, "Div") : nullptr;
  if (auto const k = d ? n.number(d->inputs[1]) : std::nullopt; k && *k != 0) {
    to.number /= double(*k);
    return collect(n, d->inputs[0], to, depth - 1);
  }
  to.others.push_back(value);
}

/// The linear function of an Erf's or Tanh's result that `value` is, and that result; nothing if there is none.
struct curve {
  operation const* of;
  cubic outside;
};

std::optional<curve> curve_in(neighbourhood const& n, int value) {
  std::vector<int> open{value};
  for (int steps = 0; !open.empty() && steps < 8; ++steps) {
    operation const* op = n.maker(open.back());
    open.pop_back();
    if (!op) continue;
    if (op->type == "Erf" || op->type == "Tanh") {
      auto const outside = polynomial_of(n, value, op->outputs[0]);
      return outside ? std::optional(curve{op, *outside}) : std::nullopt;
    }
    if (op->type == "Add" || op->type == "Sub" || op->type == "Mul" || op->type == "Div")
      for (int v : op->inputs)
        if (!n.is_known(v)) open.push_back(v);
  }
  return {};
}

}  // namespace

/// x * (1 + erf(x / sqrt(2))) / 2, or x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, with the constants in
/// any of the places where exporters put them.
std::optional<operation> gelu_pattern(neighbourhood const& n, operation const& op) {
  if (op.type != "Mul" && op.type != "Div") return {};
  factors f;
  if (op.type == "Div") {
    auto const k = n.number(op.inputs[1]);
    if (!k || *k == 0) return {};
    f.number = 1. / double(*k);
    collect(n, op.inputs[0], f);
  } else {
    for (int v : op.inputs) collect(n, v, f);
  }
  if (f.others.size() != 2) return {};
  for (std::size_t i : {0, 1}) {
    int const x = f.others[i];
    auto const found = curve_in(n, f.others[1 - i]);
    if (!found || n.dims(x) != n.dims(op.outputs[0])) continue;
    if (!is_about(scaled(found->outside, f.number), {0.5, 0.5, 0, 0})) continue;
    auto const inside = polynomial_of(n, found->of->inputs[0], x);
    bool const is_erf = found->of->type == "Erf";
    constexpr double root = 0.7978845608028654;  // of 2 / pi
    if (!is_about(inside, is_erf ? cubic{0, 0.7071067811865476, 0, 0} : cubic{0, root, 0, root * 0.044715})) continue;
    operation r = made(op, "Gelu", {x});
    if (!is_erf) r.attributes["approximate"] = std::string("tanh");
    return r;
  }
  return {};
}

}  // namespace ago::importer
