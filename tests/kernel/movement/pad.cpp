// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/movement/pad.hpp>
#include <ago/plan/movement_loops.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

constexpr kernel_key key(isa target) { return {.what = structure::pad, .target = target}; }

}  // namespace

TEST_CASE("an image is padded with rows, columns and channels of a constant on each side") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    int const l = lanes(I);
    for (int seed = 0; seed < 150; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      planned_data s;
      s.in = s.out = {r.integer(1, 3), r.integer(1, 6), r.integer(1, 6),
                      r.one_of({1, 2, 3, 4, 7, 17, l, l + 1, 2 * l - 1, 2 * l, 3 * l + 1})};
      window& w = s.win;
      w.pad_top = r.integer(0, 3), w.pad_bottom = r.integer(0, 3);
      w.pad_left = r.integer(0, 3), w.pad_right = r.integer(0, 3);
      s.out.h += w.pad_top + w.pad_bottom;
      s.out.w += w.pad_left + w.pad_right;
      int const front = seed % 3 == 0 ? r.integer(0, 5) : 0;
      s.out.c += front + (seed % 3 == 0 ? r.integer(0, 20) : 0);
      s.alpha = r.real();
      s.source = {place::area::input, 0, 0, s.in.c + r.one_of({0, 0, 1, 5})};
      s.destination = {place::area::output, 0, 0, s.out.c + r.one_of({0, 0, 1, 5})};
      if (s.in.c != s.out.c) s.loops = loops_of_pad(s, front);
      test::guarded in(test::extent(s.in, s.source.pixel_stride)), out(test::extent(s.out, s.destination.pixel_stride));
      r.fill(in.data(), in.size());
      test::call<pad_kernel<key(I)>>(s, nullptr, {in.data()}, out.data());
      CAPTURE(seed);
      test::check_output(
          s.out, s.destination.pixel_stride, out,
          [&](int n, int y, int x, int c) {
            int const iy = y - w.pad_top, ix = x - w.pad_left;
            if (iy < 0 || ix < 0 || iy >= s.in.h || ix >= s.in.w) return double(s.alpha);
            if (c < front || c >= front + s.in.c) return double(s.alpha);
            return double(in[std::size_t(test::index_of(s.in, s.source.pixel_stride, n, iy, ix, c - front))]);
          },
          0);
    }
  });
}
