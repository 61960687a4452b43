// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the tests of products of two values: operands that are slices of larger values, and guarded scratch.
#pragma once

#include <ago/kernel/attention/layout.hpp>

#include "kernel/support.hpp"

#include <limits>

namespace product_test {

using namespace ago;
using namespace ago::kernel;
using namespace ago::plan;

template <class... Kinds>
constexpr kernel_key key(structure what, isa target, Kinds... kinds) {
  kernel_key k{.what = what, .target = target};
  int i = 0;
  ((k.after.stages[i++].kind = kinds), ...);
  return k;
}

/// Random values of shape `s`: a slice of the channels of a larger value.
class slice {
 public:
  slice(test::numbers& r, shape const& s)
      : s_(s), offset_(r.integer(0, 1) * r.integer(0, 20)), stride_(offset_ + s.c + r.integer(0, 1) * r.integer(0, 20)),
        memory_(std::size_t(offset_) + test::extent(s, stride_)) {
    for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = std::numeric_limits<float>::quiet_NaN();
    for (long p = 0; p < s.pixels(); ++p) r.fill(at(p), std::size_t(s.c));
  }
  place input(int index) const { return {place::area::input, std::uint16_t(index), offset_, stride_}; }
  float const* base() const { return memory_.data(); }
  float* at(long pixel) { return memory_.data() + offset_ + pixel * stride_; }
  float const* at(long pixel) const { return memory_.data() + offset_ + pixel * stride_; }
  float* at(int n, int y, int x) { return at((long(n) * s_.h + y) * s_.w + x); }
  float const* at(int n, int y, int x) const { return at((long(n) * s_.h + y) * s_.w + x); }

 private:
  shape s_;
  int offset_, stride_;
  test::guarded memory_;
};

/// Runs a kernel whose scratch, initially all NaN, ends at unmapped memory and follows floats that must stay untouched.
template <class Kernel>
void run(structure what, isa target, planned_data s, float const* weights, std::vector<float const*> const& inputs,
         float* output) {
  constexpr int front = 32;
  std::size_t const floats = std::size_t(attention_scratch_floats(what, s, target));
  CHECK(floats % 16 == 0);
  test::guarded arena(front + floats);
  s.scratch = front;
  for (std::size_t i = front; i < arena.size(); ++i) arena[i] = std::numeric_limits<float>::quiet_NaN();
  float* outputs[] = {output};
  Kernel::run(s, kernel_memory{{weights, arena.data(), inputs.data(), outputs}, s.tables()});
  bool good = arena.intact();
  for (std::size_t i = 0; i < front; ++i) good = good && arena[i] == test::guarded::canary;
  CHECK(good);
}

}  // namespace product_test
