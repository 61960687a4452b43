// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contestants that disagree are found, whatever the reason.
#include <bench/loops.hpp>
#include <bench/registry.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace bench;

namespace {

inline constexpr auto net = ago::input{.h = 5, .w = 4, .c = 3} | ago::pointwise{.out = 7, .bias = true} | ago::silu{};

/// Runs the network and then changes one of its results.
template <class Spoil>
variant spoiled(Spoil spoil) {
  variant v = make_variant<ago::model<net>>("spoiled");
  v.prepare = [good = v.prepare, spoil](std::span<float const> parameters, float const* in, float* out,
                                        std::size_t displacement) {
    return [run = good(parameters, in, out, displacement), spoil, out] {
      run();
      spoil(out);
    };
  };
  return v;
}

entry with(std::vector<variant> variants) {
  return {"net", 5, ago::passes::optimized<net>::value, std::move(variants)};
}

}  // namespace

TEST_CASE("variants that compute the same agree, with each other and with plain loops") {
  entry const e = with({make_variant<ago::model<net>>("ago"),
                        make_variant<ago::model<net, ago::untuned, ago::policy::ago_ni>>("ago-ni")});
  contest c(e, "net");
  CHECK(c.agrees());
  CHECK(agrees_with_loops(c, e));
}

TEST_CASE("a variant with different results does not agree") {
  auto const second = [](variant v) {
    entry const e = with({make_variant<ago::model<net>>("ago"), std::move(v)});
    return contest(e, "net").agrees();
  };
  CHECK(second(spoiled([](float*) {})));
  CHECK_FALSE(second(spoiled([](float* out) { out[139] += .01f; })));
  CHECK_FALSE(second(spoiled([](float* out) { out[0] = std::numeric_limits<float>::quiet_NaN(); })));
  CHECK_FALSE(second(spoiled([](float* out) { out[0] = std::numeric_limits<float>::infinity(); })));
}

TEST_CASE("a variant that writes nothing does not agree") {
  variant idle = make_variant<ago::model<net>>("idle");
  idle.prepare = [](std::span<float const>, float const*, float*, std::size_t) { return [] {}; };
  entry const e = with({make_variant<ago::model<net>>("ago"), idle});
  CHECK_FALSE(contest(e, "net").agrees());
}

TEST_CASE("variants that are equally wrong do not agree with plain loops") {
  auto const wrong = [](float* out) { out[7] *= 1.1f; };
  entry const e = with({spoiled(wrong), spoiled(wrong)});
  contest c(e, "net");
  CHECK(c.agrees());
  CHECK_FALSE(agrees_with_loops(c, e));
}

TEST_CASE("other engines agree on a layer, with and without their changes of layout") {
  entry const e = with({make_variant<ago::model<net>>("ago")});
  for (timed const what : {timed::network, timed::layer}) {
    contest c(e, "net");
    c.enter_peers(1, what);
    CHECK(c.contestants().size() == 1 + peer_options().size());
    CHECK(c.agrees());
    c.try_out(2);
    for (contestant const& x : c.contestants())
      CHECK(difference(c.contestants()[0].out.span(), x.out.span()) < tolerance);
  }
}

TEST_CASE("a record begins with its subject, and ratios are relative to the first variant") {
  entry const e = with({make_variant<ago::model<net>>("ago"), make_variant<ago::model<net>>("again")});
  contest c(e, "net");
  REQUIRE(c.agrees());
  c.run(3);
  std::vector<record> const all = c.records({{"subject", "x"}}, microseconds);
  REQUIRE(all.size() == 2);
  auto const get = [&](std::size_t i, std::string const& name) {
    for (field const& f : all[i])
      if (f.name == name) return f.text;
    return std::string("missing");
  };
  CHECK(all[0][0].name == "subject");
  CHECK(get(0, "ratio") == "");
  double const ratio = std::stod(get(1, "median_us")) / std::stod(get(0, "median_us"));
  CHECK(std::stod(get(1, "ratio")) == doctest::Approx(ratio).epsilon(.02));
  double const gflops = 2e-3 * 5 * 4 * 3 * 7 / std::stod(get(0, "median_us"));
  CHECK(std::stod(get(0, "gflops")) == doctest::Approx(gflops).epsilon(.02));
  CHECK(c.records({}, microseconds, detail::brief)[0].size() < c.records({}, microseconds)[0].size());
}

TEST_CASE("the difference is relative to the largest expected value") {
  float const expected[] = {1, -4, 2}, actual[] = {1, -4, 2.2f};
  CHECK(difference(expected, expected) == 0);
  CHECK(difference(expected, actual) == doctest::Approx(.05));
}
