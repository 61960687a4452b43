// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention in one pass equals its three kernels one after another, within the bound that attention_kernel documents.
#include "fusion.hpp"

using namespace model_test;

namespace {

/// The size of an attention: channels of a head, keys per query.
struct extents {
  int depth, keys;
};

/// Inputs are in [-1, 1), so scores before scaling are sums of `depth` products below 1. Each addition rounds a sum
/// below `depth`, by e in total. The error of either computation is at most 2 e + (keys + 16) * 2^-24.
double bound(extents const& x, double scale) {
  double const roundoff = 0x1p-24, e = roundoff * (x.depth + 2) * x.depth * scale;
  return 2 * (2 * e + (x.keys + 16) * roundoff);
}

template <class Program>
constexpr int steps_of(ago::plan::structure what) {
  int n = 0;
  for (auto const& p : Program::plan.steps) n += p.key.what == what;
  return n;
}

template <auto const& Net, isa I>
void compare(extents const& x, double scale) {
  using fused = program<Net, untuned, options{.target = I}>;
  using unfused = program<Net, untuned, options{.target = I, .policy = policy::ago_ni}>;
  static_assert(steps_of<fused>(ago::plan::structure::attention) == 1 &&
                steps_of<fused>(ago::plan::structure::softmax) == 0);
  static_assert(steps_of<unfused>(ago::plan::structure::attention) == 0 &&
                steps_of<unfused>(ago::plan::structure::softmax) == 1);
  static_assert(steps_of<unfused>(ago::plan::structure::attention_scores) == 1);
  static_assert(steps_of<unfused>(ago::plan::structure::attention_values) == 1);
  CAPTURE(std::string(name_of(I)));
  auto const expected = result_of<unfused, Net>(differential::edge::end);
  auto const got = result_of<fused, Net>(differential::edge::end);
  CHECK(got == result_of<fused, Net>(differential::edge::begin));
  REQUIRE(got.size() == expected.size());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(double(got[i]) - double(expected[i])));
    largest = std::max(largest, std::abs(double(expected[i])));
  }
  CAPTURE(worst);
  CHECK(worst <= bound(x, scale));
  CHECK(largest > 1e-3);
}

/// Query, key and value of one input, concatenated.
constexpr auto tokens = input{.n = 3, .w = 37, .c = 3 * 24} | attention{.heads = 3};
constexpr auto one_key = input{.n = 2, .w = 5, .c = 8} | [](tensor x) {
  tensor const m = x | slice{2, 1, axis::columns};
  return attention{}(x, m, m);
};
constexpr auto patches = input{.n = 2, .h = 6, .w = 8, .c = 3 * 20} | attention{.heads = 2, .patch = {3, 2}};
constexpr auto cross = input{.n = 2, .h = 5, .w = 4, .c = 32} | [](tensor x) {
  tensor const q = x | slice{0, 2, axis::rows}, k = x | slice{1, 4, axis::rows}, v = x | slice{0, 4, axis::rows};
  return attention{.heads = 4, .scale = 1}(q, k, v);
};
constexpr auto many = input{.w = 300, .c = 3 * 17} | attention{};  // more scores than are stored at a time
constexpr auto head_for_each = input{.n = 2, .w = 9, .c = 3 * 5} | attention{.heads = 5};

template <isa I>
void compare_all() {
  compare<tokens, I>({8, 37}, 1 / std::sqrt(8));
  compare<one_key, I>({8, 1}, 1 / std::sqrt(8));
  compare<patches, I>({10, 8}, 1 / std::sqrt(10));
  compare<cross, I>({8, 16}, 1);
  compare<many, I>({17, 300}, 1 / std::sqrt(17));
  compare<head_for_each, I>({1, 9}, 1);
}

}  // namespace

TEST_CASE("attention in one pass equals its three kernels within the bound, for any sizes and images") {
  compare_all<native_isa>();
}

TEST_CASE("likewise on other instruction sets") {
  compare_all<isa::scalar>();
  compare_all<isa::emulated128>();
}

namespace {

constexpr auto many_rows = input{.w = 512, .c = 3 * 32} | attention{.heads = 2};

}  // namespace

TEST_CASE("attention in one pass stores a few rows of scores, not all") {
  using fused = program<many_rows>;
  using unfused = program<many_rows, untuned, policy::ago_ni>;
  static_assert(unfused::arena_bytes > 4 * 2 * 512 * 512);        // scores of both heads
  static_assert(10 * fused::arena_bytes < unfused::arena_bytes);  // keys and values of a head, packed, and a few rows
}

namespace {

constexpr auto batch = input{.n = 4, .w = 11, .c = 3 * 12} | attention{.heads = 2} | linear{12};
constexpr auto single = input{.w = 11, .c = 3 * 12} | attention{.heads = 2} | linear{12};

}  // namespace

TEST_CASE("each image of a batch attends to itself") {
  auto const weights = random_weights<batch>(1);
  static model<batch> all{weights_span<model<batch>>(weights)};
  static model<single> one{weights_span<model<single>>(weights)};
  std::size_t const in = one.input_size(), out = one.output_size();
  auto const images = random_floats(4 * in, 2);
  std::vector<float> expected(4 * out), got(4 * out);
  CHECK(all.try_run(images, got) == status::ok);
  for (std::size_t n = 0; n < 4; ++n)
    CHECK(one.try_run(std::span(images).subspan(n * in, in), std::span(expected).subspan(n * out, out)) == status::ok);
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == doctest::Approx(expected[i]).epsilon(1e-5).scale(1));
  CHECK_FALSE(std::equal(got.begin(), got.begin() + long(out), got.begin() + long(out)));  // the images differ
}
