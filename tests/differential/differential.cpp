// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generated networks: ago::model against the reference executor on the graph as recorded.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "caller.hpp"
#include "experiment.hpp"
#include "guarded.hpp"
#include "large.hpp"
#include "networks.hpp"
#include "subject.hpp"

namespace {

using namespace differential;

/// |result - reference| may be this many times the executor's estimate of float32's error. The estimate takes roundings
/// for independent, and a library function for correctly rounded; the largest factor seen is 5.
constexpr double tolerance = 10;
/// With Winograd: a small result may have large neighbours within its tile, which the estimate knows nothing of.
constexpr double winograd_tolerance = 40;

bool identical(results const& a, results const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& x, auto const& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  });
}

/// Largest deviation in units of the estimated error, over all outputs; reports the first element that is too far off.
double compare(results const& got, std::vector<reference::value> const& expected, double allowed) {
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    reference::value const& e = expected[k];
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = got[k].size(); i-- > 0;) {
      double const off = std::abs(got[k][i] - e.exact[i]), smallest = std::numeric_limits<float>::min();
      if (off <= allowed * e.error[i] + smallest) {
        if (off > smallest) worst = std::max(worst, off / e.error[i]);
      } else {
        ++wrong;
        first = i;
      }
    }
    if (wrong == 0) continue;
    long const c = long(first) % e.extents.c, pixel = long(first) / e.extents.c;
    FAIL_CHECK("output " << k << " {" << e.extents.n << ", " << e.extents.h << ", " << e.extents.w << ", "
                         << e.extents.c << "}: " << wrong << " wrong elements, first: pixel " << pixel << " channel "
                         << c << ": " << got[k][first] << ", not " << e.exact[first] << " +- " << e.error[first]);
  }
  return worst;
}

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
  CHECK_MESSAGE((user.intact() && packed.intact() && arena.intact()), "memory of others was written");
  bool const same = std::memcmp(before.data(), packed.data(), before.size() * sizeof(float)) == 0;
  CHECK_MESSAGE(same, "a run changed the packed weights");
  return first;
}

/// model: its own workspace, then one of the caller's that is full of NaN.
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
  CHECK_MESSAGE((user.intact() && memory.intact() && workspace.intact()), "memory of others was written");
  c.destroy_model(model);
}

/// The passes keep the meaning: in double precision only the order of operations is left.
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

template <auto const& Lambda>
void define(auto twin) {
  reference::define(&ago::user_map<std::remove_cvref_t<decltype(Lambda)>>, +twin);
}

/// The double precision twins of the functions that are called in generated networks.
void define_functions() {
  namespace f = ago::detail;
  define<soft_sign>([](double x) { return x / (1 + std::abs(x)); });
  define<bent>([](double x) { return (x > 0 ? x : x / 4) - (std::abs(x) < 1 ? x * x : 1); });
  define<gaussian>([](double x) { return std::exp(-x * x); });
  define<f::elu_function>([](double x, double a, double b) { return (x < 0 ? a * std::expm1(x) : x) * b; });
  define<f::celu_function>([](double x, double a, double) { return x < 0 ? a * std::expm1(x / a) : x; });
  define<f::softplus_function>([](double x) { return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x))); });
  define<f::mish_function>(
      [](double x) { return x * std::tanh(std::max(x, 0.) + std::log1p(std::exp(-std::abs(x)))); });
  define<f::reciprocal_root_above>([](double x, double a, double) { return 1 / std::sqrt(x + a); });
  define<f::root_at_least>([](double x, double a, double) { return std::max(std::sqrt(x), a); });
  define<f::affine_function>([](double x, double a, double b) { return a * x + b; });
  define<f::power_function>([](double x, double a, double) { return std::pow(x, a); });
  define<f::affine_sigmoid_function>([](double x, double a, double b) { return std::clamp(a * x + b, 0., 1.); });
}

std::vector<subject> const& all_subjects() {
  static std::vector<subject> const all = [] {
    std::vector<subject> list = all_networks();
    add_large_networks(list);
    return list;
  }();
  return all;
}

}  // namespace

TEST_CASE("every generated network computes what its graph means, and touches nothing else") {
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
  MESSAGE("largest deviation: " << worst << " times the estimate, " << tolerance << " are allowed; with Winograd "
                                << worst_winograd << ", " << winograd_tolerance << " are allowed");
}

TEST_CASE("the generated networks cover every operator, on every instruction set that they are compiled for") {
  int nodes[int(ago::op::to_nchw) + 1]{}, variants[int(ago::isa::neon) + 1]{};
  int tuned = 0, tilings[5]{}, attentions[2]{}, pieces = 0;
  for (subject const& s : all_subjects()) {
    for (ago::node const& n : s.graph.nodes) ++nodes[int(n.kind)];
    for (compiled const& c : s.variants) {
      if (c.tuned_steps > 0) CHECK(c.tuned_steps == c.kernels);
      tuned += c.tuned_steps > 0;
      pieces += c.pieces > 0;
      for (ago::node const& n : c.optimized.nodes) attentions[0] += n.kind == ago::op::attention_values;
      attentions[1] += c.attentions;
      for (int how = 0; how < 5; ++how) tilings[how] += c.tilings[how];
      ++variants[int(c.target)];
    }
  }
  for (int k = 0; k <= int(ago::op::to_nchw); ++k) {
    CAPTURE(std::string(name_of(ago::op(k))));
    CHECK(nodes[k] >= 10);
  }
  CHECK(variants[int(ago::isa::scalar)] >= 10);
  CHECK(tuned >= 10);
  CHECK(pieces >= 10);
  CHECK(attentions[1] >= 10);
  CHECK(attentions[0] - attentions[1] >= 10);  // by their products
  for (int how = 0; how < 5; ++how) {
    CAPTURE(std::string(name_of(ago::tiling(how))));
    CHECK(tilings[how] >= 5);
  }
}
