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
  if (std::isnan(x)) throw unsupported("NaN as a number");
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

/// `l` with axes of extent 1 before the others.
layout with_rank(layout l, std::size_t rank) {
  int const more = int(rank) - l.rank();
  l.dims.insert(l.dims.begin(), std::size_t(more), 1);
  for (int& a : l.axis) a += more;
  return l;
}

int to_int(std::int64_t extent) {
  if (extent > detail::int_limit) throw unsupported("a value is too large");
  return int(extent);
}

/// Every element `times` times: `inner` is the product of the extents inside of the place where it is repeated.
int repeated(context& c, int value, std::int64_t inner, std::int64_t times) {
  std::int64_t const all = c.net.dims(value).count();
  value = with_extents(c.net, value, {to_int(all / inner), 1, 1, to_int(inner)});
  return c.net.apply(resize_nearest{1, to_int(times)}, {value});
}

}  // namespace

view expanded(context& c, view x, extents const& dims) {
  x.how = with_rank(x.how, dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (x.how.dims[d] == dims[d]) continue;
    // The new atom lies where row-major order has it if that is where the others lie, else outermost.
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

std::vector<float> broadcast_values(extents const& from, std::vector<float> const& values, extents const& dims) {
  std::vector<float> r(std::size_t(product(dims)));
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

view apply_pair(context& c, arithmetic what, view a, view b) {
  auto const both = [&](layer_value l, view x, view y) { return view{c.net.apply(l, {x.value, y.value}), a.how}; };
  switch (what) {
    case arithmetic::add: return both(add{}, a, b);
    case arithmetic::multiply: return both(multiply{}, a, b);
    case arithmetic::subtract: return both(add{}, a, mapped(c, b, "-x"));
    case arithmetic::divide: return both(multiply{}, a, mapped(c, b, "1.f / x"));
    case arithmetic::maximum: {
      view const above = unary(c, apply_pair(c, arithmetic::subtract, a, b), relu{});
      return both(add{}, above, b);
    }
    case arithmetic::minimum: {
      view const above = unary(c, apply_pair(c, arithmetic::subtract, a, b), relu{});
      return apply_pair(c, arithmetic::subtract, a, above);
    }
    case arithmetic::power: {
      view const l = mapped(c, a, "math::log(x)");
      return mapped(c, both(multiply{}, l, b), "math::exp(x)");
    }
  }
  throw std::logic_error("importer: arithmetic");
}

/// One pixel for each image, as + and * take it; nothing if `b` is something else.
std::optional<view> as_gate(context& c, view const& a, view const& b) {
  auto const groups = groups_of(a.how, c.net.dims(a.value));
  if (!groups) return {};
  std::vector<std::vector<int>> places(4);
  std::vector<int> rest;
  for (int i : {0, 3})
    for (int atom : (*groups)[std::size_t(i)]) {
      int const d = a.how.axis[std::size_t(atom)];
      if (a.how.of_axis(d).size() != 1 || b.how.dims[std::size_t(d)] != a.how.dims[std::size_t(d)]) return {};
      places[std::size_t(i)].push_back(d);
    }
  for (int i : {1, 2})
    for (int atom : (*groups)[std::size_t(i)])
      if (b.how.dims[std::size_t(a.how.axis[std::size_t(atom)])] != 1) return {};
  return placed(c.net, b, places);
}

}  // namespace

view combined(context& c, arithmetic what, view a, view b) {
  extents const dims = broadcast(a.how.dims, b.how.dims);
  a.how = with_rank(a.how, dims.size());
  b.how = with_rank(b.how, dims.size());
  bool const commutes = what == arithmetic::add || what == arithmetic::multiply;
  if (commutes && a.how.dims != dims && b.how.dims == dims) std::swap(a, b);
  if (a.how.dims != dims) a = expanded(c, a, dims);
  if (b.how.dims != dims) {
    if (auto const gate = as_gate(c, a, b); gate && (commutes || what == arithmetic::subtract ||
                                                     what == arithmetic::divide || what == arithmetic::power))
      return apply_pair(c, what, a, *gate);
    b = expanded(c, b, dims);
  }
  // What lies in another order than ONNX's has been made so for a reason.
  if (a.how.is_row_major() && !b.how.is_row_major()) a = arranged_like(c.net, a, b);
  else b = arranged_like(c.net, b, a);
  a.how = b.how = simplified(a.how);
  return apply_pair(c, what, a, b);
}

namespace {

/// x <what> s, or s <what> x.
view with_scalar(context& c, arithmetic what, view x, float s, bool reversed) {
  std::string const k = literal(s), wide = "decltype(x)(" + k + ")";
  switch (what) {
    case arithmetic::add: return s == 0 ? x : mapped(c, x, "x + " + k);
    case arithmetic::multiply: return s == 1 ? x : mapped(c, x, s == -1 ? "-x" : "x * " + k);
    case arithmetic::subtract: return mapped(c, x, reversed ? k + " - x" : "x - " + k);
    case arithmetic::divide: return mapped(c, x, reversed ? k + " / x" : "x / " + k);
    case arithmetic::maximum: return s == 0 ? unary(c, x, relu{}) : mapped(c, x, "math::max(" + wide + ", x)");
    case arithmetic::minimum: return mapped(c, x, "math::min(" + wide + ", x)");
    case arithmetic::power: break;
  }
  if (reversed) return mapped(c, x, "math::exp(x * " + literal(std::log(s)) + ")");
  if (s == 0.5f) return mapped(c, x, "math::sqrt(x)");
  if (s == -0.5f) return mapped(c, x, "1.f / math::sqrt(x)");
  if (s == std::floor(s) && std::fabs(s) <= 8 && s != 0) {
    std::string factors = "x";
    for (int i = 1; i < int(std::fabs(s)); ++i) factors += " * x";
    return mapped(c, x, s > 0 ? factors : "1.f / (" + factors + ")");
  }
  return mapped(c, x, "math::exp(math::log(x) * " + k + ")");
}

bool all_equal(std::vector<float> const& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; });
}

/// The values of a constant, repeated over `x`, in the order in which x's elements lie in memory.
std::vector<float> in_memory_order(view const& x, extents const& dims, std::vector<float> const& values) {
  auto const all = broadcast_values(dims, values, x.how.dims);
  auto const order = memory_to_row_major(x.how);
  std::vector<float> r(all.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = all[std::size_t(order[i])];
  return r;
}

/// Adds or multiplies by numbers known beforehand, `x` having all dims of the result.
view with_parameters(context& c, arithmetic what, view x, extents dims, std::vector<float> const& values) {
  auto const all = in_memory_order(x, dims, values);
  extents padded(x.how.dims.size() - dims.size(), 1);
  padded.insert(padded.end(), dims.begin(), dims.end());
  std::size_t const channels = std::size_t(c.net.dims(x.value).c);
  bool repeats = true;
  for (std::size_t i = channels; i < all.size() && repeats; ++i) repeats = all[i] == all[i - channels];
  if (repeats) {
    std::vector<float> own(all.begin(), all.begin() + std::ptrdiff_t(channels));
    if (what == arithmetic::add) x.value = c.net.apply(bias{}, {x.value}, std::move(own));
    else {
      std::vector<float> norm = own;
      norm.resize(3 * channels, 0.f);
      norm.resize(4 * channels, 1.f);
      x.value = c.net.apply(batch_norm{.epsilon = 0}, {x.value}, std::move(norm));
    }
    return x;
  }
  shape const s = c.net.dims(x.value);
  int v = s.n == 1 ? x.value : with_extents(c.net, x.value, {1, to_int(std::int64_t(s.n) * s.h), s.w, s.c});
  if (what == arithmetic::add) v = c.net.apply(positions{}, {v}, all);
  else {
    int const k = c.net.apply(positions{}, {c.net.apply(clip{0, 0}, {v})}, all);
    v = c.net.apply(multiply{}, {v, k});
  }
  x.value = with_extents(c.net, v, s);
  return x;
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
    default: return combined(c, what, a, c.constant(dims, b));
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
  switch (what) {
    case arithmetic::subtract: return with_parameters(c, arithmetic::add, mapped(c, b, "-x"), dims, a);
    case arithmetic::divide: return with_parameters(c, arithmetic::multiply, mapped(c, b, "1.f / x"), dims, a);
    default: return combined(c, what, c.constant(dims, a), b);
  }
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
