// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace ago::importer {

view unary(context& c, view x, layer_value layer) {
  x.value = c.net.apply(std::move(layer), {x.value});
  return x;
}

view mapped(context& c, view x, std::string expression) { return unary(c, x, map_of{std::move(expression)}); }

std::string literal(float x) {
  if (std::isnan(x)) throw unsupported("a number is NaN");
  if (std::isinf(x)) return x > 0 ? "__builtin_inff()" : "-__builtin_inff()";
  char text[32];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, double(x));
    if (std::strtof(text, nullptr) == x) break;
  }
  std::string r = text;
  if (r.find_first_of(".e") == std::string::npos) r += '.';
  if (r.rfind("0.", 0) == 0 && r.size() > 2) r.erase(0, 1);
  if (r.rfind("-0.", 0) == 0 && r.size() > 3) r.erase(1, 1);
  return r + 'f';
}

std::string wide(float x) { return "decltype(x)(" + literal(x) + ")"; }

std::string where_less(std::string const& a, std::string const& b, std::string const& yes, std::string const& no) {
  return "math::where_less(" + a + ", " + b + ", " + yes + ", " + no + ")";
}

extents broadcast(extents const& a, extents const& b) {
  extents r(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < r.size(); ++i) {
    std::int64_t const x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) throw unsupported("its operands cannot be broadcast to each other");
    r[r.size() - 1 - i] = x == 1 ? y : x;
  }
  return r;
}

namespace {

/// `l` with leading axes of extent 1.
layout with_rank(layout l, std::size_t rank) {
  int const more = int(rank) - l.rank();
  l.dims.insert(l.dims.begin(), std::size_t(more), 1);
  for (int& a : l.axis) a += more;
  return l;
}

int to_int(std::int64_t extent) {
  if (extent > tracing::int_limit) throw unsupported("a value is too large");
  return int(extent);
}

/// Repeats every element `times` times: `inner` is the product of the extents inside the repeated axis.
int repeated(context& c, int value, std::int64_t inner, std::int64_t times) {
  std::int64_t const all = c.net.dims(value).count();
  value = with_extents(c.net, value, {to_int(all / inner), 1, 1, to_int(inner)});
  return c.net.apply(ago::expand{.w = to_int(times)}, {value});
}

}  // namespace

view expanded(context& c, view x, extents const& dims) {
  x.how = with_rank(x.how, dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (x.how.dims[d] == dims[d]) continue;
    // The new atom goes to its row-major place if the others are row-major, otherwise outermost.
    std::int64_t inner = 1;
    std::size_t place = x.how.memory.size();
    if (x.how.is_row_major())
      while (place > 0 && x.how.axis[std::size_t(x.how.memory[place - 1])] > int(d))
        inner *= x.how.atoms[std::size_t(x.how.memory[--place])];
    else inner = x.how.count(), place = 0;
    x.value = repeated(c, x.value, inner, dims[d]);
    x.how = with_axis(x.how, int(d), dims[d], int(place));
  }
  return x;
}

std::vector<float> broadcast_values(context const& c, extents const& from, std::vector<float> const& values,
                                    extents const& dims) {
  auto const own = std::find_if(from.begin(), from.end(), [](std::int64_t d) { return d != 1; });
  if (broadcast({own, from.end()}, dims) != dims || product(from) != std::int64_t(values.size()))
    throw unsupported("its parameters do not fit its operand");
  std::vector<float> r = c.table(dims);
  for (std::size_t i = 0; i < r.size(); ++i) {
    std::size_t rest = i, index = 0, stride = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      std::size_t const extent = std::size_t(dims[dims.size() - 1 - d]), at = rest % extent;
      rest /= extent;
      if (d < from.size()) {
        std::size_t const own = std::size_t(from[from.size() - 1 - d]);
        if (own > 1) index += at * stride;
        stride *= own;
      }
    }
    r[i] = values[index];
  }
  return r;
}

namespace {

op op_of(arithmetic what) {
  constexpr op kinds[] = {op::add, op::sub, op::mul, op::div, op::maximum, op::minimum, op::power};
  return kinds[int(what)];
}

/// How `b`, whose extents are those of `whole` or 1, is read beside it: which of its axes form which extent.
/// Nothing if an extent of `whole` contains both axes of b and axes that b lacks.
std::optional<std::vector<std::vector<int>>> places_beside(layout const& whole, shape const& extents, layout const& b) {
  auto const groups = groups_of(whole, extents);
  if (!groups) return {};
  std::vector<std::vector<int>> places(4);
  for (std::size_t i = 0; i < 4; ++i) {
    for (int atom : (*groups)[i]) {
      int const d = whole.axis[std::size_t(atom)];
      if (b.dims[std::size_t(d)] == 1) continue;
      if (whole.of_axis(d).size() > 1) return {};
      places[i].push_back(d);
    }
    if (!places[i].empty() && places[i].size() != (*groups)[i].size()) return {};
  }
  return places;
}

/// Extents of `whole` that each contain only axes of `b`, or only others; nothing if that needs more than four.
std::optional<shape> extents_beside(layout const& whole, layout const& b) {
  std::vector<std::int64_t> runs;
  bool before = false;
  for (int atom : whole.memory) {
    bool const has = b.dims[std::size_t(whole.axis[std::size_t(atom)])] > 1;
    if (runs.empty() || has != before) runs.push_back(1);
    runs.back() *= whole.atoms[std::size_t(atom)];
    before = has;
  }
  if (runs.size() > 4) return {};
  runs.insert(runs.begin(), 4 - runs.size(), 1);
  return shape{to_int(runs[0]), to_int(runs[1]), to_int(runs[2]), to_int(runs[3])};
}

/// Arranges `b` so that it can be broadcast to `a`, which has all elements of the result; `a` may get other extents.
view beside(context& c, view& a, view const& b) {
  if (b.how.dims == a.how.dims) return arranged_like(c.net, b, a);
  auto places = places_beside(a.how, c.net.dims(a.value), b.how);
  if (!places)
    if (auto const extents = extents_beside(a.how, b.how)) {
      if ((places = places_beside(a.how, *extents, b.how))) a.value = with_extents(c.net, a.value, *extents);
    }
  if (places) return placed(c.net, b, *places);
  return arranged_like(c.net, expanded(c, b, a.how.dims), a);
}

}  // namespace

view combined(context& c, arithmetic what, view a, view b) {
  extents const dims = broadcast(a.how.dims, b.how.dims);
  a.how = simplified(with_rank(a.how, dims.size()));
  b.how = simplified(with_rank(b.how, dims.size()));
  if (a.how.dims != dims && b.how.dims != dims) a = expanded(c, a, dims);
  // An operand in another order than ONNX's was arranged so for a reason: keep its order.
  bool const follow_b = a.how.dims != dims || (b.how.dims == dims && a.how.is_row_major());
  view& whole = follow_b ? b : a;
  (follow_b ? a : b) = beside(c, whole, follow_b ? a : b);
  return {c.net.apply(binary{op_of(what)}, {a.value, b.value}), whole.how};
}

namespace {

/// x <what> s, or s <what> x.
view with_scalar(context& c, arithmetic what, view x, float s, bool reversed) {
  constexpr float most = std::numeric_limits<float>::max();
  switch (what) {
    case arithmetic::add: return s == 0 ? x : unary(c, x, affine{1, s});
    case arithmetic::multiply: return s == 1 ? x : s == -1 ? unary(c, x, negative{}) : unary(c, x, affine{s, 0});
    case arithmetic::subtract: return unary(c, x, reversed ? affine{-1, s} : affine{1, -s});
    case arithmetic::divide:
      if (!reversed) return mapped(c, x, "x / " + literal(s));
      return s == 1 ? unary(c, x, reciprocal{}) : mapped(c, x, literal(s) + " / x");
    case arithmetic::maximum: return s == 0 ? unary(c, x, relu{}) : unary(c, x, clip{s, most});
    case arithmetic::minimum: return unary(c, x, clip{-most, s});
    case arithmetic::power: break;
  }
  if (reversed) return mapped(c, x, "math::pow(decltype(x)(" + literal(s) + "), x)");
  if (s == 2) return mapped(c, x, "x * x");
  return unary(c, x, to_power{s});
}

bool all_equal(std::vector<float> const& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; });
}

/// The extents and elements of a constant beside a value, in memory order.
struct constant_beside {
  shape extents;
  std::vector<float> values;
};

constant_beside beside(context& c, view& x, extents dims, std::vector<float> values) {
  if (product(dims) != std::int64_t(values.size())) throw unsupported("its parameters do not fit their shape");
  c.net.afford(dims);
  dims.insert(dims.begin(), x.how.dims.size() - dims.size(), 1);
  x.how = simplified(x.how);
  layout const l = row_major(dims);
  auto places = places_beside(x.how, c.net.dims(x.value), l);
  if (!places)
    if (auto const e = extents_beside(x.how, l); e && (places = places_beside(x.how, *e, l)))
      x.value = with_extents(c.net, x.value, *e);
  layout k = x.how;
  shape extents = c.net.dims(x.value);
  if (places) {
    std::vector<int> memory;
    int each[4] = {1, 1, 1, 1};
    for (std::size_t i = 0; i < 4; ++i)
      for (int d : (*places)[i]) memory.push_back(d), each[i] *= int(dims[std::size_t(d)]);
    k = of_axes(dims, memory);
    extents = {each[0], each[1], each[2], each[3]};
  } else {
    values = broadcast_values(c, dims, values, x.how.dims);
  }
  constant_beside r{extents, {}};
  for (std::int64_t i : memory_to_row_major(k)) r.values.push_back(values[std::size_t(i)]);
  return r;
}

/// x <what> k, or k <what> x; `x` has all dims of the result.
view with_parameters(context& c, arithmetic what, view x, extents const& dims, std::vector<float> const& values,
                     bool reversed = false) {
  auto [extents, own] = beside(c, x, dims, values);
  shape const s = c.net.dims(x.value);
  if (what == arithmetic::add && extents == shape{1, 1, 1, s.c}) return {c.net.apply(bias{}, {x.value}, own), x.how};
  if (what == arithmetic::multiply && extents == shape{1, 1, 1, s.c})
    return {c.net.apply(scale{}, {x.value}, own), x.how};
  if (what == arithmetic::add && extents == shape{1, s.h, s.w, s.c})
    return {c.net.apply(positions{}, {x.value}, own), x.how};
  int const k = c.net.apply(ago::constant{extents.n, extents.h, extents.w, extents.c}, {0}, own);
  std::vector<int> const operands = reversed ? std::vector<int>{k, x.value} : std::vector<int>{x.value, k};
  return {c.net.apply(binary{op_of(what)}, operands), x.how};
}

std::vector<float> changed(std::vector<float> values, float (*f)(float)) {
  for (float& v : values) v = f(v);
  return values;
}

}  // namespace

view combined(context& c, arithmetic what, view a, extents const& dims, std::vector<float> const& b) {
  extents const all = broadcast(a.how.dims, dims);
  a.how = with_rank(a.how, all.size());
  if (all_equal(b)) return with_scalar(c, what, expanded(c, a, all), b[0], false);
  a = expanded(c, a, all);
  switch (what) {
    case arithmetic::add:
    case arithmetic::multiply: return with_parameters(c, what, a, dims, b);
    case arithmetic::subtract:
      return with_parameters(c, arithmetic::add, a, dims, changed(b, [](float v) { return -v; }));
    case arithmetic::divide:
      return with_parameters(c, arithmetic::multiply, a, dims, changed(b, [](float v) { return 1 / v; }));
    default: return with_parameters(c, what, a, dims, b);
  }
}

view combined(context& c, arithmetic what, extents const& dims, std::vector<float> const& a, view b) {
  switch (what) {
    case arithmetic::add:
    case arithmetic::multiply:
    case arithmetic::maximum:
    case arithmetic::minimum: return combined(c, what, b, dims, a);
    default: break;
  }
  extents const all = broadcast(b.how.dims, dims);
  b.how = with_rank(b.how, all.size());
  b = expanded(c, b, all);
  if (all_equal(a)) return with_scalar(c, what, b, a[0], true);
  return with_parameters(c, what, b, dims, a, true);
}

view times_matrix(context& c, view x, int axis, std::vector<float> const& matrix) {
  std::int64_t const out = std::int64_t(matrix.size()) / x.how.dims[std::size_t(axis)];
  return linear_along(c, x, axis, out, matrix, {});
}

std::vector<std::int64_t> order_within(layout const& l, std::vector<int> const& axes) {
  layout own = l;
  std::vector<int> others;
  for (int d = 0; d < l.rank(); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) others.push_back(d);
  return memory_to_row_major(without_axes(own, others));
}

view linear_along(context& c, view x, int axis, std::int64_t out, std::vector<float> weights,
                  std::vector<float> const& shift) {
  x = innermost(c.net, x, {axis});
  auto const order = order_within(x.how, {axis});
  if (!std::is_sorted(order.begin(), order.end())) {
    std::vector<float> const rows = weights;
    for (std::size_t i = 0; i < rows.size(); ++i)
      weights[i] = rows[i - i % order.size() + std::size_t(order[i % order.size()])];
  }
  weights.insert(weights.end(), shift.begin(), shift.end());
  x.value = c.net.apply(linear{.out = to_int(out), .bias = !shift.empty()}, {x.value}, std::move(weights));
  x.how = with_axis(without_axes(x.how, {axis}), axis, out, -1);
  return x;
}

}  // namespace ago::importer
