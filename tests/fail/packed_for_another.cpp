// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights packed for another model.
// expect: ago: these packed weights belong to another network, instruction set, schedule table or version of ago
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16};
#ifdef AGO_POSITIVE
#define given net
#else
inline constexpr auto given = input{.h = 8, .w = 8, .c = 3} | pointwise{24};
#endif

extern unsigned char const file[];
constexpr packed_weights<program<given>::signature()> weights{file};
static model<net, untuned, packed> m{weights};
