// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in the arena each buffer is.
#pragma once

#include <ago/tracing/recorder.hpp>

#include <cstdint>

namespace ago::plan {

/// A range of the arena that is in use from group `first` of the steps to group `last`, inclusive.
struct buffer {
  int value{};  ///< node whose value it holds; for a concatenation also the values written into it
  int first{}, last{};
  long offset{}, floats{};
  bool scratch{};  ///< holds no value, but the scratch of the kernel of operator `value`
  int copies = 1;  ///< for work items of the step that run concurrently
  long apart{};    ///< floats from one copy to the next
  int over = -1;   ///< number of the first buffer in whose memory it is; one begins when the one before is read last
};

/// Places buffers one after another, the largest first.
template <int Capacity>
class buffer_placer {
 public:
  /// `phase` of each step: the number of barriers before it.
  constexpr buffer_placer(array_of<buffer, Capacity>& buffers, int count, int const* phase)
      : buffers_(buffers), count_(count), phase_(phase) {
    sort_by_size();
    for (int b = 0; b < count_; ++b)
      if (int const words = phase_[buffers_[b].last] / 64 + 1; words > words_) words_ = words;
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
        if (!meet(b, other)) continue;
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
    array_of<int, Capacity> merged{};
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
  /// Are both in use in one phase?
  constexpr bool meet(buffer const& a, buffer const& b) const {
    return phase_[a.first] <= phase_[b.last] && phase_[b.first] <= phase_[a.last];
  }
  /// Buffers that have been placed in the same range. Networks repeat shapes, so that there are far fewer ranges than
  /// buffers, and compilers limit the number of evaluation steps.
  struct range {
    long offset, end;
    int buffers;  ///< how many
    int first;    ///< of the words of used_, whose bits are the phases in which one of them is in use
  };
  /// The phases in which a buffer is in use, as bits of words.
  struct lifetime {
    int first, last;                    ///< words
    std::uint64_t in_first, in_last{};  ///< the latter only if it is another word
  };
  constexpr lifetime lifetime_of(buffer const& b) const {
    int const from = phase_[b.first], to = phase_[b.last];
    std::uint64_t const since = ~std::uint64_t(0) << from % 64, until = ~std::uint64_t(0) >> (63 - to % 64);
    if (from / 64 == to / 64) return {from / 64, to / 64, since & until};
    return {from / 64, to / 64, since, until};
  }
  constexpr bool is_used(range const& r, lifetime const& own) const {
    std::uint64_t const* const words = used_.data + r.first;
    if (words[own.first] & own.in_first) return true;
    for (int w = own.first + 1; w < own.last; ++w)
      if (words[w]) return true;
    return words[own.last] & own.in_last;
  }
  constexpr void use(range const& r, lifetime const& own) {
    std::uint64_t* const words = used_.data + r.first;
    words[own.first] |= own.in_first;
    for (int w = own.first + 1; w < own.last; ++w) words[w] = ~std::uint64_t(0);
    words[own.last] |= own.in_last;
  }
  /// Is something in the way of b at `at`?
  constexpr bool is_taken(buffer const& b, long at) const {
    lifetime const own = lifetime_of(b);
    long const end = at + b.floats;
    for (range const* p = placed_; p != placed_ + placed_count_ && p->offset < end; ++p)
      if (p->end > at && is_used(*p, own)) return true;
    return false;
  }
  /// The lowest place where nothing is in the way of b.
  constexpr long first_fit(buffer const& b) const {
    lifetime const own = lifetime_of(b);
    long at = 0, end = b.floats;
    for (range const* p = placed_; p != placed_ + placed_count_ && p->offset < end; ++p)
      if (p->end > at && is_used(*p, own)) {
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
      if (upper > lower) sum += p->buffers * (upper - lower);
    }
    return sum;
  }
  static constexpr long least(long a, long b) { return a < b ? a : b; }
  static constexpr long most(long a, long b) { return a > b ? a : b; }
  constexpr void put(int k, long at) {
    buffer& b = buffer_of(k);
    b.offset = at;
    range& r = range_at(at, at + b.floats);
    ++r.buffers;
    use(r, lifetime_of(b));
    if (r.end > arena_floats_) arena_floats_ = r.end;
  }
  /// That range, which is new if it is of no buffer yet.
  constexpr range& range_at(long offset, long end) {
    int low = 0, high = placed_count_;
    while (low < high) {
      int const middle = (low + high) / 2;
      if (placed_[middle].offset < offset) low = middle + 1;
      else high = middle;
    }
    range* p = placed_ + low;
    for (; p != placed_ + placed_count_ && p->offset == offset; ++p)
      if (p->end == end) return *p;
    for (range* q = placed_ + placed_count_++; q != p; --q) *q = q[-1];
    *p = {offset, end, 0, used_.size};
    for (int w = 0; w < words_; ++w) used_.push(0);
    return *p;
  }

  array_of<buffer, Capacity>& buffers_;
  int count_;
  int const* phase_;
  array_of<int, Capacity> by_size_{};
  int placed_count_ = 0;
  array_of<range, Capacity> placed_{};  // in the order of their offsets
  int words_ = 0;                       // of each range
  growing<std::uint64_t> used_;
  long arena_floats_ = 0;
};

}  // namespace ago::plan
