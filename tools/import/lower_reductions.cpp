// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, and operators composed of them.
#include "arithmetic.hpp"
#include "movement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ago::importer {

namespace {

int to_int(std::int64_t extent) {
  if (extent > tracing::int_limit) throw unsupported("a value is too large");
  return int(extent);
}

/// A value as three blocks: the part outside some axes, these axes, and the part inside them.
struct three_blocks {
  view x;
  int outer, own, inner;
};

three_blocks blocks_around(context& c, view x, std::vector<int> const& axes) {
  auto const is_own = [&](int atom) {
    return std::find(axes.begin(), axes.end(), x.how.axis[std::size_t(atom)]) != axes.end();
  };
  auto const first = std::find_if(x.how.memory.begin(), x.how.memory.end(), is_own);
  auto const last = std::find_if_not(first, x.how.memory.end(), is_own);
  if (std::find_if(last, x.how.memory.end(), is_own) != x.how.memory.end())
    return blocks_around(c, innermost(c.net, x, axes), axes);
  std::int64_t own = 1, inner = 1;
  for (auto a = first; a != last; ++a) own *= x.how.atoms[std::size_t(*a)];
  for (auto a = last; a != x.how.memory.end(); ++a) inner *= x.how.atoms[std::size_t(*a)];
  return {x, to_int(x.how.count() / own / inner), to_int(own), to_int(inner)};
}

layer_value layer_of(reduction what, ago::axes along) {
  switch (what) {
    case reduction::sum: return reduce_sum{along};
    case reduction::mean: return reduce_mean{along};
    case reduction::largest: return reduce_max{along};
    case reduction::smallest: return reduce_min{along};
    case reduction::product: return reduce_product{along};
  }
  throw std::logic_error("importer: reduction");
}

}  // namespace

view reduced(context& c, reduction what, view x, std::vector<int> const& axes) {
  three_blocks const b = blocks_around(c, x, axes);
  layout const l = without_axes(b.x.how, axes);
  if (b.own == 1) return {b.x.value, l};
  shape const s = c.net.dims(b.x.value);
  bool const is_image = s.n == b.outer && std::int64_t(s.h) * s.w == b.own && s.c == b.inner;
  if (is_image && what == reduction::mean) return {c.net.apply(global_avg_pool{}, {b.x.value}), l};
  if (is_image && what == reduction::largest) return {c.net.apply(global_max_pool{}, {b.x.value}), l};
  if (is_image) return {c.net.apply(layer_of(what, {ago::axis::rows, ago::axis::columns}), {b.x.value}), l};
  if (b.inner == 1) {
    int const v = s.c == b.own ? b.x.value : with_extents(c.net, b.x.value, {1, 1, b.outer, b.own});
    return {c.net.apply(layer_of(what, {ago::axis::channels}), {v}), l};
  }
  int const v = with_extents(c.net, b.x.value, {1, b.outer, b.own, b.inner});
  return {c.net.apply(layer_of(what, {ago::axis::columns}), {v}), l};
}

view softmax_over(context& c, view x, std::vector<int> const& axes) {
  return unary(c, innermost(c.net, x, axes), softmax{});
}

std::vector<float> in_memory_order(view const& x, std::vector<int> const& axes, std::vector<float> const& values,
                                   float otherwise) {
  std::vector<float> r;
  for (std::int64_t i : order_within(x.how, axes)) r.push_back(values.empty() ? otherwise : values[std::size_t(i)]);
  return r;
}

view normalised(context& c, view x, std::vector<int> const& axes, float epsilon, std::vector<float> const& gamma,
                std::vector<float> const& beta) {
  extents own{2};
  for (int a : axes) own.push_back(x.how.dims[std::size_t(a)]);
  c.net.afford(own);
  x = innermost(c.net, x, axes);
  std::vector<float> weights = in_memory_order(x, axes, gamma, 1);
  auto const shift = in_memory_order(x, axes, beta, 0);
  weights.insert(weights.end(), shift.begin(), shift.end());
  x.value = c.net.apply(layer_norm{.epsilon = epsilon}, {x.value}, std::move(weights));
  return x;
}

namespace {

std::vector<int> axes_of(node_reader const& n, std::vector<std::int64_t> const& given) {
  int const rank = int(n.dims().size());
  std::vector<int> r;
  for (std::int64_t a : given) r.push_back(axis_of(a, rank));
  return r;
}

std::vector<int> all_axes(int rank, int from = 0) {
  std::vector<int> r;
  for (int a = from; a < rank; ++a) r.push_back(a);
  return r;
}

void reduce(node_reader const& n) {
  std::string const& type = n.op.type;
  auto const given = n.list_or_input("axes", 1);
  if (given.empty() && n.integer("noop_with_empty_axes", 0) != 0) return n.define(n.x());
  std::vector<int> const axes = given.empty() ? all_axes(int(n.dims().size())) : axes_of(n, given);
  context& c = n.c;
  view const x = n.x();
  auto const done = [&](view const& r) { n.define(with_dims(c, r, n.out_dims())); };
  if (type == "ReduceMean") return done(reduced(c, reduction::mean, x, axes));
  if (type == "ReduceMax") return done(reduced(c, reduction::largest, x, axes));
  if (type == "ReduceMin") return done(reduced(c, reduction::smallest, x, axes));
  if (type == "ReduceProd") return done(reduced(c, reduction::product, x, axes));
  auto const sum = [&](view const& v) { return reduced(c, reduction::sum, v, axes); };
  if (type == "ReduceSum") return done(sum(x));
  if (type == "ReduceL1") return done(sum(unary(c, x, absolute{})));
  if (type == "ReduceSumSquare") return done(sum(mapped(c, x, "x * x")));
  if (type == "ReduceL2") return done(mapped(c, sum(mapped(c, x, "x * x")), "math::sqrt(x)"));
  if (type == "ReduceLogSum") return done(unary(c, sum(x), logarithm{}));
  view const most = reduced(c, reduction::largest, x, axes);  // ReduceLogSumExp
  view const powers = unary(c, combined(c, arithmetic::subtract, x, most), exponential{});
  done(combined(c, arithmetic::add, unary(c, sum(powers), logarithm{}), most));
}

void global_pool(node_reader const& n) {
  auto const axes = all_axes(int(n.dims().size()), 2);
  view const x = n.dims().size() == 4 ? placed(n.c.net, n.x(), {{0}, {2}, {3}, {1}}) : n.x();
  if (n.op.type == "GlobalMaxPool") return n.define(reduced(n.c, reduction::largest, x, axes));
  n.define(reduced(n.c, reduction::mean, x, axes));
}

view number_of_largest(context& c, view x, int axis, bool last) {
  auto const [whole, where] = around_axis(c.net, x, axis);
  int const v = c.net.apply(ago::arg_max{.along = where, .last = last}, {whole.value});
  return {v, without_axes(whole.how, {axis})};
}

void arg_max_rule(node_reader const& n) {
  int const axis = axis_of(n.integer("axis", 0), int(n.dims().size()));
  view const x = n.op.type == "ArgMin" ? unary(n.c, n.x(), negative{}) : n.x();
  view const y = number_of_largest(n.c, x, axis, n.integer("select_last_index", 0) != 0);
  n.define(with_dims(n.c, y, n.out_dims()));
}

/// Repeatedly finds the largest element and lowers it below all others.
void top_k(node_reader const& n) {
  context& c = n.c;
  int const axis = axis_of(n.integer("axis", -1), int(n.dims().size()));
  bool const smallest = n.integer("largest", 1) == 0;
  std::int64_t const count = n.has(1) ? n.integers(1, "k").at(0) : n.integer("k", 1);
  constexpr std::int64_t most = 64;
  if (count > most) throw unsupported("more than 64 elements are not supported");
  view x = smallest ? unary(c, n.x(), negative{}) : n.x();
  extents dims(n.dims().size(), 1);
  dims[std::size_t(axis)] = n.dims()[std::size_t(axis)];
  std::vector<float> numbers = c.table(dims);
  std::iota(numbers.begin(), numbers.end(), 0.f);
  std::vector<view> values, places;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(reduced(c, reduction::largest, x, {axis}));
    places.push_back(number_of_largest(c, x, axis, false));
    if (i + 1 == count) break;
    view const apart = combined(c, arithmetic::subtract, dims, numbers, expanded(c, places.back(), n.dims()));
    view const depth =
        mapped(c, apart, "math::where_less(decltype(x)(0.f), math::abs(x), decltype(x)(0.f), decltype(x)(-2e38f))");
    x = combined(c, arithmetic::add, x, depth);
  }
  view const found = joined(c, values, axis);
  n.define(smallest ? unary(c, found, negative{}) : found, 0);
  if (n.op.outputs.size() > 1 && n.op.outputs[1] >= 0) n.define(joined(c, places, axis), 1);
}

/// Before operator set 13: all axes from the given one on.
std::vector<int> softmax_axes(node_reader const& n) {
  int const rank = int(n.dims().size());
  if (n.c.model.opset >= 13) return {axis_of(n.integer("axis", -1), rank)};
  return all_axes(rank, axis_of(n.integer("axis", 1), rank));
}

void softmax_rule(node_reader const& n) { n.define(softmax_over(n.c, n.x(), softmax_axes(n))); }

void log_softmax(node_reader const& n) {
  context& c = n.c;
  auto const axes = softmax_axes(n);
  view const x = n.x();
  view const below = combined(c, arithmetic::subtract, x, reduced(c, reduction::largest, x, axes));
  view const sums = reduced(c, reduction::sum, unary(c, below, exponential{}), axes);
  n.define(combined(c, arithmetic::subtract, below, unary(c, sums, logarithm{})));
}

}  // namespace

void add_reduction_rules(rule_table& t) {
  for (char const* type : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceL1", "ReduceL2",
                           "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"})
    t[type] = reduce;
  t["GlobalAveragePool"] = t["GlobalMaxPool"] = global_pool;
  t["ArgMax"] = t["ArgMin"] = arg_max_rule;
  t["TopK"] = top_k;
  t["Softmax"] = softmax_rule;
  t["LogSoftmax"] = log_softmax;
}

}  // namespace ago::importer
