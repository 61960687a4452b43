// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule table that is not sorted by signature.
// expect: ago: a schedule table must be sorted by signature, without duplicates
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16};
#ifdef AGO_POSITIVE
inline constexpr schedule_table mine{{{1, {}}, {2, {}}}};
#else
inline constexpr schedule_table mine{{{2, {}}, {1, {}}}};
#endif
static_assert(model<net, mine>::steps <= 1);
