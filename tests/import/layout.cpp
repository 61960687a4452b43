// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes exchanged and regrouped symbolically, and the layers that finally move the elements.
#include "import/arrange.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace ago::importer;

namespace {

using elements = std::vector<int>;

std::size_t at(ago::shape const& s, int n, int h, int w, int c) {
  return ((std::size_t(n) * std::size_t(s.h) + std::size_t(h)) * std::size_t(s.w) + std::size_t(w)) * std::size_t(s.c) +
         std::size_t(c);
}

/// The effect of movement layers, element by element.
elements moved(call const& c, ago::shape const& from, elements const& x) {
  if (std::holds_alternative<ago::reshape>(c.what)) return x;
  elements r(x.size());
  ago::shape const& to = c.out;
  for (int n = 0; n < to.n; ++n)
    for (int h = 0; h < to.h; ++h)
      for (int w = 0; w < to.w; ++w)
        for (int k = 0; k < to.c; ++k) {
          if (auto const* p = std::get_if<ago::permute>(&c.what)) {
            int source[4];
            source[p->n] = n, source[p->h] = h, source[p->w] = w, source[p->c] = k;
            r[at(to, n, h, w, k)] = x[at(from, source[0], source[1], source[2], source[3])];
          } else {
            int const groups = std::get<ago::channel_shuffle>(c.what).groups, inner = to.c / groups;
            r[at(to, n, h, w, k)] = x[at(from, n, h, w, k % groups * inner + k / groups)];
          }
        }
  return r;
}

elements run(builder const& b, int value, elements const& input) {
  call const& c = b.at(value);
  if (c.operands.empty()) return input;
  return moved(c, b.dims(c.operands[0]), run(b, c.operands[0], input));
}

elements transposed_elements(elements const& x, extents const& dims, std::vector<int> const& order) {
  elements r;
  std::vector<std::int64_t> index(dims.size(), 0), strides(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = std::int64_t(i), source = 0;
    for (std::size_t d = order.size(); d-- > 0;) {
      std::int64_t const extent = dims[std::size_t(order[d])];
      source += rest % extent * strides[std::size_t(order[d])];
      rest /= extent;
    }
    r.push_back(x[std::size_t(source)]);
  }
  return r;
}

extents random_factors(std::mt19937& random, std::int64_t count) {
  extents r;
  while (count > 1) {
    std::int64_t factor = std::min<std::int64_t>(2 + std::int64_t(random() % 6), count);
    while (count % factor) ++factor;
    r.push_back(factor);
    count /= factor;
    if (random() % 4 == 0) r.push_back(1);
  }
  std::shuffle(r.begin(), r.end(), random);
  return r;
}

}  // namespace

TEST_CASE("any chain of transpositions and reshapes gives the order of plain loops") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    extents dims = random_factors(random, 24 * (1 + std::int64_t(random() % 3)));
    elements expected(std::size_t(product(dims)));
    std::iota(expected.begin(), expected.end(), 0);
    elements const input = expected;
    builder b;
    view x{b.add_input({.c = int(expected.size())}), row_major(dims)};
    for (int step = 0; step < 4; ++step) {
      if (random() % 2) {
        std::vector<int> order(dims.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        expected = transposed_elements(expected, dims, order);
        x.how = transposed(x.how, order);
        dims = x.how.dims;
      } else {
        dims = random_factors(random, product(dims));
        if (auto const l = reshaped(x.how, dims)) x.how = *l;
        else x = {in_row_major(b, x).value, row_major(dims)};
      }
      CHECK(x.how.dims == dims);
    }
    x = in_row_major(b, x);
    CHECK(run(b, x.value, input) == expected);
    CHECK(x.how.is_row_major());
  }
}

TEST_CASE("axes are moved to requested places") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    extents const dims{2, 3, 4, 5};
    std::vector<int> order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random);
    builder b;
    elements input(120);
    std::iota(input.begin(), input.end(), 0);
    view const x{b.add_input({.c = 120}), row_major(dims)};
    view const y = placed(b, x, {{order[0]}, {order[1]}, {order[2]}, {order[3]}});
    CHECK(run(b, y.value, input) == transposed_elements(input, dims, order));
    CHECK(b.dims(y.value).c == dims[std::size_t(order[3])]);
  }
}

TEST_CASE("ShuffleNet's reshape, transposition, reshape is one channel shuffle") {
  builder b;
  view x{b.add_input({.h = 4, .w = 5, .c = 12}), of_axes({1, 12, 4, 5}, {0, 2, 3, 1})};
  layout const groups = *reshaped(x.how, {1, 3, 4, 4, 5});
  x.how = *reshaped(transposed(groups, {0, 2, 1, 3, 4}), {1, 12, 4, 5});
  view const y = placed(b, x, {{0}, {2}, {3}, {1}});
  CHECK(b.size() == 2);
  auto const* shuffle = std::get_if<ago::channel_shuffle>(&b.at(y.value).what);
  REQUIRE(shuffle);
  CHECK(shuffle->groups == 3);
}

TEST_CASE("a reshape that splits an axis unevenly needs the elements in order") {
  CHECK(reshaped(row_major({6, 4}), {3, 8}));
  CHECK(!reshaped(transposed(row_major({4, 6}), {1, 0}), {8, 3}));
}
