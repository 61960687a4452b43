// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/matrix/pointwise.hpp>
#include <ago/kernel/matrix/schedule.hpp>

#include "kernel/matrix/support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace {

using namespace matrix_test;

/// Calls f.operator()<I>() for every instruction set that computes in pairs.
template <class F>
void on_every_paired_isa(F f) {
  on_every_isa([&]<isa I>() {
    if constexpr (has_pairs(I)) f.template operator()<I>();
  });
}

template <isa I, class... S>
constexpr kernel_key paired_key(register_tile tile, bool partial, S... after) {
  kernel_key key = key_of<I>(structure::pointwise, tile, partial, after...);
  key.paired = true;
  return key;
}

template <kernel_key K>
void check(problem const& p) {
  matrix_test::check(p, K, &pointwise_kernel<K>::run, &pack_matrix<K.target>);
}

/// Channels of `panels` whole panels and a last one as kernel K has it; with a partial last vector if its key says so.
template <kernel_key K>
int channels_for(int panels, random_numbers& random) {
  constexpr int half = lanes(K.target) / 2;
  int const vectors = panels * K.tile.vectors + K.tile.vectors_left;
  return vectors * half - (K.partial ? 1 + random.below(half - 1) : 0);
}

template <kernel_key K>
void check_extents() {
  random_numbers random(K.tile.pixels * 100 + K.tile.vectors);
  int seed = 0;
  for (int depth : {1, 2, 3, 8, 17, 32})
    for (int tiles : {0, 1, 3})
      for (int panels : {0, 1, 2}) {
        int const pixels = tiles * K.tile.pixels + K.tile.pixels_left;
        if (pixels == 0 || panels + K.tile.vectors_left == 0) continue;
        problem p{.in = {1, 1, pixels, depth}, .outputs = channels_for<K>(panels, random), .seed = ++seed};
        p.bias = random.below(4) > 0;
        p.norm = random.below(2) > 0;
        p.arena = random.below(2) > 0;
        p.block = random.below(2) * random.below(2 * K.tile.pixels);
        p.source_gap = random.below(2) * random.below(20);
        p.destination_gap = random.below(2) * random.below(20);
        check<K>(p);
      }
}

TEST_CASE("a pair of floats is broadcast over a register, and the pairs of two registers are added in order") {
  on_every_paired_isa([]<isa I>() {
    constexpr int n = lanes(I);
    float in[2 * n], out[n];
    for (int i = 0; i < 2 * n; ++i) in[i] = float(1 << i % 16) + float(i);
    load_pair<I>(in + 1).store(out);
    for (int i = 0; i < n; ++i) CHECK(out[i] == in[1 + i % 2]);
    load_half_pair<I>(in + 1).store(out);
    for (int i = 0; i < n; ++i) CHECK(out[i] == (i % 2 ? 0.f : in[1]));
    add_pairs(vec<I>::load(in), vec<I>::load(in + n)).store(out);
    for (int i = 0; i < n; ++i) CHECK(out[i] == in[2 * i] + in[2 * i + 1]);
  });
}

TEST_CASE("a pointwise convolution in pairs computes every extent around its tiles") {
  on_every_paired_isa([]<isa I>() {
    check_extents<paired_key<I>({4, 3, 0, 0}, false, op::relu6)>();
    check_extents<paired_key<I>({3, 3, 2, 2}, true, op::add)>();
    check_extents<paired_key<I>({5, 2, 1, 1}, true, op::bias, op::add, op::batch_norm)>();
    check_extents<paired_key<I>({7, 1, 3, 0}, false)>();
    check_extents<paired_key<I>({2, 4, 1, 3}, true, op::silu)>();
  });
}

TEST_CASE("the unpaired last element of an odd K reads nothing beyond and adds no NaN") {
  // The weights of the missing partner are zero; infinity times zero would be NaN.
  on_every_paired_isa([]<isa I>() {
    constexpr kernel_key key = paired_key<I>({1, 1, 0, 0}, false);
    planned_data s;
    s.in = {1, 1, 1, 3};
    s.out = {1, 1, 1, lanes(I) / 2};
    s.source = {place::area::input, 0, 0, 3};
    s.destination = {place::area::output, 0, 0, s.out.c};
    std::vector<float> blob(3 * std::size_t(s.out.c), 1.f), out(std::size_t(s.out.c));
    guarded packed(packed_floats(key, s)), in(3);
    pack_matrix<I>(key, s, {.weight = 0}, blob.data(), packed.data());
    in[0] = in[1] = 1;
    in[2] = std::numeric_limits<float>::infinity();
    float const* const inputs[] = {in.data()};
    float* const outputs[] = {out.data()};
    pointwise_kernel<key>::run(s, {{packed.data(), nullptr, inputs, outputs}, s.tables()});
    for (float const x : out) CHECK(x == std::numeric_limits<float>::infinity());
  });
}

TEST_CASE("paired weights are in panels by channel and step, with zeros after an odd K and between the shifts") {
  on_every_paired_isa([]<isa I>() {
    constexpr int half = lanes(I) / 2, depth = 5, rows = 3;
    for (int const outputs : {1, half, half + 1, 3 * half - 1, 5 * half}) {
      int const vectors = (outputs + half - 1) / half;
      kernel_key const key = paired_key<I>({2, 2, 0, vectors % 2}, outputs % half != 0);
      planned_data s;
      s.in = {1, 1, 2, depth};
      s.out = {1, 1, 2, outputs};
      REQUIRE(packed_floats(key, s) == vectors * lanes(I) * (rows + 1));
      std::vector<float> blob(std::size_t(outputs) * (depth + 1));
      for (std::size_t i = 0; i < blob.size(); ++i) blob[i] = float(i + 1);
      guarded packed(packed_floats(key, s));
      pack_matrix<I>(key, s, {.weight = 0, .shift = outputs * depth}, blob.data(), packed.data());
      CHECK(packed.guards_untouched());
      float const* at = packed.data();
      long wrong = 0;
      for (int o = 0; o < vectors * half; ++o)
        for (int step = 0; step < 2; ++step, ++at)
          wrong += *at != (step == 0 && o < outputs ? blob[std::size_t(outputs) * depth + std::size_t(o)] : 0.f);
      for (int first = 0; first < vectors; first += 2)
        for (int k = 0; k < 2 * rows; k += 2)
          for (int o = first * half; o < (first + 2) * half && o < vectors * half; ++o)
            for (int step = 0; step < 2; ++step, ++at) {
              bool const exists = o < outputs && k + step < depth;
              wrong += *at != (exists ? blob[std::size_t(o) * depth + std::size_t(k + step)] : 0.f);
            }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("a product in pairs reads an input in segments, also of odd length") {
  constexpr int pixels = 9;
  on_every_paired_isa([]<isa I>() {
    constexpr kernel_key key = [] {
      kernel_key k = paired_key<I>({4, 2, 1, 1}, true, op::relu6);
      k.in_runs = true;
      return k;
    }();
    int const outputs = 3 * lanes(I) / 2 - 1;
    random_numbers random(17);
    for (std::vector<int> const& depths : {std::vector{5, 4, 1, 7}, {6, 2}, {1, 1, 1}, {3, 8}}) {
      input_run runs[4];
      planned_data s;
      int depth = 0, memory = 0;
      for (int const d : depths) {
        runs[s.run_count++] = {{d, depth, 1}, {place::area::arena, 0, memory, d + 1}};  // one float between pixels
        s.odd_runs += d % 2;
        depth += d;
        memory += pixels * (d + 1);
      }
      s.runs = runs;
      s.in = {1, 1, pixels, depth};
      s.out = {1, 1, pixels, outputs};
      s.source = runs[0].at;
      s.destination = {place::area::output, 0, 0, outputs};
      std::vector<float> blob(std::size_t(outputs) * std::size_t(depth + 1));
      for (float& x : blob) x = random.real();
      guarded packed(packed_floats(key, s)), arena(memory), out(pixels * outputs);
      for (int i = 0; i < memory; ++i) arena[i] = std::numeric_limits<float>::quiet_NaN();
      for (input_run const& r : std::span(runs, std::size_t(s.run_count)))
        for (int p = 0; p < pixels; ++p)
          for (int c = 0; c < r.count; ++c) arena[r.at.offset + p * r.at.pixel_stride + c] = random.real();
      pack_matrix<I>(key, s, {.weight = 0, .shift = outputs * depth}, blob.data(), packed.data());
      float* const to[] = {out.data()};
      pointwise_kernel<key>::run(s, {{packed.data(), arena.data(), nullptr, to}, s.tables()});
      CHECK((packed.guards_untouched() && arena.guards_untouched() && out.guards_untouched()));
      double worst = 0;
      for (int p = 0; p < pixels; ++p)
        for (int o = 0; o < outputs; ++o) {
          double sum = double(blob[std::size_t(outputs * depth + o)]);
          for (input_run const& r : std::span(runs, std::size_t(s.run_count)))
            for (int c = 0; c < r.count; ++c)
              sum += double(arena[r.at.offset + p * r.at.pixel_stride + c]) *
                     double(blob[std::size_t(o * depth + r.start + c)]);
          double const wrong = std::abs(double(out[p * outputs + o]) - std::clamp(sum, 0., 6.));
          worst = wrong >= worst ? wrong : worst;
        }
      CHECK(worst < 1e-5);
    }
  });
}

TEST_CASE("segments with odd numbers of channels make pairs cost more") {
  CHECK(pays_in_pairs(isa::avx512, 116, 116, 2));
  CHECK_FALSE(pays_in_pairs(isa::avx512, 116, 116, 16));
}

TEST_CASE("pairs are used where they save registers, whatever the number of pixels") {
  CHECK(pays_in_pairs(isa::avx512, 96, 24));
  CHECK(pays_in_pairs(isa::avx512, 240, 40));
  CHECK(pays_in_pairs(isa::avx512, 32, 8));
  CHECK_FALSE(pays_in_pairs(isa::avx512, 96, 32));
  CHECK_FALSE(pays_in_pairs(isa::avx512, 96, 27));
  CHECK_FALSE(pays_in_pairs(isa::avx512, 1280, 1000));
  CHECK(pays_in_pairs(isa::avx2, 64, 12));
  CHECK_FALSE(pays_in_pairs(isa::avx2, 64, 24));
  CHECK_FALSE(pays_in_pairs(isa::neon, 64, 6));
  kernel_key key;
  key.target = isa::avx512;
  for (int const width : {1, 7, 56}) {
    planned_data s;
    s.in = {1, 3, width, 96};
    s.out = {1, 3, width, 28};  // four half vectors, the last one not full
    choose_matrix(key, s, {});
    CHECK_FALSE(key.paired);
    s.out.c = 20;  // three
    choose_matrix(key, s, {});
    CHECK(key.paired);
    CHECK(has_partial_vector(key, s.out.c));
    CHECK(3 % key.tile.vectors == key.tile.vectors_left);
  }
}

}  // namespace
