// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix product of two values.
#pragma once

#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

/// The matrix product of x {n, h, w, c} and y {n, h, c, m} for every image and row: {n, h, w, m}. `transposed`: y is
/// {n, h, m, c}. Its n and h may be 1; it is then used for all images or rows.
constexpr tensor matmul(tracing::left_operand x, tensor y, bool transposed = false) {
  tensor const operands[] = {x.value, y};
  tracing::recording r(op::matmul, x.line, operands);
  shape const a = x.value.dims(), b = y.dims();
  int const depth = transposed ? b.c : b.w;
  if (depth != a.c) r.complain(ir::fault::channels_differ, a.c, depth);
  if (b.n != a.n && b.n != 1) r.complain(ir::fault::extents_differ, a.n, b.n);
  if (b.h != a.h && b.h != 1) r.complain(ir::fault::extents_differ, a.h, b.h);
  ir::node n{.kind = op::matmul, .out = {a.n, a.h, a.w, transposed ? b.w : b.c}, .alpha = 1};
  n.transposed = transposed;
  return r.append(n, operands);
}

namespace described {

// [matmul]
constexpr operand matmul(node const& n, std::same_as<operand> auto a, operand b) {
  var i, y, j, k, m;
  affine const image = b.extent(0) == 1 ? affine(0) : affine(i), row = b.extent(1) == 1 ? affine(0) : affine(y);
  scalar const right = n.transposed ? b(image, row, m, k) : b(image, row, k, m);
  scalar const product = sum(k)(a(i, y, j, k) * right);
  return result(i, y, j, m) = n.alpha == 1 ? product : product * n.alpha;
}
// [/matmul]

}  // namespace described

}  // namespace ago
