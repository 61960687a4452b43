// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A type without a partitioner as a policy.
// expect: ago: this is neither an option nor a policy
#include <ago/runtime/program.hpp>

using namespace ago;

struct alone {
#ifdef AGO_POSITIVE
  static constexpr auto partition(auto const& g, device const& on) {
    return partition_into(g, ago::partition::atoms_of(g), on);
  }
#endif
};

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16} | relu{};
static_assert(program<net, untuned, alone{}>::steps == 1);
