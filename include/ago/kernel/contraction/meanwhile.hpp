// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What else is done while a product is computed, because some of its result is in a cache then.
#pragma once

#include <ago/requirements.hpp>

#include <type_traits>

namespace ago::kernel {

/// written(rows that are there) is called after about `rows` rows more, and at the end. `Fetches`: it reads `other`,
/// too, a value with the places of the result, which is prefetched where these are computed: memory would be idle
/// meanwhile, and a core waits for one value that it then reads alone nearly as long as for two.
template <class F, bool Fetches>
struct meanwhile {
  static constexpr bool fetches = Fetches;
  int rows;
  float const* other;
  F const& written;
  void operator()(int there) const { written(there); }
};
struct nothing_meanwhile {
  static constexpr bool fetches = false;
  void operator()(int) const {}
};
template <class Beside>
inline constexpr bool fetches_other = std::remove_cvref_t<Beside>::fetches;

}  // namespace ago::kernel
