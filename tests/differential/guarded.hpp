// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guarded memory: inaccessible pages on one side, a known pattern on the other.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace differential {

/// The end of a guarded block that touches an inaccessible page.
enum class edge { begin, end };

/// `count` floats, all initially the same NaN, between two inaccessible pages. The alignment depends on the edge: at
/// the beginning, they start on a page; at the end, `count` * 4 bytes before a page.
class guarded_floats {
 public:
  static constexpr std::uint32_t pattern = 0x7fc5a5a5;  // a quiet NaN: reading it shows in the result

  guarded_floats(std::size_t count, edge where) {
    std::size_t const page = std::size_t(sysconf(_SC_PAGESIZE));
    std::size_t const inner = (count * sizeof(float) + page) / page * page;  // at least one float of margin
    bytes_ = inner + 2 * page;
    void* const all = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(all);
    if (mprotect(begin_ + page, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    region_ = {reinterpret_cast<float*>(begin_ + page), inner / sizeof(float)};
    for (float& x : region_) x = std::bit_cast<float>(pattern);
    data_ = where == edge::begin ? region_.first(count) : region_.last(count);
  }
  guarded_floats(guarded_floats&& from) noexcept
      : begin_(from.begin_), bytes_(from.bytes_), region_(from.region_), data_(from.data_) {
    from.begin_ = nullptr;
  }
  guarded_floats& operator=(guarded_floats&&) = delete;
  ~guarded_floats() {
    if (begin_) munmap(begin_, bytes_);
  }

  std::span<float> values() const { return data_; }
  float* data() const { return data_.data(); }

  /// Whether everything in the accessible pages except the floats is untouched.
  bool intact() const {
    for (float const& x : region_)
      if ((&x < data_.data() || &x >= data_.data() + data_.size()) && std::bit_cast<std::uint32_t>(x) != pattern)
        return false;
    return true;
  }

 private:
  std::byte* begin_;
  std::size_t bytes_;
  std::span<float> region_, data_;
};

}  // namespace differential
