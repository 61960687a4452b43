// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule table that is filled at run time.
#pragma once

#include <ago/plan/schedule.hpp>

#include <algorithm>
#include <vector>

namespace ago::tuner {

/// The run-time counterpart of schedule_table: the plan's functions accept either.
class schedule_list {
 public:
  schedule_list() = default;
  /// `entries` in any order, without duplicates.
  explicit schedule_list(std::vector<tuned_schedule> entries) : entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end(),
              [](tuned_schedule const& a, tuned_schedule const& b) { return a.signature < b.signature; });
  }

  bool sorted() const {
    return std::adjacent_find(entries_.begin(), entries_.end(), [](tuned_schedule const& a, tuned_schedule const& b) {
             return a.signature >= b.signature;
           }) == entries_.end();
  }
  /// The schedule for `signature`, or null.
  schedule const* find(std::uint64_t signature) const {
    auto const at = std::lower_bound(entries_.begin(), entries_.end(), signature,
                                     [](tuned_schedule const& e, std::uint64_t s) { return e.signature < s; });
    return at != entries_.end() && at->signature == signature ? &at->best : nullptr;
  }
  /// Sets the schedule for `signature`; the default schedule removes the entry.
  void set(std::uint64_t signature, schedule const& to) {
    auto const at = std::lower_bound(entries_.begin(), entries_.end(), signature,
                                     [](tuned_schedule const& e, std::uint64_t s) { return e.signature < s; });
    bool const found = at != entries_.end() && at->signature == signature;
    if (to == schedule{}) {
      if (found) entries_.erase(at);
    } else if (found) {
      at->best = to;
    } else {
      entries_.insert(at, {signature, to});
    }
  }
  std::vector<tuned_schedule> const& entries() const { return entries_; }

 private:
  std::vector<tuned_schedule> entries_;
};

}  // namespace ago::tuner
