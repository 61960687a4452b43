// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flags that let compilers reorder sums and ignore NaN.
// expect: ago: results are wrong under -ffast-math, -Ofast and similar flags; add -fno-fast-math where ago is included
// flags: -ffast-math
// flags: -Ofast
// flags: -O2 -ffinite-math-only
// cure: -fno-fast-math
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.c = 3} | linear{3};
static_assert(model<net>::steps == 1);
