// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loss does not depend on a layer that is to be trained.
// expect: fault::no_gradient_reaches, .*gets<2>
#include <ago/training.hpp>

using namespace ago;

inline constexpr auto net = trace(
    [](tensor x) {
      tensor const y = x | linear{2};
      tensor const z = x | linear{2};
#ifdef AGO_POSITIVE
      return y + z;
#else
      return outputs(y, z);
#endif
    },
    input{.c = 4});

static trainer<net> t(1);
float trained(std::span<float const, 4> x, std::span<int const, 1> label) { return t.step(x, label); }
