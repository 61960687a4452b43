// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define AGO_TEST_ALL 1
#include <ago/simd/stream.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::simd;

TEST_CASE("runs that pass by the caches are copied whole, from any place to any place, and nothing beside them") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    test::numbers r(1);
    for (int count : {0, 1, 3, 15, 16, 17, 31, 32, 47, 64, 100})
      for (int shift = 0; shift < 16; ++shift) {
        test::guarded in(std::size_t(count + 1));
        std::vector<float> room(std::size_t(count + 48), -1.f);
        r.fill(in.data(), in.size());
        float* const to = room.data() + 16 + shift;
        stream_run<I>(in.data() + 1, to, count);
        finish_streams();
        int wrong = 0;
        for (float const& x : room) {
          long const i = &x - to;
          wrong += x != (i >= 0 && i < count ? in.data()[1 + i] : -1.f);
        }
        CAPTURE(count);
        CAPTURE(shift);
        CHECK(wrong == 0);
      }
  });
}
