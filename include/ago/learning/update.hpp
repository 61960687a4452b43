// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of an optimizer over a range of parameters.
#pragma once

#include <ago/simd/simd.hpp>

#include <utility>

namespace ago::learning {

/// Applies `change` (see train/optimizers.hpp) to `count` parameters. State s of parameter i is states[s * stride + i].
template <isa I, int States, class Change>
void update_range(Change const& change, float* p, float const* gradient, float* states, long stride, float scale,
                  long count) {
  using v = vec<I>;
  [&]<int... S>(std::integer_sequence<int, S...>) {
    auto const update = [&](long i, auto const&... part) {
      v x = v::load(p + i, part...);
      v state[States > 0 ? States : 1] = {v::load(states + S * stride + i, part...)...};
      change(x, v::load(gradient + i, part...) * v(scale), state[S]...);
      x.store(p + i, part...);
      (state[S].store(states + S * stride + i, part...), ...);
    };
    long i = 0;
    for (; i + v::size <= count; i += v::size) update(i);
    if (i < count) update(i, int(count - i));
  }(std::make_integer_sequence<int, States>{});
}

/// The sum of the squares, in an order that does not depend on the machine.
inline double sum_of_squares(float const* x, long count) {
  double sum[8] = {};
  for (long i = 0; i < count; ++i) sum[i % 8] += double(x[i]) * double(x[i]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace ago::learning
