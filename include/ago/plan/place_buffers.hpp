// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in the arena each buffer is.
#pragma once

#include <ago/graph/requirements.hpp>

namespace ago {

/// A range of the arena that is in use from group `first` of the steps to group `last`, inclusive.
struct buffer {
  int value{};  ///< node whose value it holds; for a concatenation also the values written into it
  int first{}, last{};
  long offset{}, floats{};
  bool scratch{};  ///< holds no value, but the scratch of the kernel of operator `value`
  int copies = 1;  ///< for work items of the step that run concurrently
  long apart{};    ///< floats from one copy to the next
};

namespace detail {

/// Places buffers one after another, the largest first.
template <int Capacity>
class buffer_placer {
 public:
  /// `phase` of each step: the number of barriers before it.
  constexpr buffer_placer(buffer (&buffers)[Capacity], int count, int const* phase)
      : buffers_(buffers), count_(count), phase_(phase) {
    sort_by_size();
  }

  /// Places every buffer in the first gap that fits among those alive at the same time.
  constexpr void place_first_fit() {
    for (int k = 0; k < count_; ++k) put(k, first_fit(buffer_of(k)));
  }

  /// Places buffers so that, of two threads that divide the values in them, each finds its half where its half of the
  /// values before was: a line that another core used last costs much more than one in a core's own L2
  /// (device::line_from_core). Tried are places with the middle of a buffer before, and next to the largest ones. The
  /// arena may grow by as much as is saved.
  constexpr void place_halves_together() {
    constexpr int most_middles = 8, largest = 8;  // more gain little, and take compilers longer
    long middle[most_middles]{};
    int middles = 0;
    for (int k = 0; k < count_; ++k) {
      buffer const& b = buffer_of(k);
      long best = first_fit(b), least = exchanged(b, best);
      auto const consider = [&](long at) {
        if (at < 0 || is_taken(b, at)) return;
        long const here = exchanged(b, at);
        if (here >= least) return;
        least = here;
        best = at;
      };
      auto const around = [&](int i) { return (middle[i] - b.floats / 2) / 16 * 16; };
      for (int i = 0; i < middles; ++i) consider(around(i));
      for (int j = 0; j < k && j < largest; ++j) {
        consider(buffer_of(j).offset + buffer_of(j).floats);
        consider(buffer_of(j).offset - b.floats);
      }
      bool known = false;
      for (int i = 0; i < middles; ++i) known = known || around(i) == best;
      if (!known && middles < most_middles) middle[middles++] = best + b.floats / 2;
      put(k, best);
    }
  }

  /// Moves the copies of each buffer apart, into memory that nothing else uses meanwhile. Hardware prefetchers follow
  /// the stride of rows, or of the points of Winograd, beyond the end of a copy, and the core to which the next one
  /// belongs must fetch again what they take. `arena_floats`: the size of the arena, which stays.
  constexpr void spread_copies(long arena_floats) {
    constexpr long most_apart = 1 << 15;
    for (int i = 0; i < count_; ++i) {
      buffer& b = buffers_[i];
      if (b.copies == 1) continue;
      long const end = b.offset + b.floats;
      long low = 0, high = arena_floats;
      for (int j = 0; j < count_; ++j) {
        buffer const& other = buffers_[j];
        if (!range_of(b).meets(range_of(other))) continue;
        if (other.offset < b.offset) low = most(low, other.offset + other.floats);
        if (other.offset >= end) high = least(high, other.offset);
      }
      long const below = least(b.offset - low, most_apart), above = least(high - end, most_apart);
      long const further = (below + above) / (b.copies - 1) / 16 * 16;
      b.offset -= below;
      b.apart += further;
      b.floats += further * (b.copies - 1);
    }
  }

  /// The size of the arena that holds what has been placed.
  constexpr long arena_floats() const { return arena_floats_; }

 private:
  constexpr buffer& buffer_of(int k) const { return buffers_[by_size_[k]]; }

  /// The largest first, equal ones in their order: merges runs of 1, 2, 4 ... buffers.
  constexpr void sort_by_size() {
    for (int b = 0; b < count_; ++b) by_size_[b] = b;
    int merged[Capacity]{};
    for (int run = 1; run < count_; run *= 2) {
      for (int begin = 0; begin < count_; begin += 2 * run) {
        int const middle = begin + run < count_ ? begin + run : count_;
        int const end = middle + run < count_ ? middle + run : count_;
        int a = begin, b = middle;
        for (int k = begin; k < end; ++k) {
          bool const takes_b = a == middle || (b < end && buffer_of(b).floats > buffer_of(a).floats);
          merged[k] = by_size_[takes_b ? b++ : a++];
        }
      }
      for (int k = 0; k < count_; ++k) by_size_[k] = merged[k];
    }
  }
  /// What has been placed, without what constant evaluation would have to look up again and again.
  struct range {
    long offset, end;
    int from, to;  ///< phases

    /// Are both in use in one phase?
    constexpr bool meets(range const& other) const { return from <= other.to && other.from <= to; }
  };
  constexpr range range_of(buffer const& b) const {
    return {b.offset, b.offset + b.floats, phase_[b.first], phase_[b.last]};
  }
  /// Is something in the way of b at `at`?
  constexpr bool is_taken(buffer const& b, long at) const {
    range const own = range_of(b);
    long const end = at + b.floats;
    for (range const* p = placed_; p != placed_ + placed_count_ && p->offset < end; ++p)
      if (p->end > at && own.meets(*p)) return true;
    return false;
  }
  /// The lowest place where nothing is in the way of b.
  constexpr long first_fit(buffer const& b) const {
    range const own = range_of(b);
    long at = 0, end = b.floats;
    for (range const* p = placed_; p != placed_ + placed_count_ && p->offset < end; ++p)
      if (p->end > at && own.meets(*p)) {
        at = p->end;
        end = at + b.floats;
      }
    return at;
  }
  /// The floats that would be in the first half of b and in the second half of an earlier or later buffer, or the other
  /// way round, and those by which the arena would grow.
  constexpr long exchanged(buffer const& b, long at) const {
    long const middle = at + b.floats / 2, end = at + b.floats;
    long sum = end > arena_floats_ ? end - arena_floats_ : 0;
    for (range const* p = placed_; p != placed_ + placed_count_ && p->offset < end; ++p) {
      if (p->end <= at) continue;
      long const other_middle = p->offset + (p->end - p->offset) / 2;
      // What is between the two middles, and in both buffers.
      long const from = least(middle, other_middle), to = most(middle, other_middle);
      long const lower = most(from, most(at, p->offset)), upper = least(to, least(end, p->end));
      if (upper > lower) sum += upper - lower;
    }
    return sum;
  }
  static constexpr long least(long a, long b) { return a < b ? a : b; }
  static constexpr long most(long a, long b) { return a > b ? a : b; }
  constexpr void put(int k, long at) {
    buffer& b = buffer_of(k);
    b.offset = at;
    range* p = placed_ + placed_count_++;
    for (; p != placed_ && p[-1].offset > at; --p) *p = p[-1];
    *p = range_of(b);
    if (p->end > arena_floats_) arena_floats_ = p->end;
  }

  buffer (&buffers_)[Capacity];
  int count_;
  int const* phase_;
  int by_size_[Capacity]{}, placed_count_ = 0;
  range placed_[Capacity]{};  // in the order of their offsets
  long arena_floats_ = 0;
};

}  // namespace detail

}  // namespace ago
