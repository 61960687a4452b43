// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model for an instruction set that this translation unit is not compiled for.
// expect: ago: this translation unit is not compiled for the model's instruction set
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16};
#if defined(AGO_POSITIVE)
constexpr isa target = isa::scalar;
#elif defined(__aarch64__)
constexpr isa target = isa::avx512;
#else
constexpr isa target = isa::neon;
#endif
static_assert(model<net, untuned, target>::steps <= 1);
