// Reductions, and what is made of them.
#include "arithmetic.hpp"
#include "movement.hpp"

#include <algorithm>
#include <cmath>

namespace ago::importer {

namespace {

int to_int(std::int64_t extent) {
  if (extent > detail::int_limit) throw unsupported("a value is too large");
  return int(extent);
}

/// A value as three blocks: what lies outside of some axes, these axes, and what lies inside of them.
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

int pooled_blocks(context& c, three_blocks const& b, bool largest) {
  shape const s = c.net.dims(b.x.value);
  bool const is_image = s.n == b.outer && std::int64_t(s.h) * s.w == b.own && s.c == b.inner;
  int const v = is_image ? b.x.value : with_extents(c.net, b.x.value, {b.outer, 1, b.own, b.inner});
  return largest ? c.net.apply(global_max_pool{}, {v}) : c.net.apply(global_avg_pool{}, {v});
}

/// Halves are multiplied until one element is left.
int product_of_blocks(context& c, three_blocks const& b) {
  int v = with_extents(c.net, b.x.value, {1, b.outer, b.own, b.inner});
  for (int count = b.own; count > 1; count = (count + 1) / 2) {
    int const half = count / 2;
    auto const part = [&](int begin, int n) { return c.net.apply(slice{begin, n, ago::axis::columns}, {v}); };
    int const left = part(0, half), right = part(half, half);
    int const rest = count % 2 ? part(count - 1, 1) : -1;
    v = c.net.apply(binary{op::mul}, {left, right});
    if (rest >= 0) v = c.net.apply(join{ago::axis::columns}, {v, rest});
  }
  return v;
}

}  // namespace

view reduced(context& c, reduction what, view x, std::vector<int> const& axes) {
  if (what == reduction::smallest) return mapped(c, reduced(c, reduction::largest, mapped(c, x, "-x"), axes), "-x");
  three_blocks const b = blocks_around(c, x, axes);
  layout const l = without_axes(b.x.how, axes);
  if (b.own == 1) return {x.value, without_axes(x.how, axes)};
  if (what == reduction::product) return {product_of_blocks(c, b), l};
  if (what == reduction::largest) return {pooled_blocks(c, b, true), l};
  if (b.inner == 1) {
    float const weight = what == reduction::mean ? 1.f / float(b.own) : 1.f;
    int const v = with_extents(c.net, b.x.value, {1, 1, b.outer, b.own});
    return {c.net.apply(linear{.out = 1, .bias = false}, {v}, std::vector<float>(std::size_t(b.own), weight)), l};
  }
  view const mean{pooled_blocks(c, b, false), l};
  return what == reduction::mean ? mean : mapped(c, mean, "x * " + literal(float(b.own)));
}

view softmax_over(context& c, view x, std::vector<int> const& axes) {
  return unary(c, innermost(c.net, x, axes), softmax{});
}

view normalised(context& c, view x, std::vector<int> const& axes, float epsilon, std::vector<float> const& gamma,
                std::vector<float> const& beta) {
  x = innermost(c.net, x, axes);
  auto const order = order_within(x.how, axes);
  std::vector<float> weights;
  for (std::size_t i = 0; i < order.size(); ++i) weights.push_back(gamma.empty() ? 1.f : gamma[std::size_t(order[i])]);
  for (std::size_t i = 0; i < order.size(); ++i) weights.push_back(beta.empty() ? 0.f : beta[std::size_t(order[i])]);
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
  if (type == "ReduceL1") return done(sum(mapped(c, x, "math::abs(x)")));
  if (type == "ReduceSumSquare") return done(sum(mapped(c, x, "x * x")));
  if (type == "ReduceL2") return done(mapped(c, sum(mapped(c, x, "x * x")), "math::sqrt(x)"));
  if (type == "ReduceLogSum") return done(mapped(c, sum(x), "math::log(x)"));
  view const most = reduced(c, reduction::largest, x, axes);  // ReduceLogSumExp
  view const powers = mapped(c, combined(c, arithmetic::subtract, x, most), "math::exp(x)");
  done(combined(c, arithmetic::add, mapped(c, sum(powers), "math::log(x)"), most));
}

void global_pool(node_reader const& n) {
  auto const axes = all_axes(int(n.dims().size()), 2);
  view const x = n.dims().size() == 4 ? placed(n.c.net, n.x(), {{0}, {2}, {3}, {1}}) : n.x();
  if (n.op.type == "GlobalMaxPool") return n.define(reduced(n.c, reduction::largest, x, axes));
  n.define(reduced(n.c, reduction::mean, x, axes));
}

/// The number of the first, or the last, of the largest elements.
void arg_max(node_reader const& n) {
  context& c = n.c;
  int const axis = axis_of(n.integer("axis", 0), int(n.dims().size()));
  bool const last = n.integer("select_last_index", 0) != 0;
  view const x = n.op.type == "ArgMin" ? mapped(c, n.x(), "-x") : n.x();
  view const most = reduced(c, reduction::largest, x, {axis});
  view const below = combined(c, arithmetic::subtract, x, most);
  std::string const zero = "decltype(x)(0.f)", one = "decltype(x)(1.f)";
  view const equal = mapped(c, below, "math::where_less(x, " + zero + ", " + zero + ", " + one + ")");
  // Numbered from 1 so that the one that counts has the largest number.
  std::int64_t const extent = n.dims()[std::size_t(axis)];
  extents dims(n.dims().size(), 1);
  dims[std::size_t(axis)] = extent;
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < extent; ++i) numbers.push_back(float(last ? i + 1 : extent - i));
  view const found =
      reduced(c, reduction::largest, combined(c, arithmetic::multiply, equal, dims, numbers), {axis});
  view const index = mapped(c, found, last ? "x - 1.f" : literal(float(extent)) + " - x");
  n.define(with_dims(c, index, n.out_dims()));
}

/// Before operator set 13 all axes from the given one on.
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
  view const sums = reduced(c, reduction::sum, mapped(c, below, "math::exp(x)"), axes);
  n.define(combined(c, arithmetic::subtract, below, mapped(c, sums, "math::log(x)")));
}

}  // namespace

void add_reduction_rules(rule_table& t) {
  for (char const* type : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceL1", "ReduceL2",
                           "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"})
    t[type] = reduce;
  t["GlobalAveragePool"] = t["GlobalMaxPool"] = global_pool;
  t["ArgMax"] = t["ArgMin"] = arg_max;
  t["Softmax"] = softmax_rule;
  t["LogSoftmax"] = log_softmax;
}

}  // namespace ago::importer
