// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generated networks: ago::model compared with the reference executor on the recorded graph.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "caller.hpp"
#include "comparison.hpp"
#include "experiment.hpp"
#include "guarded.hpp"
#include "subject.hpp"

namespace {

using namespace differential;

/// The least number of occurrences of everything, and of what should be more frequent.
#ifdef AGO_TEST_FULL
constexpr int often = 3, frequent = 10;
#else
constexpr int often = 1, frequent = 5;
#endif

/// program: packed weights and arena in guarded memory of exactly their sizes.
results run_program(compiled const& c, experiment const& e, edge where) {
  caller user(e, where);
  guarded_floats packed(c.packed_floats, where), arena(c.arena_floats, where);
  c.pack(user.weights(), packed.data());
  std::vector<float> const before(packed.values().begin(), packed.values().end());
  CHECK_MESSAGE(std::none_of(before.begin(), before.end(), [](float x) { return std::isnan(x); }),
                "pack left floats unwritten");
  c.run({packed.data(), arena.data(), user.inputs(), user.outputs()});
  results const first = user.take();
  c.run({packed.data(), arena.data(), user.inputs(), user.outputs()});
  CHECK_MESSAGE(identical(first, user.take()), "the second run differs");
  CHECK_MESSAGE((user.intact() && packed.intact() && arena.intact()), "other memory was written");
  bool const same = std::memcmp(before.data(), packed.data(), before.size() * sizeof(float)) == 0;
  CHECK_MESSAGE(same, "a run changed the packed weights");
  return first;
}

/// model: with its own workspace, then with a caller's workspace full of NaN.
void run_model(compiled const& c, experiment const& e, results const& expected) {
  caller user(e, edge::end);
  guarded_floats memory(c.model_bytes / sizeof(float), edge::end);
  guarded_floats workspace(c.workspace_bytes / sizeof(float), edge::end);
  void* const model = c.make_model(memory.data(), user.weights());
  for (int i = 0; i < 2; ++i) {
    c.run_model(model, user.inputs(), user.outputs());
    CHECK_MESSAGE(identical(expected, user.take()), "the model differs from its program");
  }
  c.run_model_in(model, workspace.data(), std::numeric_limits<float>::quiet_NaN(), user.inputs(), user.outputs());
  CHECK_MESSAGE(identical(expected, user.take()), "the model differs in the caller's workspace");
  CHECK_MESSAGE((user.intact() && memory.intact() && workspace.intact()), "other memory was written");
  c.destroy_model(model);
}

/// The passes keep the meaning: in double precision, only the order of operations matters.
void check_passes(compiled const& c, experiment const& e) {
  auto const optimized = reference::run(c.optimized, e.weights, e.inputs);
  for (std::size_t k = 0; k < optimized.size(); ++k) {
    REQUIRE(optimized[k].size() == e.expected[k].exact.size());
    double worst = 0, largest = 1e-30;
    for (std::size_t i = 0; i < optimized[k].size(); ++i) {
      worst = std::max(worst, std::abs(optimized[k][i] - e.expected[k].exact[i]));
      largest = std::max(largest, std::abs(e.expected[k].exact[i]));
    }
    CHECK_MESSAGE(worst <= 1e-9 * largest, "the passes changed output " << k);
  }
}

}  // namespace

TEST_CASE("every generated network computes the meaning of its graph, and touches no other memory") {
  define_functions();
  double worst = 0, worst_winograd = 0;
  for (subject const& s : all_subjects()) {
    CAPTURE(s.number);
    experiment const e = prepare(s);
    results first;
    int attentions = 0;
    for (compiled const& c : s.variants) {
      CAPTURE(std::string(name_of(c.target)));
      CAPTURE(c.tuned_steps);
      CAPTURE(c.kernels - c.steps);
      check_passes(c, e);
      results const got = run_program(c, e, edge::end);
      double& most = c.winograds > 0 ? worst_winograd : worst;
      most = std::max(most, compare(got, e.expected, c.winograds > 0 ? winograd_tolerance : tolerance));
      results const elsewhere = run_program(c, e, edge::begin);
      CHECK_MESSAGE(identical(got, elsewhere), "the result depends on addresses");
      if (c.target == ago::native_isa && !c.reordered) {
        if (first.empty()) first = got, attentions = c.attentions;
        if (c.attentions == attentions)
          CHECK_MESSAGE(identical(got, first), "the result depends on schedule or policy");
      }
      run_model(c, e, got);
    }
  }
  MESSAGE("largest deviation: " << worst << " times the estimate, allowed " << tolerance << "; with Winograd "
                                << worst_winograd << ", allowed " << winograd_tolerance);
}

TEST_CASE("the generated networks cover every operator, on every instruction set they are compiled for") {
  int nodes[int(ago::op::to_nchw) + 1]{}, variants[int(ago::isa::neon) + 1]{};
  int tuned = 0, tilings[5]{}, attentions[2]{}, pieces = 0;
  for (subject const& s : all_subjects()) {
    for (ago::ir::node const& n : s.graph.nodes) ++nodes[int(n.kind)];
    for (compiled const& c : s.variants) {
      if (c.tuned_steps > 0) CHECK(c.tuned_steps == c.kernels);
      tuned += c.tuned_steps > 0;
      pieces += c.pieces > 0;
      for (ago::ir::node const& n : c.optimized.nodes) attentions[0] += n.kind == ago::op::attention_values;
      attentions[1] += c.attentions;
      for (int how = 0; how < 5; ++how) tilings[how] += c.tilings[how];
      ++variants[int(c.target)];
    }
  }
  for (int k = 0; k <= int(ago::op::to_nchw); ++k) {
    CAPTURE(std::string(name_of(ago::op(k))));
    CHECK(nodes[k] >= often);
  }
  CHECK(variants[int(ago::isa::scalar)] >= frequent);
  CHECK(tuned >= frequent);
  CHECK(pieces >= often);
  CHECK(attentions[1] >= frequent);
  CHECK(attentions[0] - attentions[1] >= frequent);  // as separate products
  for (int how = 0; how < 5; ++how) {
    CAPTURE(std::string(name_of(ago::tiling(how))));
    CHECK(tilings[how] >= often);
  }
}
