// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model of a network with a misfit: only the misfit is reported.
// misfit: shapes_differ add 3 16 24
#include <ago/ago.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int channels = 16;
#else
constexpr int channels = 24;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16}
                          | residual{pointwise{channels}};  // here

static float weights[model<net>::parameter_count], image[8 * 8 * 3], result[8 * 8 * 16];
static_assert(model<net>::arena_bytes < 1 << 20);

void run() {
  static model<net> m{weights};
  m(image, result);
}
