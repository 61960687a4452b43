// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data movement: slice, concat, channel_shuffle, permute, unfold, fold, expand, reshape.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/movement/strided_copy.hpp>

namespace ago::kernel {

/// Copies elements in memory order between values that both have gaps between their pixels, of unlike sizes.
template <isa I>
[[gnu::noinline]] void copy_in_order(step_data const& s, float const* from, float* to) {
  long source_left = s.in.c, destination_left = s.out.c;  // of a pixel
  for (long left = s.out.count(); left > 0;) {
    long const run = source_left < destination_left ? source_left : destination_left;
    copy_run<I>(from, to, run);
    left -= run;
    source_left -= run;
    destination_left -= run;
    from += source_left == 0 ? run + s.source.pixel_stride - s.in.c : run;
    to += destination_left == 0 ? run + s.destination.pixel_stride - s.out.c : run;
    if (source_left == 0) source_left = s.in.c;
    if (destination_left == 0) destination_left = s.out.c;
  }
}

/// Moves the elements of a value as step_details::loops says, or in the order of memory if it has none.
template <kernel_key K>
struct copy_kernel {
  static_assert(K.after.count() == 0, "a copy takes no epilogue");
  static void run(step_data const& s, kernel_memory const& m) {
    float const* const from = address(s.source, m);
    float* const to = mutable_address(s.destination, m);
    strided_loops const& loops = m.details(s).loops;
    if (loops.count == 0) copy_in_order<K.target>(s, from, to);
    else copy_strided<K.target>(loops, from, to);
  }
};

}  // namespace ago::kernel
