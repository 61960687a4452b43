// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of docs/expressions.md.
#pragma once

#include <ago/expression/notation.hpp>

namespace operators {

using namespace ago::expression;

// [capsules]
inline constexpr auto capsule_convolution = [](int capsules, int kernel, int stride) {
  return compute("capsule_convolution", [=](operand x, weights parameter) {  // x[b, c, h, w, i, l]
    operand const weight = parameter("weight", capsules, x.extent(1), kernel, kernel, x.extent(5), 4);
    var b, k, p, q, i, j, c, r, s, l;
    return result(b, k, p, q, i, j) =
               sum(c, r, s, l)(x(b, c, stride * p + r, stride * q + s, i, l) * weight(k, c, r, s, l, j));
  });
};
// [/capsules]

// [product]
inline constexpr auto matrix_product = compute("matrix_product", [](operand a, operand b) {
  var i, j, k;
  return result(i, j) = sum(k)(a(i, k) * b(k, j));
});
// [/product]

// [softmax]
inline constexpr auto softmax = compute("softmax", [](operand x) {
  var i, c;
  operand const peak = result(i) = maximum(c)(x(i, c));
  operand const e = result(i, c) = exp(x(i, c) - peak(i));
  operand const total = result(i) = sum(c)(e(i, c));
  return result(i, c) = e(i, c) / total(i);
});
// [/softmax]

// [depth2space]
inline constexpr auto depth2space = [](int block) {
  return compute("depth2space", [=](operand x) {
    int const channels = x.extent(3) / (block * block);
    var n, h, w, c{channels};
    return result(n, h, w, c) = x(n, h / block, w / block, c + channels * (block * (h % block) + w % block));
  });
};
// [/depth2space]

// [dilated]
inline constexpr auto dilated_convolution = [](int channels, int kernel, int dilation, int pad) {
  return compute("dilated_convolution", [=](operand x, weights parameter) {  // x[n, h, w, c]
    operand const weight = parameter("weight");
    auto const count = [=](int extent) { return windows(extent, kernel, 1, dilation, 2 * pad); };
    var n, h{count(x.extent(1))}, w{count(x.extent(2))}, k{channels}, r{kernel}, s{kernel}, c;
    operand const image = padded(x, 0);
    return result(n, h, w, k) =
               sum(r, s, c)(image(n, h + dilation * r - pad, w + dilation * s - pad, c) * weight(k, r, s, c));
  });
};
// [/dilated]

// [outer]
inline constexpr auto outer_product = compute("outer_product", [](operand a, operand b) {
  var i, j;
  return result(i, j) = a(i) * b(j);
});
// [/outer]

// [sublstm]
inline constexpr auto sub_lstm_cell = compute("sub_lstm_cell", [](operand x, operand h, operand c, weights p) {
  operand const w = p("w"), u = p("u"), b = p("b");  // gates: candidate, input, forget, output
  int const units = h.extent(1);
  var n, g{4 * units}, i, k, j{units};
  operand const gate = result(n, g) = sigmoid(sum(i)(w(g, i) * x(n, i)) + sum(k)(u(g, k) * h(n, k)) + b(g));
  operand const cell = result(n, j) = gate(n, 2 * units + j) * c(n, j) + gate(n, j) - gate(n, units + j);
  operand const output = result(n, j) = sigmoid(cell(n, j)) - gate(n, 3 * units + j);
  return results(output, cell);
});
// [/sublstm]

// [lookup]
inline constexpr auto lookup = compute("lookup", [](operand row, operand table) {
  var n, c;
  return result(n, c) = table(row(n), c);
});
// [/lookup]

}  // namespace operators
