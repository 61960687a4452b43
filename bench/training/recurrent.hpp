// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent cells of NeoFlow's evaluation beside MI-LSTM, unrolled over the steps of sequences {n, 1, steps, c}, from a
// state that is 0; each is the last output {n, 1, 1, units}.
#pragma once

#include <ago/training.hpp>

namespace recurrent {

using namespace ago;

/// h * weight^T for h {n, 1, 1, c}, with all sequences in one product; `weight`: {1, 1, out, c}.
constexpr tensor times(tensor h, tensor weight) {
  int const n = h.dims().n;
  return matmul(h | reshape{.n = 1, .w = n}, weight, true) | reshape{.n = n, .w = 1};
}

/// Units and slowly changing context units (Mikolov, Joulin, Chopra, Mathieu, Ranzato: Learning Longer Memory in
/// Recurrent Neural Networks, ICLR 2015); the output is both.
constexpr auto sc_rnn(int units, int context) {
  return [=](tensor x) {
    constexpr float slow = .95f;
    tensor const a = x | named("a", linear{.out = units, .bias = false});
    tensor const b = x | named("b", linear{.out = context, .bias = false});
    tensor const p = x | named("p", constant{.w = units, .c = context});
    tensor const r = x | named("r", constant{.w = units, .c = units});
    tensor h, s;
    for (int t = 0; t < x.width(); ++t) {
      tensor const entering = b | slice{t, 1, axis::columns} | affine{1 - slow, 0};
      s = t == 0 ? entering : entering + (s | affine{slow, 0});
      tensor const sum = (a | slice{t, 1, axis::columns}) + times(s, p);
      h = (t == 0 ? sum : sum + times(h, r)) | sigmoid{};
    }
    return concat(h, s);
  };
}

/// A cell whose `gates` * units sums are linear in the input and the last output: f(sums, h, c) sets output and state,
/// which have no recorder before the first step.
constexpr auto of_gates(int gates, int units, auto f) {
  return [=](tensor x) {
    tensor const of_inputs = x | named("w", linear{gates * units});
    tensor const u = x | named("u", constant{.w = gates * units, .c = units});
    tensor h, c;
    for (int t = 0; t < x.width(); ++t) {
      tensor const wx = of_inputs | slice{t, 1, axis::columns};
      f(t == 0 ? wx : wx + times(h, u), h, c);
    }
    return h;
  };
}

/// An LSTM whose gates subtract (Costa, Assael, Shillingford, de Freitas, Vogels: Cortical Microcircuits as
/// Gated-Recurrent Neural Networks, NIPS 2017).
constexpr auto sub_lstm(int units) {
  return of_gates(4, units, [](tensor sums, tensor& h, tensor& c) {
    auto const [i, f, o, z] = chunk<4>(sums | sigmoid{});
    c = c.recorder ? f * c + z - i : z - i;
    h = (c | sigmoid{}) - o;
  });
}

/// An LSTM that forgets nothing, with an exponential unit: the example of PyTorch's tutorial on extensions in C++.
constexpr auto lltm(int units) {
  return of_gates(3, units, [](tensor sums, tensor& h, tensor& c) {
    auto const [i, o, z] = chunk<3>(sums);
    tensor const entering = (z | elu{}) * (i | sigmoid{});
    c = c.recorder ? c + entering : entering;
    h = (c | hyperbolic_tangent{}) * (o | sigmoid{});
  });
}

/// The rows of an image of 28x28 pixels are the steps.
inline constexpr auto rows = input{.h = 28, .w = 28, .c = 1} | reshape{.h = 1, .w = 28, .c = 28};

}  // namespace recurrent
