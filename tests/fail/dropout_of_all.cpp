// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dropout that keeps nothing.
// expect: fault::not_a_probability
// expect: source_line<12>
#include <ago/ago.hpp>

#ifdef AGO_POSITIVE
constexpr float probability = .5f;
#else
constexpr float probability = 1;
#endif
inline constexpr auto net = ago::input{.c = 4} | ago::linear{8} | ago::dropout{probability};
static_assert(ago::lowering::check<net>::ok);
