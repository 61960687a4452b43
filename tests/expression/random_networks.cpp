// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random operators by expression as networks: normal form, recognition, plan, packing and kernels together compute what
// the naive interpreter computes in double precision, on every instruction set.
#include "run_time_network.hpp"

#include <doctest/doctest.h>
#include <reference/expression.hpp>
#include <support/instruction_sets.hpp>

#include <map>
#include <string>

#include "generator.hpp"
#include "run.hpp"

using namespace expression_test;
namespace e = ago::expression;

namespace {

/// A definition of one expression, its operands, and what it computes.
struct drawn_case {
  std::vector<std::vector<float>> operands{};
  reference::value expected{};

  drawn_case(e::definition const& d, std::vector<values> const& given) {
    for (values const& v : given) operands.emplace_back(v.begin(), v.end());
    e::index_expression const& x = d.expressions[0];
    std::vector<reference::value> all;
    for (int k = 0; k < x.operand_count; ++k) {
      values const& v = given[std::size_t(d.reads[0][k])];
      all.push_back({{}, v, std::vector<double>(v.size())});
    }
    std::vector<reference::value const*> pointers;
    for (reference::value const& v : all) pointers.push_back(&v);
    auto const count = std::size_t(x.result.count());
    expected = {{}, std::vector<double>(count), std::vector<double>(count)};
    reference::detail::expression_nodes(x, pointers).compute(expected);
    expected.exact = run(d, given)[0];
  }
};

/// Counts of the networks that were compared.
struct tally {
  int networks = 0, lacking = 0;
  std::map<ago::plan::structure, int> with;
  std::map<std::string, int> missing;
  double worst = 0;
};

template <isa I>
void compare(traced_graph const& g, drawn_case const& c, tally& all) {
  CAPTURE(std::string(ago::name_of(I)));
  run_time_network<I> const network(g);
  if (char const* const what = network.lacks()) {
    ++all.lacking;
    ++all.missing[what];
    return;
  }
  float const* const inputs[] = {c.operands[0].data(), c.operands[1].data(), c.operands[2].data()};
  std::vector<float> const got = network(c.operands.size() > 3 ? c.operands[3].data() : nullptr, inputs);
  REQUIRE(got.size() == c.expected.exact.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const difference = std::abs(double(got[i]) - c.expected.exact[i]), allowed = 8 * c.expected.error[i] + 1e-6;
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(c.expected.exact[i]);
    CAPTURE(allowed);
    REQUIRE(difference <= allowed);
    all.worst = std::max(all.worst, difference / allowed);
  }
  ++all.networks;
  for (auto const what :
       {ago::plan::structure::nest, ago::plan::structure::contraction, ago::plan::structure::elementwise,
        ago::plan::structure::copy, ago::plan::structure::reduction})
    all.with[what] += network.has(what);
}

/// For this machine's instruction set, and by turns for one of the others.
template <isa I>
void compare_in_turn(unsigned turn, traced_graph const& g, drawn_case const& c, tally& all) {
  if constexpr (test::is_tested(I))
    if (test::has_share(I, turn)) compare<I>(g, c, all);
}

void compare_all(unsigned first, unsigned last, tally& all) {
  for (unsigned seed = first; seed < last; ++seed) {
    CAPTURE(seed);
    bool const has_weights = seed % 2;
    random_expression const drawn =
        seed % 3 ? generator(seed).draw() : generator(seed).draw_product(seed % 4 < 2, true, has_weights ? 3 : 1);
    writer const w(drawn);
    e::definition const d = w.written();
    if (d.bad.what != e::fault::none) continue;
    auto const g = trace_at_run_time(w.operation(), {w.extents_of(0), w.extents_of(1), w.extents_of(2)});
    if (!g) continue;
    std::vector<values> given = drawn.flat();
    for (std::size_t k = 0; k < given.size(); ++k)
      if (drawn.extents_of[k].empty()) given[k].assign(std::size_t(std::max(1L, d.values[k].extents.count())), 0);
    drawn_case const c(d, given);
    using enum isa;
    unsigned const turn = seed / 12;  // the seed's remainders decide what is drawn
    compare_in_turn<scalar>(turn, *g, c, all);
    compare_in_turn<sse2>(turn, *g, c, all);
    compare_in_turn<avx2>(turn, *g, c, all);
    compare_in_turn<avx512>(turn, *g, c, all);
    compare_in_turn<neon>(turn, *g, c, all);
    compare_in_turn<emulated128>(turn, *g, c, all);
    compare_in_turn<emulated512>(turn, *g, c, all);
  }
}

#if defined(AGO_TEST_FULL) && !defined(__aarch64__)  // on which tests run in an emulator
constexpr unsigned networks = 10'200;                // some of which exceed the limits of the notation
#else
constexpr unsigned networks = 600;
#endif

}  // namespace

TEST_CASE("networks of a random operator have the values of the naive interpreter on every instruction set") {
  tally all;
  compare_all(1, 1 + networks, all);
  for (auto const& [what, count] : all.missing) MESSAGE(count, " lack ", std::string(what));
  for (auto const& [what, count] : all.with) MESSAGE(count, " with ", std::string(name_of(what)));
  CHECK(all.lacking < all.networks / 100);
  CHECK(all.with[ago::plan::structure::nest] > all.networks / 2);
  CHECK(all.with[ago::plan::structure::contraction] > all.networks / 8);
  CHECK(all.with[ago::plan::structure::elementwise] > all.networks / 20);
  CHECK(all.with[ago::plan::structure::copy] > all.networks / 50);
  MESSAGE(all.networks, " compared, the worst error is ", all.worst, " of what is allowed");
}
