// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtime programs over one kernel catalogue, that of the generated networks: far more programs than could be compiled,
// with the same layers on other images, every policy, random schedules, and steps divided into work items.
#include "planned.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

#include "caller.hpp"
#include "comparison.hpp"
#include "experiment.hpp"

using namespace differential;

namespace {

ago::tuner::menu_view const& catalogue() {
  static ago::tuner::menu_view const all = [] {
    std::vector<ago::tuner::menu_entry> entries;
    for (subject const& s : all_subjects())
      for (compiled const& c : s.variants)
        for (compiled_kernel const& k : c.step_kernels) entries.push_back({k.key, k.function});
    return ago::tuner::menu_view(entries);
  }();
  return all;
}

/// The result in guarded memory; it must be the same with the work items in reverse order.
results run_planned(planned_program const& p, experiment const& e, edge where) {
  caller user(e, where);
  guarded_floats packed(p.plan().packed_floats(), where), arena(p.plan().arena_floats(), where);
  p.pack(user.weights(), packed.data());
  ago::plan::run_memory const memory{packed.data(), arena.data(), user.inputs(), user.outputs()};
  p.run(memory);
  results const first = user.take();
  if (p.cut_steps() > 0) {
    last_first workers;
    p.run(memory, workers);
    CHECK_MESSAGE(identical(first, user.take()), "the result depends on the order of work items");
  }
  CHECK_MESSAGE((user.intact() && packed.intact() && arena.intact()), "other memory was written");
  return first;
}

/// A schedule for every kind of step of a plan.
class random_table {
 public:
  random_table(planned_program const& of, std::mt19937& random, ago::split cut) {
    for (int i = 0; i < of.plan().part_count; ++i) {
      std::uint64_t const signature = of.plan().part(i).signature;
      if (!known_.insert(signature).second) continue;
      auto const any = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
      ago::schedule s;
      if (any(0, 3) == 0) s.block = any(0, 8);
      if (any(0, 1) == 0) s.join = any(0, 2) - 1;
      constexpr int ways[] = {0, 0, -1, 1, 2, 4};
      s.winograd = ways[any(0, 5)];
      s.split = cut;
      entries_.push_back({signature, s});
    }
  }
  /// The same with undivided steps.
  ago::tuner::schedule_list uncut() const {
    auto entries = entries_;
    for (ago::plan::tuned_schedule& e : entries) e.best.split = ago::split::whole;
    return ago::tuner::schedule_list(entries);
  }
  ago::tuner::schedule_list list() const { return ago::tuner::schedule_list(entries_); }

 private:
  std::set<std::uint64_t> known_;
  std::vector<ago::plan::tuned_schedule> entries_;
};

/// Counts of the programs that were run.
struct tally {
  int programs = 0, cut = 0, lacking = 0, resized = 0;
  std::map<ago::policy, int> by_policy;
  double worst = 0, worst_winograd = 0;
};

/// Runs random programs of one network, all of which must give the reference's result.
void vary(traced_graph const& g, experiment const& e, std::mt19937& random, int trials, tally& sum) {
  using enum ago::policy;
  constexpr ago::policy policies[] = {ago, ago, ago_ni, paper, paper_adjacent, fuse_ops, apollo, neoflow};
  constexpr ago::split cuts[] = {ago::split::none, ago::split::images, ago::split::rows, ago::split::pixels,
                                 ago::split::channels};
  for (int t = 0; t < trials; ++t) {
    auto const any = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    ago::isa const target = any(0, 5) ? ago::native_isa : ago::isa::scalar;
    ago::options how{.target = target, .policy = policies[any(0, 7)]};
    if (any(0, 2) == 0) how.device = small_caches;
    if (any(0, 1) == 0) how.device.threads = any(2, 4);
    CAPTURE(std::string(name_of(how.target)));
    CAPTURE(std::string(name_of(how.policy)));
    CAPTURE(how.device.threads);
    CAPTURE(how.device.l1_bytes);
    planned_program const usual(g, how, {}, catalogue());
    random_table const table(usual, random, cuts[any(0, 4)]);
    planned_program const p(g, how, table.list(), catalogue());
    for (planned_program const* each : {&usual, &p}) {
      CHECK(each->has_scratch());
      if (!each->is_complete()) {
        ++sum.lacking;
        continue;
      }
      results const got = run_planned(*each, e, any(0, 1) ? edge::end : edge::begin);
      double& worst = each->uses_winograd() ? sum.worst_winograd : sum.worst;
      worst = std::max(worst, compare(got, e.expected, each->uses_winograd() ? winograd_tolerance : tolerance));
      ++sum.programs;
      ++sum.by_policy[how.policy];
      if (each->cut_steps() == 0 || each == &usual) continue;
      ++sum.cut;
      planned_program const whole(g, how, table.uncut(), catalogue());
      REQUIRE((whole.is_complete() && whole.cut_steps() == 0));
      CHECK_MESSAGE(identical(got, run_planned(whole, e, edge::end)), "the result depends on the work items");
    }
  }
}

/// All counts.
long values_of(traced_graph const& g) {
  long n = 0;
  for (ago::ir::node const& v : std::span(g.nodes, std::size_t(g.node_count))) n += v.out.count();
  return n;
}

}  // namespace

TEST_CASE("a runtime program has the kernels, memory and bit-identical results of the compiled program") {
  define_functions();
  for (subject const& s : all_subjects()) {
    CAPTURE(s.number);
    auto const g = copy_of(s.graph);
    experiment const e = prepare(s);
    for (compiled const& c : s.variants) {
      CAPTURE(std::string(name_of(c.target)));
      CAPTURE(c.tuned_steps);
      planned_program const p(*g, c.how, ago::tuner::schedule_list({c.schedules.begin(), c.schedules.end()}),
                              catalogue());
      REQUIRE(p.is_complete());
      REQUIRE(p.kernels().size() == c.step_kernels.size());
      for (std::size_t k = 0; k < p.kernels().size(); ++k) CHECK(p.plan().key(int(k)) == *c.step_kernels[k].key);
      REQUIRE((p.plan().packed_floats() == c.packed_floats && p.plan().arena_floats() == c.arena_floats));

      caller user(e, edge::end);
      guarded_floats packed(c.packed_floats, edge::end), same(c.packed_floats, edge::end);
      guarded_floats arena(c.arena_floats, edge::end);
      c.pack(user.weights(), packed.data());
      p.pack(user.weights(), same.data());
      CHECK(std::memcmp(packed.data(), same.data(), c.packed_floats * sizeof(float)) == 0);
      c.run({packed.data(), arena.data(), user.inputs(), user.outputs()});
      results const expected = user.take();
      p.run({packed.data(), arena.data(), user.inputs(), user.outputs()});
      CHECK(identical(expected, user.take()));
    }
  }
}

TEST_CASE("random programs compute the meaning of their graphs, with any policy, schedules and work items") {
  define_functions();
  std::mt19937 random(1);
  tally sum;
  for (subject const& s : all_subjects()) {
    if (!s.record) continue;
    CAPTURE(s.number);
    auto const any = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    for (int size = 0, found = 0; size < 60 && found < 4; ++size) {
      larger const by = size == 0 ? larger{} : larger{any(0, 2), any(-5, 5), any(-5, 5)};
      CAPTURE(by.n);
      CAPTURE(by.h);
      CAPTURE(by.w);
      auto const g = trace(s, by);
      if (!g || values_of(*g) > 100'000 || !planned_program(*g, {}, {}, catalogue()).is_complete()) continue;
      ++found;
      sum.resized += size > 0;
      subject const resized{s.number, *g, {}};
      vary(*g, prepare(resized), random, size == 0 ? 32 : 12, sum);
    }
  }
  MESSAGE(sum.programs << " programs, " << sum.cut << " of them divided, of " << sum.resized
                       << " networks with other inputs; for " << sum.lacking << " others, the " << catalogue().size()
                       << " kernels do not suffice. Largest deviation: " << sum.worst << " times the estimate, allowed "
                       << tolerance << "; with Winograd " << sum.worst_winograd << ", allowed " << winograd_tolerance);
  CHECK(sum.programs >= 500);
#ifdef AGO_TEST_FULL
  CHECK(sum.cut >= 100);
#else
  CHECK(sum.cut >= 40);
#endif
  CHECK(sum.resized >= 20);
  for (auto const& of : sum.by_policy) {
    CAPTURE(std::string(name_of(of.first)));
    CHECK(of.second >= 10);
  }
  CHECK(sum.by_policy.size() == 7);
}
