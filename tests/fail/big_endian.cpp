// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A big-endian processor.
// expect: ago: big-endian processors are not supported
// flags: -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__
// clang: --target=aarch64_be-linux-gnu
// clang: --target=powerpc64-linux-gnu
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.c = 3} | linear{3};
static_assert(model<net>::steps == 1);
