// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The savings of horizontal fusion.
#pragma once

#include <ago/ir/graph.hpp>
#include <ago/passes/preprocessing.hpp>

namespace ago::passes {

/// The savings if operators that read the same value through equal windows are merged. Results that are outputs are
/// then copied there, and what this costs is taken off.
struct sibling_savings {
  long bytes_read = 0;   ///< of the value, if L2 does not keep it from one operator to the next
  int vectors = 0;       ///< registers of channels for each pixel; the last one of each operator may be partly empty
  int narrow = 0;        ///< operators with a single register of channels: their tiles load more than they multiply;
                         ///< 0 if results are copied, which measured as slow
  long transformed = 0;  ///< floats of the value that are not transformed again, if all operators use Winograd
  constexpr bool any() const { return bytes_read > 0 || vectors > 0 || narrow > 0 || transformed > 0; }
};

/// Accumulates the savings of merging operators with the given channels and a common window. It assumes that nothing
/// else about them differs.
class sibling_account {
 public:
  constexpr sibling_account(shape const& value, window const& win, merging const& m)
      : value_(value), win_(win), merging_(m) {}
  /// An operator with this result, after its epilogue.
  constexpr void add(shape const& result, bool is_output) {
    int const channels = result.c;
    ++members_;
    channels_ += channels;
    vectors_ += vectors_of(channels);
    if (is_output) {
      copied_ += result.count();
      copied_vectors_ += vectors_of(channels);
    }
    narrow_ += vectors_of(channels) == 1;
  }
  constexpr sibling_savings savings() const {
    long const again = members_ > 1 ? (members_ - 1) * value_.count() : 0;
    bool const kept = 4 * value_.count() <= merging_.l2_bytes * 2 / 5;  // as in partition/traffic.hpp
    sibling_savings const r{kept ? 0 : 4 * again, vectors_ - vectors_of(channels_),
                            members_ > 1 && merging_.lanes > 1 ? narrow_ : 0, win_.is_dense_square(3) ? again : 0};
    if (copied_ == 0) return r;
    // A copy writes and reads what an operator of its own would write once. Per pixel and register, it takes as long
    // as about eight multiply-adds.
    long const depth = long(win_.kernel_h) * win_.kernel_w * value_.c;
    auto const left = [](long saved, long cost) { return saved > cost ? saved - cost : 0; };
    return {left(r.bytes_read, 2 * 4 * copied_), r.vectors * depth > 8 * copied_vectors_ ? r.vectors : 0, 0,
            left(r.transformed, 2 * copied_)};
  }

 private:
  constexpr int vectors_of(int channels) const { return (channels + merging_.lanes - 1) / merging_.lanes; }

  shape value_;
  window win_;
  merging merging_;
  int members_ = 0, channels_ = 0, vectors_ = 0, narrow_ = 0;
  int copied_vectors_ = 0;
  long copied_ = 0;
};

}  // namespace ago::passes
