// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that fit an int one by one, but not together.
// expect: ago: packed weights and arena must have fewer than 2\^31 floats each
#include <ago/ago.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int rows = 1'000;
#else
constexpr int rows = 40'000;
#endif
inline constexpr auto net = input{.h = rows, .w = 2'000, .c = 8} | depthwise{.kernel = 3, .pad = 1} |
                            pointwise{24} | depthwise{.kernel = 3, .pad = 1} | pointwise{8} | global_avg_pool{};
static_assert(program<net, untuned, policy::fuse_ops>::steps > 1);
