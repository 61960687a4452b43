// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A language standard before C++20.
// expect: ago: C\+\+20 is needed; compile with -std=c\+\+20
// flags: -std=c++17
// flags: -std=c++14
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.c = 3} | linear{3};
static_assert(model<net>::steps == 1);
