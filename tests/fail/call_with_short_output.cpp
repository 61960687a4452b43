// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output is too short.
// expect: call_fits<false, .*input_sizes_are<192>, .*output_sizes_are<1024>, .*gets_sizes<192, 1023>
// expect: ago: a model is called with one span of fixed extent for each input, then one for each output
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16};

#ifdef AGO_POSITIVE
static float result[8 * 8 * 16];
#else
static float result[8 * 8 * 16 - 1];
#endif
static float weights[48], image[8 * 8 * 3];

void run() {
  static model<net> m{weights};
  m(image, result);
}
