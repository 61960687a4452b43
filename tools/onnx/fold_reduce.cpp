// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folding of reductions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "encodings.hpp"
#include "fold.hpp"
#include "operands.hpp"
#include "view.hpp"

namespace ago::onnx::folding {
namespace {

/// Sums are accumulated in double precision.
struct reduction {
  char const* type;
  double start;
  double (*step)(double, double);
  double (*end)(double sum, double count);
};

double add(double a, double x) { return a + x; }
double as_is(double a, double) { return a; }

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr reduction reductions[] = {
    {"ReduceSum", 0, add, as_is},
    {"ReduceMean", 0, add, [](double a, double count) { return a / count; }},
    {"ReduceProd", 1, [](double a, double x) { return a * x; }, as_is},
    {"ReduceMax", -infinity, [](double a, double x) { return std::isnan(a) || a > x ? a : x; }, as_is},
    {"ReduceMin", infinity, [](double a, double x) { return std::isnan(a) || a < x ? a : x; }, as_is},
    {"ReduceL1", 0, [](double a, double x) { return a + std::fabs(x); }, as_is},
    {"ReduceL2", 0, [](double a, double x) { return a + x * x; }, [](double a, double) { return std::sqrt(a); }},
    {"ReduceSumSquare", 0, [](double a, double x) { return a + x * x; }, as_is},
    {"ReduceLogSum", 0, add, [](double a, double) { return std::log(a); }},
};

struct integer_reduction {
  char const* type;
  std::int64_t start;
  std::uint64_t (*step)(std::uint64_t, std::uint64_t);  ///< unsigned: overflow wraps around
};

std::uint64_t larger(std::uint64_t a, std::uint64_t x) {
  return static_cast<std::int64_t>(a) > static_cast<std::int64_t>(x) ? a : x;
}
std::uint64_t smaller(std::uint64_t a, std::uint64_t x) {
  return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(x) ? a : x;
}

constexpr integer_reduction integer_reductions[] = {
    {"ReduceSum", 0, [](std::uint64_t a, std::uint64_t x) { return a + x; }},
    {"ReduceProd", 1, [](std::uint64_t a, std::uint64_t x) { return a * x; }},
    {"ReduceMax", std::numeric_limits<std::int64_t>::min(), larger},
    {"ReduceMin", std::numeric_limits<std::int64_t>::max(), smaller},
};

template <class Table>
auto find(Table const& table, std::string const& type) {
  return std::find_if(std::begin(table), std::end(table), [&](auto const& entry) { return type == entry.type; });
}

/// Strides over the result while the operand is traversed: 0 along reduced axes.
extents strides_over(extents const& dims, std::vector<bool> const& reduced) {
  extents strides(dims.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (reduced[i]) continue;
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

}  // namespace

results reduce(site const& s) {
  if (!s.type().starts_with("Reduce")) return {};
  constant const& x = s.known(0, "data");
  extents const strides = strides_over(x.dims, reduced_axes(s));
  constant c = zeros(x.type, s.output_dims(0));
  if (x.type == element::integer) {
    auto const r = find(integer_reductions, s.type());
    if (r == std::end(integer_reductions)) return {};
    std::fill(c.integers.begin(), c.integers.end(), r->start);
    walk(x.dims, 0, strides, [&](std::size_t from, std::size_t to) {
      c.integers[to] = static_cast<std::int64_t>(
          r->step(static_cast<std::uint64_t>(c.integers[to]), static_cast<std::uint64_t>(x.integers[from])));
    });
  } else {
    auto const r = find(reductions, s.type());
    if (r == std::end(reductions)) return {};
    std::vector<double> sums(c.reals.size(), r->start);
    walk(x.dims, 0, strides,
         [&](std::size_t from, std::size_t to) { sums[to] = r->step(sums[to], static_cast<double>(x.reals[from])); });
    double const count = sums.empty() ? 1 : static_cast<double>(x.reals.size()) / static_cast<double>(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) c.reals[i] = narrow(r->end(sums[i], count));
  }
  return std::vector<constant>{std::move(c)};
}

}  // namespace ago::onnx::folding
