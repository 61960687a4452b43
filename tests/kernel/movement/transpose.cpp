// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/movement/transpose.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

constexpr kernel_key key(structure what, isa target) { return {.what = what, .target = target, .partial = true}; }

shape random_shape(test::numbers& r) {
  int const channels[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 58};
  return {r.integer(1, 3), r.integer(1, 19), r.integer(1, 19), r.one_of(channels)};
}

double channel_first(test::guarded const& p, shape const& s, int n, int y, int x, int c) {
  return double(p[std::size_t(((long(n) * s.c + c) * s.h + y) * s.w + x)]);
}

}  // namespace

TEST_CASE("channel-first images become channel-last ones, also as slices of wider ones") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 80; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      planned_data s;
      s.in = s.out = random_shape(r);
      s.source = {place::area::input, 0, 0, s.in.c};
      s.destination = {place::area::output, 0, 0, s.out.c + r.one_of({0, 0, 1, 5})};
      test::guarded in(std::size_t(s.in.count())), out(test::extent(s.out, s.destination.pixel_stride));
      r.fill(in.data(), in.size());
      test::call<from_nchw_kernel<key(structure::from_nchw, I)>>(s, nullptr, {in.data()}, out.data());
      CAPTURE(seed);
      test::check_output(
          s.out, s.destination.pixel_stride, out,
          [&](int n, int y, int x, int c) { return channel_first(in, s.in, n, y, x, c); }, 0);
    }
  });
}

TEST_CASE("channel-last images become channel-first ones") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 80; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      planned_data s;
      s.in = s.out = random_shape(r);
      s.source = {place::area::input, 0, 0, s.in.c + r.one_of({0, 0, 1, 5})};
      s.destination = {place::area::output, 0, 0, s.out.c};
      test::guarded in(test::extent(s.in, s.source.pixel_stride)), out(std::size_t(s.out.count()));
      r.fill(in.data(), in.size());
      test::call<to_nchw_kernel<key(structure::to_nchw, I)>>(s, nullptr, {in.data()}, out.data());
      bool same = out.intact();
      for (int n = 0; n < s.in.n; ++n)
        for (int y = 0; y < s.in.h; ++y)
          for (int x = 0; x < s.in.w; ++x)
            for (int c = 0; c < s.in.c; ++c)
              same = same && channel_first(out, s.out, n, y, x, c) ==
                                 double(in[std::size_t(test::index_of(s.in, s.source.pixel_stride, n, y, x, c))]);
      CAPTURE(seed);
      CHECK(same);
    }
  });
}
