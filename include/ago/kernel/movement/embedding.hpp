// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Embedding: rows of a table, selected by index.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/movement/pack.hpp>

namespace ago::kernel {

/// Each pixel becomes a row of the table [groups][channels] at step_data::weights. The source's one channel is the
/// index, rounded toward zero; an index beyond the table selects its first or last row, NaN the first.
template <kernel_key K>
struct embedding_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    finisher<K.after, K.target> finish(s, m);
    float const* id = address(s.source, m);
    float const* const table = m.weights + s.weights;
    float* out = mutable_address(s.destination, m);
    long const image = long(s.out.h) * s.out.w;
    for (int n = 0; n < s.out.n; ++n) {
      finish.image(s, m, n);
      for (long p = n * image; p < (n + 1) * image;
           ++p, id += s.source.pixel_stride, out += s.destination.pixel_stride) {
        float const* const row = table + long(row_of(*id, s.groups)) * s.out.c;
        write_pixel<K>(finish, out, p, s.out.c,
                       [&](int c, auto... count) { return vec<K.target>::load(row + c, count...); });
      }
    }
  }

 private:
  static int row_of(float id, int entries) {
    if (!(id > 0)) return 0;
    int const row = id < float(entries) ? int(id) : entries - 1;
    return row < entries ? row : entries - 1;  // float(entries) may have been rounded up
  }
};

}  // namespace ago::kernel
