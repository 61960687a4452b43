// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recurrent network, unrolled over the steps of a sequence, which all read the same parameters.
#pragma once

#include <ago/training.hpp>

namespace sequence {

using namespace ago;

// [mi_lstm]
/// The last output {n, 1, 1, units} of an LSTM with multiplicative integration for sequences {n, 1, steps, c} (Wu,
/// Zhang, Zhang, Bengio, Salakhutdinov: On Multiplicative Integration with Recurrent Neural Networks, NIPS 2016).
constexpr auto mi_lstm(int units) {
  return [=](tensor x) {
    int const gates = 4 * units, steps = x.width(), n = x.dims().n;
    tensor const of_inputs = x | named("w", linear{.out = gates, .bias = false});
    tensor const u = x | named("u", constant{.w = gates, .c = units});
    tensor const alpha = x | named("alpha", constant{.c = gates});
    tensor const beta1 = x | named("beta1", constant{.c = gates}), beta2 = x | named("beta2", constant{.c = gates});
    tensor const b = x | named("b", constant{.c = gates});

    tensor h, c;
    for (int t = 0; t < steps; ++t) {
      tensor const wx = of_inputs | slice{t, 1, axis::columns};
      tensor sum = wx * beta2 + b;
      if (t > 0) {
        tensor const rows = h | reshape{.n = 1, .w = n};  // so that all sequences are in one product
        tensor const uh = matmul(rows, u, true) | reshape{.n = n, .w = 1};
        sum = sum + alpha * wx * uh + beta1 * uh;
      }
      auto const [i, f, o, z] = chunk<4>(sum);
      tensor const entering = (i | sigmoid{}) * (z | hyperbolic_tangent{});
      c = t == 0 ? entering : (f | sigmoid{}) * c + entering;
      h = (o | sigmoid{}) * (c | hyperbolic_tangent{});
    }
    return h;
  };
}

// [/mi_lstm]

/// The rows of an image are the steps.
constexpr int units = 64;
inline constexpr auto network =
    input{.h = 8, .w = 8, .c = 1} | reshape{.h = 1, .w = 8, .c = 8} | mi_lstm(units) | linear{10};

}  // namespace sequence
