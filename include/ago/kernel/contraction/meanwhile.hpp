// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What else is done while a product is computed, because some of its result is in a cache then.
#pragma once

#include <ago/requirements.hpp>

#include <limits>

namespace ago::kernel {

/// written(rows that are there, result) is called after about `rows` rows more, and at the end, and returns where the
/// result is from then on: rows that have been used may be elsewhere. If it reads `other`, too, a
/// value with the places of the result, that is prefetched where these are computed (contraction_product's `Fetches`):
/// memory would be idle meanwhile, and a core waits for one value that it then reads alone nearly as long as for two.
template <class F>
struct meanwhile {
  int rows;
  float const* other;
  F const& written;
  float* operator()(int there, float* result) const { return written(there, result); }
};
struct nothing_meanwhile {
  static constexpr int rows = std::numeric_limits<int>::max();
  float* operator()(int, float* result) const { return result; }
};

}  // namespace ago::kernel
