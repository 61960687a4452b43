// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores that pass by the caches.
#pragma once

#include <ago/simd/fetch.hpp>
#include <ago/simd/register_run.hpp>

namespace ago::simd {

/// Copies `count` floats, whole lines of cache past the caches, so that these lines are not read from memory before
/// they are written, and replace nothing in a cache. After all of them: finish_streams().
template <isa I>
[[gnu::noinline]] void stream_run(float const* from, float* to, long count) {
  auto const store = [&](long some) {
    register_run<I>(int(some)).each(
        [&](int i, int valid) AGO_INLINE_LAMBDA { store_lanes(load_lanes<I>(from + i, valid), to + i, valid); });
    from += some;
    to += some;
    count -= some;
  };
  long const to_line = long(-(reinterpret_cast<std::uintptr_t>(to) / sizeof(float)) % line_floats);
  store(to_line < count ? to_line : count);
  if constexpr (has_streaming_stores(I)) {
    AGO_UNROLL(1)
    for (long end = count % line_floats; count > end; count -= lanes(I), from += lanes(I), to += lanes(I))
      vec<I>::load(from).stream(to);
  }
  store(count);
}

/// What has been streamed is visible to other threads before anything that is stored afterwards.
AGO_INLINE void finish_streams() {
#if defined(__SSE__)
  _mm_sfence();
#endif
}

}  // namespace ago::simd
