// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators by index expressions in models: values, in guarded memory, whatever the policy and the threads.
#include "threads.hpp"

#include <ago/expressions.hpp>

#include <reference/executor.hpp>
#include <reference/functions.hpp>
#include <support/instruction_sets.hpp>

#include <cmath>

using namespace model_test;
namespace e = ago::expression;

namespace {

/// NeoFlow's: x[b, c, h, w, i, l].
inline constexpr auto capsule_convolution = [](int capsules, int kernel, int stride) {
  return e::compute("capsule_convolution", [=](e::operand x, e::weights parameter) {
    e::operand const weight = parameter("weight", capsules, x.extent(1), kernel, kernel, x.extent(5), 4);
    e::var b, k, p, q, i, j, c, r, s, l;
    return e::result(b, k, p, q, i, j) =
               e::sum(c, r, s, l)(x(b, c, stride * p + r, stride * q + s, i, l) * weight(k, c, r, s, l, j));
  });
};
/// Poses shrink to a length below 1.
inline constexpr auto squash = e::compute("squash", [](e::operand x) {
  e::var b, k, p, q, i, j, l, m;
  e::operand const square = e::result(b, k, p, q) = e::sum(l, m)(x(b, k, p, q, l, m) * x(b, k, p, q, l, m));
  return e::result(b, k, p, q, i, j) = x(b, k, p, q, i, j) * e::sqrt(square(b, k, p, q)) / (square(b, k, p, q) + 1.);
});
inline constexpr auto capsules = trace(
    [](tensor x) {
      tensor const poses = squash(capsule_convolution(5, 3, 2)(x | view(2, 4, 9, 7, 4, 4)) | bias{} | relu{});
      return outputs(poses, poses + capsule_convolution(5, 1, 1)(poses));
    },
    input{.n = 2, .h = 4 * 9, .w = 7, .c = 16});

/// Correlation of two images in a window, as in FlowNet: both factors are values, one is read beyond its border.
inline constexpr auto correlation = [](int reach) {
  return e::compute("correlation", [=](e::operand a, e::operand b) {
    e::var n, h, w, y{2 * reach + 1}, x{2 * reach + 1}, c;
    e::operand const wide = padded(b, 0);
    return e::result(n, h, w, y, x) = e::sum(c)(a(n, h, w, c) * wide(n, h + y - reach, w + x - reach, c));
  });
};
inline constexpr auto flow = trace(
    [](tensor a, tensor b) { return correlation(2)(a | pointwise{24} | relu{}, b | pointwise{24} | relu{}) | silu{}; },
    input{.h = 6, .w = 9, .c = 5}, input{.h = 6, .w = 9, .c = 5});

/// A fully connected layer of its own for each pixel.
inline constexpr auto locally_connected = [](int channels) {
  return e::compute("locally_connected", [=](e::operand x, e::weights parameter) {
    e::var n, h, w, k{channels}, c;
    return e::result(n, h, w, k) = e::sum(c)(x(n, h, w, c) * parameter("weight")(h, w, c, k));
  });
};
/// Two results, three operands, functions, positions, a fold that is no sum, and indices that are values.
inline constexpr auto mixture = e::compute("mixture", [](e::operand x, e::operand y, e::operand row) {
  e::var n, h, w, c, d, i, last{x.extent(1)};
  e::operand const outer = e::result(n, h, w, c, d) = e::sin(x(n, h, w, c)) * y(n, h, w, d) + x.position(d);
  e::operand const rows = e::result(n, w, c) =
      e::maximum(last, i)(select(i <= last, x(n, row(0, 0, 0, i), w, c) - x.position(c), x.number(-9)));
  return e::results(outer, rows);
});
inline constexpr auto mixed = trace(
    [](tensor x, tensor row) {
      tensor const y = x | locally_connected(7) | bias{} | silu{};
      auto const [outer, rows] = mixture(y, x | relu{}, row);
      return outputs(outer, rows | hard_swish{}, y | pointwise{3});
    },
    input{.h = 5, .w = 4, .c = 9}, input{.w = 1, .c = 3});

/// Runs in guarded memory, and compares with the reference.
template <auto const& Net, options Options>
void check_values() {
  reference::define_functions();
  using tested = program<Net, untuned, Options>;
  auto const& g = ago::passes::optimized<Net>::value;
  std::vector<std::vector<float>> inputs;
  for (int k = 0; k < tested::inputs; ++k) inputs.push_back(random_floats(tested::input_size(k), 2 + unsigned(k)));
  auto const values = reference::run_all(reference::graph_view(g), random_weights<Net>(1), inputs);
  for (auto const where : {differential::edge::end, differential::edge::begin}) {
    guarded_run<tested, Net> in(where);
    tested::run(in.memory());
    CHECK(in.intact());
    auto const results = in.results();
    std::size_t at = 0, wrong = 0;
    for (int o = 0; o < g.output_count; ++o) {
      reference::value const& v = values[std::size_t(g.outputs[o])];
      for (std::size_t i = 0; i < v.exact.size(); ++i, ++at)
        wrong += !(std::abs(double(results[at]) - v.exact[i]) <= 8 * v.error[i] + 1e-7);
    }
    CHECK(at == results.size());
    CHECK(wrong == 0);
  }
}

template <auto const& Net>
void check_all_values() {
  check_values<Net, options{}>();
  check_values<Net, options{.policy = policy::ago_ni}>();
  check_values<Net, options{.target = isa::scalar}>();
  if constexpr (test::is_tested(isa::emulated128)) check_values<Net, options{.target = isa::emulated128}>();
  if constexpr (test::is_tested(isa::avx2)) check_values<Net, options{.target = isa::avx2}>();
  if constexpr (test::is_tested(isa::sse2)) check_values<Net, options{.target = isa::sse2}>();
}

}  // namespace

TEST_CASE("capsule convolutions with an epilogue have the values of the reference") { check_all_values<capsules>(); }
TEST_CASE("products of two values with padding have the values of the reference") { check_all_values<flow>(); }
TEST_CASE("products in batches and loop nests have the values of the reference") { check_all_values<mixed>(); }

TEST_CASE("an activation after a contraction is computed by its kernel") {
  using p = program<flow>;
  ago::plan::planned_step const& last = p::plan.steps[p::first_part(p::steps) - 1];
  CHECK(last.key.what == ago::plan::structure::contraction);
  CHECK(last.key.after.count() == 1);
}

TEST_CASE("the predicted cycles of work items add up to those of the step") {
  using p = program<mixed>;
  int described = 0;
  for (ago::plan::planned_step const& s : p::plan.steps) {
    if (!s.key.described) continue;
    ++described;
    int const all = int(ago::kernel::indices_of(s.key, s.data));
    ago::plan::planned_data first = s.data, second = s.data;
    first.portion = {0, all / 2};
    second.portion = {all / 2, all};
    auto const cycles = [&](ago::plan::planned_data const& d) { return ago::kernel::cycles_of(s.key, d, {}, {}); };
    CHECK(cycles(first) + cycles(second) == doctest::Approx(cycles(s.data)));
  }
  CHECK(described > 1);
}

TEST_CASE("every policy gives the same values") {
  [&]<int... P>(std::integer_sequence<int, P...>) {
    (check_values<mixed, options{.policy = policy(P)}>(), ...);
  }(std::make_integer_sequence<int, ago::partition::policies>{});
}

TEST_CASE("contractions and nests divided for threads give bit-identical results") {
  CHECK(compare_cut<capsules, cut<split::pixels>, 2>() > 0);
  CHECK(compare_cut<flow, cut<split::pixels>, 3>() > 0);
  CHECK(compare_cut<mixed, cut<split::pixels>, 2>() > 0);
  CHECK(compare_cut<mixed, cut<split::pixels>, 4>() > 0);
}
