// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One of two inputs is forgotten.
// expect: call_fits<false, .*input_sizes_are<12, 12>, .*output_sizes_are<12>, .*gets_sizes<12, 12>
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = trace([](tensor a, tensor b) { return a + b; }, input{.h = 2, .w = 2, .c = 3},
                                  input{.h = 2, .w = 2, .c = 3});

void run() {
  static float const weights[1]{}, a[12]{}, b[12]{};
  static float sum[12];
  static model<net> m{std::span(weights).first<0>()};
#ifdef AGO_POSITIVE
  m(a, b, sum);
#else
  m(a, sum);
  (void)b;
#endif
}
