// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/matrix/convolution.hpp>
#include <ago/kernel/matrix/im2col.hpp>

#include "kernel/matrix/support.hpp"

namespace {

using namespace matrix_test;

template <isa I, class... S>
constexpr kernel_key im2col_key(register_tile tile, bool partial, S... after) {
  return key_of<I>(structure::im2col, tile, partial, after...);
}

/// Runs the kernel with an arena that is only its scratch, initially all NaN; what `s` has in the arena is an input or
/// output instead.
template <kernel_key K>
void run_with_scratch(step_data const& s, kernel_memory const& m) {
  constexpr int before = 5;
  guarded scratch(before + s.out.pixels() * s.win.kernel_h * s.win.kernel_w * s.in.c);
  step_data moved = s;
  kernel_memory others = m;
  float const* const inputs[] = {m.inputs[0], m.inputs[1], m.arena};
  float* const outputs[] = {m.outputs[0], m.arena};
  if (s.source.in == place::area::arena) moved.source.in = place::area::input, moved.source.index = 2;
  if (s.destination.in == place::area::arena) moved.destination.in = place::area::output, moved.destination.index = 1;
  others.arena = scratch.data();
  others.inputs = inputs;
  others.outputs = outputs;
  moved.scratch = before;
  im2col_kernel<K>::run(moved, others);
  CHECK(scratch.guards_untouched());
}

int extent(random_numbers& random, int span, int pads) {
  int const least = span - pads < 1 ? 1 : span - pads;
  return least + random.below(7);
}

/// A random problem that a kernel of `key` supports.
problem random_problem(kernel_key const& key, int seed) {
  random_numbers random(seed * 7919 + key.tile.pixels * 31 + key.tile.vectors);
  problem p{.in = {}, .outputs = 0, .seed = seed};
  do {
    window& w = p.win = {};
    for (int* x : {&w.kernel_h, &w.kernel_w}) *x = random.between(1, 4);
    for (int* x : {&w.stride_h, &w.stride_w}) *x = random.between(1, 3);
    for (int* x : {&w.dilation_h, &w.dilation_w}) *x = random.below(3) == 0 ? random.between(1, 4) : 1;
    for (int* x : {&w.pad_top, &w.pad_bottom}) *x = random.below(w.span_h() + 2);
    for (int* x : {&w.pad_left, &w.pad_right}) *x = random.below(w.span_w() + 2);
    p.in = {random.between(1, 2), extent(random, w.span_h(), w.pad_top + w.pad_bottom),
            extent(random, w.span_w(), w.pad_left + w.pad_right), random.between(1, 9)};
  } while (p.out().pixels() % key.tile.pixels != key.tile.pixels_left);
  p.outputs = fitting_channels(key, key.tile.vectors_left > 0 ? random.below(2) : random.between(1, 2), random);
  p.bias = random.below(4) > 0;
  p.norm = random.below(2) > 0;
  p.arena = random.below(2) > 0;
  p.source_gap = random.below(2) * random.below(20);
  p.destination_gap = random.below(2) * random.below(20);
  return p;
}

template <kernel_key K>
void check_random(int problems) {
  for (int seed = 1; seed <= problems; ++seed)
    matrix_test::check(random_problem(K, seed), K, &run_with_scratch<K>, &pack_matrix<K.target>);
}

TEST_CASE("im2col computes any stride, dilation and padding") {
  on_every_isa([]<isa I>() { check_random<im2col_key<I>({4, 3, 3, 2}, true, op::relu6)>(30); });
  on_every_machine([]<isa I>() {
    check_random<im2col_key<I>({3, 2, 0, 0}, false, op::add)>(30);
    check_random<im2col_key<I>({1, 1, 0, 0}, true)>(30);
  });
}

TEST_CASE("im2col gives the direct convolution's results") {
  constexpr kernel_key copied = im2col_key<native_isa>({1, 1, 0, 0}, true),
                       direct = key_of<native_isa>(structure::convolution, {1, 1, 0, 0}, true);
  for (int seed = 1; seed <= 40; ++seed) {
    problem const p = random_problem(copied, seed);
    planned_data s;
    s.in = p.in;
    s.out = p.out();
    s.win = p.win;
    s.source = {place::area::input, 0, 0, p.in.c};
    s.destination = {place::area::output, 0, 0, p.outputs};
    REQUIRE(packed_floats(copied, s) == packed_floats(direct, s));
    random_numbers random(seed);
    std::vector<float> weights(packed_floats(direct, s)), source(p.in.count());
    for (float& x : weights) x = random.real();
    for (float& x : source) x = random.real();
    std::vector<float> a(s.out.count()), b(s.out.count());
    float const* const inputs[] = {source.data(), nullptr};
    float *const to_a[] = {a.data()}, *const to_b[] = {b.data()};
    run_with_scratch<copied>(s, {{weights.data(), nullptr, inputs, to_a}, s.tables()});
    convolution_kernel<direct>::run(s, {{weights.data(), nullptr, inputs, to_b}, s.tables()});
    CHECK(a == b);
  }
}

}  // namespace
