// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements of a value that is moved lie before and after: loops with strides in both.
#pragma once

#include <ago/requirements.hpp>

namespace ago::plan {

/// The extent of a loop, and the floats by which source and destination advance in each iteration.
struct strided_loop {
  int extent = 0, source = 0, destination = 0;
  bool operator==(strided_loop const&) const = default;
};

/// destination[to + sum of i_k * destination_k] = source[from + sum of i_k * source_k] for all 0 <= i_k < extent_k,
/// over at most six loops, of which there are two at least once they are arranged. All in floats; strides may be
/// negative. Source and destination share no float.
struct strided_loops {
  static constexpr int most = 6;

  strided_loop loop[most]{};  ///< from large to small strides of the destination, unless arrange() says otherwise
  int count = 0;
  int from = 0, to = 0;  ///< the first element

  constexpr void add(int extent, int source, int destination) {
    if (extent == 1) return;
    int k = count;
    while (k > 0 && size(loop[k - 1].destination) < size(destination)) --k;
    insert(k, {extent, source, destination});
  }

  /// Merges loops over contiguous memory. If the destination of the inner loop is contiguous and its source is not, the
  /// loop whose source is contiguous, if there is one, becomes the last but one: both are a transposition.
  constexpr void arrange() {
    for (int k = count - 1; k > 0; --k) {
      strided_loop const inner = loop[k];
      strided_loop& outer = loop[k - 1];
      if (outer.source != inner.extent * inner.source || outer.destination != inner.extent * inner.destination)
        continue;
      outer = {outer.extent * inner.extent, inner.source, inner.destination};
      remove(k);
    }
    while (count < 2) insert(0, {1, 0, 0});
    if (loop[count - 1].destination != 1 || loop[count - 1].source == 1) return;
    for (int k = 0; k < count; ++k)
      if (loop[k].source == 1) {
        strided_loop const contiguous = loop[k];
        remove(k);
        return insert(count - 1, contiguous);
      }
  }
  bool operator==(strided_loops const&) const = default;

 private:
  static constexpr int size(int stride) { return stride < 0 ? -stride : stride; }
  constexpr void insert(int k, strided_loop const& l) {
    for (int j = count++; j > k; --j) loop[j] = loop[j - 1];
    loop[k] = l;
  }
  constexpr void remove(int k) {
    --count;
    for (int j = k; j < count; ++j) loop[j] = loop[j + 1];
  }
};

}  // namespace ago::plan
