// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers: elementwise functions of parameters, gradients and states.
//
// An optimizer has a number of `states` for each parameter, which are 0 at first, and returns, for a learning rate and
// the number of the step (from 1), a function of registers (or floats) that changes parameter and states:
//
//     struct my_optimizer {
//       static constexpr int states = 1;
//       auto operator()(float rate, long) const {
//         return [=](auto& p, auto g, auto& sum) { sum = sum + g * g; p = p - rate * g / sqrt(sum); };
//       }
//     };
#pragma once

#include <ago/simd/math.hpp>

#include <cmath>
#include <type_traits>

namespace ago::learning {

/// Stochastic gradient descent with momentum, as PyTorch's SGD: velocity = momentum * velocity + gradient, where
/// gradient has weight_decay * parameter added.
struct sgd {
  float momentum = 0, weight_decay = 0;
  bool nesterov = false;

  static constexpr int states = 1;
  auto operator()(float rate, long) const {
    return [*this, rate](auto& p, auto g, auto& velocity) {
      using v = std::remove_reference_t<decltype(p)>;
      g = fma(v(weight_decay), p, g);
      velocity = fma(v(momentum), velocity, g);
      p = fma(v(-rate), nesterov ? fma(v(momentum), velocity, g) : velocity, p);
    };
  }
};

/// The step of Adam: moments of first and second order, without bias.
struct adam_moments {
  float beta1, beta2, epsilon, rate, unbias1, unbias2;

  adam_moments(float b1, float b2, float e, float r, long step)
      : beta1(b1), beta2(b2), epsilon(e), rate(r), unbias1(float(1 / (1 - std::pow(double(b1), double(step))))),
        unbias2(float(1 / std::sqrt(1 - std::pow(double(b2), double(step))))) {}
  template <class V>
  AGO_INLINE V moved(V p, V g, V& first, V& second) const {
    first = fma(V(1 - beta1), g - first, first);
    second = fma(V(1 - beta2), g * g - second, second);
    return p - V(rate * unbias1) * first / fma(V(unbias2), sqrt(second), V(epsilon));
  }
};

/// Adam (Kingma and Ba, 2015), as PyTorch's: weight_decay * parameter is added to the gradient.
struct adam {
  float beta1 = .9f, beta2 = .999f, epsilon = 1e-8f, weight_decay = 0;

  static constexpr int states = 2;
  auto operator()(float rate, long step) const {
    return [of = learning::adam_moments(beta1, beta2, epsilon, rate, step), decay = weight_decay](
               auto& p, auto g, auto& first, auto& second) {
      using v = std::remove_reference_t<decltype(p)>;
      p = of.moved(p, fma(v(decay), p, g), first, second);
    };
  }
};

/// Adam with weight decay apart from the gradient (Loshchilov and Hutter, 2019), as PyTorch's AdamW.
struct adamw {
  float beta1 = .9f, beta2 = .999f, epsilon = 1e-8f, weight_decay = .01f;

  static constexpr int states = 2;
  auto operator()(float rate, long step) const {
    return [of = learning::adam_moments(beta1, beta2, epsilon, rate, step), keep = 1 - rate * weight_decay](
               auto& p, auto g, auto& first, auto& second) {
      using v = std::remove_reference_t<decltype(p)>;
      p = of.moved(p * v(keep), g, first, second);
    };
  }
};

/// Division by a running root mean square of the gradient, as PyTorch's RMSprop.
struct rmsprop {
  float alpha = .99f, epsilon = 1e-8f, momentum = 0, weight_decay = 0;

  static constexpr int states = 2;
  auto operator()(float rate, long) const {
    return [*this, rate](auto& p, auto g, auto& square, auto& velocity) {
      using v = std::remove_reference_t<decltype(p)>;
      g = fma(v(weight_decay), p, g);
      square = fma(v(1 - alpha), g * g - square, square);
      velocity = fma(v(momentum), velocity, g / (sqrt(square) + v(epsilon)));
      p = fma(v(-rate), velocity, p);
    };
  }
};

}  // namespace ago::learning

namespace ago {
using learning::adam;
using learning::adamw;
using learning::rmsprop;
using learning::sgd;
}  // namespace ago
