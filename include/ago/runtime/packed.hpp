// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights packed at build time by ago_pack, in a file or in the program's read-only memory.
#pragma once

#include <ago/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ago::runtime {

/// The header of a file of packed weights; the floats follow, little-endian. Its size is their preferred alignment.
struct packed_header {
  char magic[8] = {'a', 'g', 'o', 'p', 'a', 'c', 'k', '1'};
  std::uint64_t signature = 0;  ///< program::signature()
  std::uint64_t floats = 0;
  char reserved[40] = {};
};
static_assert(sizeof(packed_header) == 64);

/// Packed weights in the program itself, defined by ago_pack. The compiler knows their signature, so weights of another
/// network do not compile.
template <std::uint64_t Signature>
struct packed_weights {
  unsigned char const* file;  ///< begins with a packed_header
};

/// The floats of packed weights; null if they have another signature or size, or are not aligned for floats.
inline float const* floats_of(std::span<std::byte const> file, std::uint64_t signature, std::size_t floats) {
  packed_header found, wanted;
  if (file.size() != sizeof found + floats * sizeof(float)) return nullptr;
  std::memcpy(&found, file.data(), sizeof found);
  wanted.signature = signature;
  wanted.floats = floats;
  if (std::memcmp(&found, &wanted, sizeof found) != 0) return nullptr;
  std::byte const* const first = file.data() + sizeof found;
  bool const aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(float) == 0;
  return aligned ? reinterpret_cast<float const*>(first) : nullptr;
}

}  // namespace ago::runtime

namespace ago {
using runtime::packed_weights;
}  // namespace ago
