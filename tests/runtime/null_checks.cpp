// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled with -fno-delete-null-pointer-checks, which -fsanitize=undefined implies: g++ then does not compare
// addresses of static objects with null at compile time.
#include <ago/ago.hpp>
#include <doctest/doctest.h>

using namespace ago;

namespace {

constexpr auto source =
    input{.h = 5, .w = 4, .c = 6} | named("stem", conv2d{.out = 8, .kernel = 3, .pad = 1} | batch_norm{} | relu{});
inline constexpr auto network =
    source |
    [](tensor x) {
      auto const [a, b] = chunk<2>(x);
      return concat(b | relu{}, a);
    } |
    residual{named("mix", depthwise{.kernel = 3, .pad = 1} | pointwise{8} | map{[](auto y) { return y * y; }})} |
    linear{24} | attention{.heads = 2} | to_nchw{};
inline constexpr schedule_table tuned{{{program<network>::plan.steps[0].signature, {.pixels = 2}}}};

/// The sum of the results for inputs and weights that are all equal.
template <auto const& Table, options_for Options>
float sum() {
  using compiled = model<network, Table, Options>;
  static float weights[compiled::parameter_count], in[compiled::input_size()], out[compiled::output_size()];
  for (float& w : weights) w = .125f;
  for (float& x : in) x = 1;
  static compiled net{weights};
  net(in, out);
  float all = 0;
  for (float const y : out) all += y;
  return all;
}

}  // namespace

TEST_CASE("networks compile and run if addresses may be null") {
  constexpr options scalar{.target = isa::scalar};
  float const expected = sum<untuned, scalar>();
  CHECK(expected > 0);
  CHECK(sum<untuned, options{.target = native_isa}>() == doctest::Approx(expected));
  CHECK(sum<tuned, options{.target = native_isa}>() == doctest::Approx(expected));
  CHECK(sum<untuned, options{.threads = {2}}>() == doctest::Approx(expected));
  CHECK(sum<untuned, options{.policy = policy::paper}>() == doctest::Approx(expected));
  CHECK(sum<untuned, options{.policy = policy::fuse_ops}>() == doctest::Approx(expected));
  CHECK(sum<untuned, options{.policy = policy::apollo}>() == doctest::Approx(expected));
}
