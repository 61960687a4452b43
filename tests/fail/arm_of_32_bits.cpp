// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A processor that is not supported.
// expect: ago: 32-bit Arm is not supported; compile for 64-bit Arm \(aarch64\)
// flags: -D__arm__
// clang: --target=armv7a-linux-gnueabihf
// clang: --target=armv7a-linux-androideabi21 -mfpu=neon
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.c = 3} | linear{3};
static_assert(model<net>::steps == 1);
