// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products.
#include "arithmetic.hpp"
#include "movement.hpp"

#include <algorithm>

namespace ago::importer {

namespace {

std::vector<float> transposed_matrix(std::vector<float> const& m, std::int64_t rows, std::int64_t columns) {
  std::vector<float> r(m.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < columns; ++k) r[std::size_t(k * rows + i)] = m[std::size_t(i * columns + k)];
  return r;
}

extents without_leading_ones(extents dims, std::size_t rank) {
  while (dims.size() > rank && dims[0] == 1) dims.erase(dims.begin());
  return dims;
}

/// The batch axes of a matrix product as at most two axes of the broadcast dims.
view in_two_batches(context& c, view x, extents const& batch) {
  extents const matrix{x.how.dims.end() - 2, x.how.dims.end()};
  extents own{x.how.dims.begin(), x.how.dims.end() - 2};
  own.insert(own.begin(), batch.size() - own.size(), 1);
  extents all = own;
  all.insert(all.end(), matrix.begin(), matrix.end());
  x = with_dims(c, x, all);
  if (batch.size() > 2) {
    extents whole = batch;
    whole.insert(whole.end(), matrix.begin(), matrix.end());
    x = expanded(c, x, whole);
    own = {product(batch), 1};
  }
  own.resize(2, 1);
  own.insert(own.end(), matrix.begin(), matrix.end());
  return with_dims(c, x, own);
}

}  // namespace

view matrix_product(context& c, view a, view b) {
  extents const a_batch{a.how.dims.begin(), a.how.dims.end() - 2}, b_batch{b.how.dims.begin(), b.how.dims.end() - 2};
  extents const batch = broadcast(a_batch, b_batch);
  a = in_two_batches(c, a, batch);
  b = in_two_batches(c, b, batch);
  extents whole = a.how.dims;
  for (std::size_t i = 0; i < 2; ++i) whole[i] = std::max(a.how.dims[i], b.how.dims[i]);
  a = expanded(c, a, whole);
  layout const& l = b.how;
  bool const depth_last = !l.memory.empty() && l.axis[std::size_t(l.memory.back())] == 2;
  a = placed(c.net, a, {{0}, {1}, {2}, {3}});
  b = depth_last ? placed(c.net, b, {{0}, {1}, {3}, {2}}) : placed(c.net, b, {{0}, {1}, {2}, {3}});
  whole[3] = b.how.dims[3];
  view const r{c.net.apply(product_of{depth_last}, {a.value, b.value}), row_major(whole)};
  extents dims = batch;
  dims.insert(dims.end(), {whole[2], whole[3]});
  return with_dims(c, r, dims);
}

namespace {

void matmul_rule(node_reader const& n) {
  extents const a = n.dims(0), b = n.dims(1), b_own = without_leading_ones(b, 2), a_own = without_leading_ones(a, 2);
  std::int64_t const depth = a.back();
  if (n.known(1) && b_own.size() <= 2) {
    std::int64_t const out = b_own.size() == 1 ? 1 : b_own[1];
    view const y = linear_along(n.c, n.x(0), int(a.size()) - 1, out, transposed_matrix(n.reals(1, ""), depth, out), {});
    return n.define(with_dims(n.c, y, n.out_dims()));
  }
  if (n.known(0) && a_own.size() <= 2) {
    int const axis = b.size() == 1 ? 0 : int(b.size()) - 2;
    return n.define(with_dims(n.c, times_matrix(n.c, n.x(1), axis, n.reals(0, "")), n.out_dims()));
  }
  view x = n.x(0), y = n.x(1);
  if (a.size() == 1) x = with_dims(n.c, x, {1, depth});
  if (b.size() == 1) y = with_dims(n.c, y, {depth, 1});
  n.define(with_dims(n.c, matrix_product(n.c, x, y), n.out_dims()));
}

std::vector<float> times(std::vector<float> values, float factor) {
  for (float& v : values) v *= factor;
  return values;
}

void gemm(node_reader const& n) {
  float const alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  bool const turn_a = n.integer("transA", 0) != 0, turn_b = n.integer("transB", 0) != 0;
  view const a = turn_a ? transposed(n.x(0), {1, 0}) : n.x(0);
  extents const out = n.out_dims();
  view y;
  std::vector<float> shift;
  if (n.known(1)) {
    std::int64_t const depth = a.how.dims[1];
    auto const b = n.reals(1, "");
    auto const weights = times(turn_b ? b : transposed_matrix(b, depth, out[1]), alpha);
    bool const of_channels = n.known(2) && (n.dims(2).size() < 2 || n.dims(2)[n.dims(2).size() - 2] == 1);
    if (of_channels) shift = broadcast_values(n.c, n.dims(2), times(n.reals(2, ""), beta), {1, out[1]});
    y = linear_along(n.c, a, 1, out[1], weights, shift);
  } else {
    view const b = turn_b ? transposed(n.x(1), {1, 0}) : n.x(1);
    y = matrix_product(n.c, a, b);
    if (alpha != 1) y = unary(n.c, y, affine{alpha, 0});
  }
  if (shift.empty() && n.has(2) && beta != 0) {
    if (n.known(2)) y = combined(n.c, arithmetic::add, y, n.dims(2), times(n.reals(2, ""), beta));
    else y = combined(n.c, arithmetic::add, y, beta == 1 ? n.x(2) : unary(n.c, n.x(2), affine{beta, 0}));
  }
  n.define(y);
}

}  // namespace

void add_product_rules(rule_table& t) {
  t["MatMul"] = matmul_rule;
  t["Gemm"] = gemm;
}

}  // namespace ago::importer
