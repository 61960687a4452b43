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

/// An LSTM whose gates subtract (Costa, Assael, Shillingford, de Freitas, Vogels: Cortical Microcircuits as
/// Gated-Recurrent Neural Networks, NIPS 2017).
constexpr auto sub_lstm(int units) {
  return [=](tensor x) {
    tensor const of_inputs = x | named("w", linear{4 * units});
    tensor const u = x | named("u", constant{.w = 4 * units, .c = units});
    tensor h, c;
    for (int t = 0; t < x.width(); ++t) {
      tensor const wx = of_inputs | slice{t, 1, axis::columns};
      auto const [i, f, o, z] = chunk<4>((t == 0 ? wx : wx + times(h, u)) | sigmoid{});
      c = t == 0 ? z - i : f * c + z - i;
      h = (c | sigmoid{}) - o;
    }
    return h;
  };
}

/// An LSTM that forgets nothing, with an exponential unit: the example of PyTorch's tutorial on extensions in C++.
constexpr auto lltm(int units) {
  return [=](tensor x) {
    tensor const of_inputs = x | named("w", linear{3 * units});
    tensor const u = x | named("u", constant{.w = 3 * units, .c = units});
    tensor h, c;
    for (int t = 0; t < x.width(); ++t) {
      tensor const wx = of_inputs | slice{t, 1, axis::columns};
      auto const [i, o, z] = chunk<3>(t == 0 ? wx : wx + times(h, u));
      tensor const entering = (z | elu{}) * (i | sigmoid{});
      c = t == 0 ? entering : c + entering;
      h = (c | hyperbolic_tangent{}) * (o | sigmoid{});
    }
    return h;
  };
}

/// The rows of an image of 28x28 pixels are the steps.
inline constexpr auto rows = input{.h = 28, .w = 28, .c = 1} | reshape{.h = 1, .w = 28, .c = 28};

}  // namespace recurrent
