// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large memory pages: without them, weights that are read once per run cost a page table walk for every 4 KB.
#pragma once

#include <ago/requirements.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ago::runtime {

/// Asks the system to back `bytes` bytes at `memory` by large pages, preferably before they are first written. This is
/// only a hint: it allocates nothing, cannot fail, and does nothing on systems without large pages. It is for users of
/// program, who own the memory; model calls it itself. (MobileNet-V2 on a server: 2 to 8 % faster.)
inline void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = 1 << 16;  // a multiple of all possible sizes of ordinary pages
  constexpr std::size_t large = 1 << 21;
  std::uintptr_t const begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  std::uintptr_t const end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  if (end < begin + large) return;
  int const error = errno;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  errno = error;
#endif
}

}  // namespace ago::runtime
