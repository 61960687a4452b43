// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects at any offset in a large page: the place of a model determines which of its values conflict in the caches.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace bench {

/// A T placed `displacement` bytes, a multiple of 64, after a 2 MB boundary.
template <class T, class... Arguments>
std::shared_ptr<T> make_displaced(std::size_t displacement, Arguments&&... arguments) {
  constexpr std::align_val_t page{1 << 21};
  static_assert(alignof(T) <= 64);
  std::unique_ptr<std::byte, void (*)(std::byte*)> memory(
      static_cast<std::byte*>(::operator new(displacement + sizeof(T), page)),
      [](std::byte* p) { ::operator delete(p, page); });
  T* const made = ::new (memory.get() + displacement) T(std::forward<Arguments>(arguments)...);
  return {made, [owned = std::shared_ptr<std::byte>(std::move(memory))](T* p) { p->~T(); }};
}

}  // namespace bench
