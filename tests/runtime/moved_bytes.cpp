// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes that a plan moves by its model of caches, compared with a simulation: emulated registers report every
// address, and simulated caches count the misses.
#include <ago/simd/emulated.hpp>

#include "support/simulated_cache.hpp"

namespace {
test::simulated_caches caches(1 << 13, 1 << 15);
}

namespace ago::simd {
template <>
inline void watch_memory<isa::emulated128>(float const* p, int floats) {
  caches.use(p, std::size_t(floats) * sizeof(float));
}
}  // namespace ago::simd

#include <ago/ago.hpp>

#include <networks/mobilenet_v2.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <new>

namespace {

using namespace ago;
using namespace ago::plan;

/// Floats that begin on a page, so that a step's misses do not depend on the allocator.
class pages {
 public:
  explicit pages(std::size_t floats) : memory_(new(page) float[floats]{}), size_(floats) {}
  float* data() { return memory_.get(); }
  template <std::size_t N>
  std::span<float, N> span() {
    return std::span<float, N>(data(), size_);
  }

 private:
  static constexpr std::align_val_t page{4096};
  struct release {
    void operator()(float* p) const { ::operator delete[](p, page); }
  };
  std::unique_ptr<float, release> memory_;
  std::size_t size_;
};

/// What the steps of an inference after another miss, in bytes.
template <class Program>
moved_list<Program::steps> simulated(device const& on) {
  pages weights(Program::parameter_count), packed(Program::packed_floats), arena(Program::arena_floats),
      in(Program::input_size(0)), out(Program::output_size(0));
  Program::pack(weights.span<Program::parameter_count>(), packed.span<Program::packed_floats>());
  float const* const inputs[] = {in.data()};
  float* const outputs[] = {out.data()};
  run_memory const memory{packed.data(), arena.data(), inputs, outputs};
  caches = test::simulated_caches(on.l1_bytes, on.l2_bytes);
  Program::run(memory);
  moved_list<Program::steps> r;
  for (int i = 0; i < Program::steps; ++i) {
    caches.l1.misses = caches.l2.misses = 0;
    Program::run_step(i, memory);
    r.of[i] = {double(caches.l1.misses) * test::simulated_cache::line,
               double(caches.l2.misses) * test::simulated_cache::line};
  }
  return r;
}

template <auto const& Net>
void agree(char const* name) {
  static constexpr device small{8 << 10, 32 << 10};  // so that little networks exceed it
  using program = ago::program<Net, untuned, options{.target = isa::emulated128, .device = small}>;
  static constexpr auto expected = program::moved();
  auto const counted = simulated<program>(small);
  moved_bytes sum, sum_counted;
  int near = 0;
  for (int i = 0; i < program::steps; ++i) {
    sum += expected.of[i];
    sum_counted += counted.of[i];
    near += expected.of[i].beyond_l2 == doctest::Approx(counted.of[i].beyond_l2).epsilon(.25);
  }
  MESSAGE(std::string(name) << ": KiB moved beyond L1 " << sum.beyond_l1 / 1024 << ", counted "
                            << sum_counted.beyond_l1 / 1024 << "; beyond L2 " << sum.beyond_l2 / 1024 << ", counted "
                            << sum_counted.beyond_l2 / 1024 << "; " << near << " of " << program::steps
                            << " steps beyond L2 within a quarter");
  CHECK(sum.beyond_l1 == doctest::Approx(sum_counted.beyond_l1).epsilon(.15));
  CHECK(sum.beyond_l2 == doctest::Approx(sum_counted.beyond_l2).epsilon(.1));
  CHECK(near >= program::steps * 3 / 4);
}

TEST_CASE("a plan moves as many bytes as simulated caches count") {
  agree<networks::shufflenet_v2<56>>("ShuffleNet-V2");
#ifdef AGO_TEST_FULL
  // Not 56x56, whose last images have 3x3 pixels: one at a time, as a big Arm core computes them, they are said to read
  // three times as many bytes of weights as they do, because taps are counted that are outside of the image.
  agree<networks::squeezenet<112>>("SqueezeNet");
#endif
}

}  // namespace
