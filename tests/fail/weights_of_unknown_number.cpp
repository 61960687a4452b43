// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights whose number is only known at run time, without a status to report a wrong number.
// expect: weights_fit<false, ago::runtime::parameter_count_is<48>, ago::runtime::gets_sizes<0>
// expect: construct with model\(weights, status\)
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16};

void make(std::span<float const> weights) {
#ifdef AGO_POSITIVE
  status s{};
  static model<net> m(weights, s);
#else
  static model<net> m(weights);
#endif
}
