// Generated networks: ago::model against the reference executor on the graph as recorded.
#include <doctest/doctest.h>

#include <reference/executor.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "guarded.hpp"
#include "large.hpp"
#include "networks.hpp"
#include "subject.hpp"

namespace {

using differential::compiled;
using differential::edge;
using differential::guarded_floats;
using differential::subject;

/// |result - reference| may be this many times the executor's estimate of float32's error. The estimate takes roundings
/// for independent, and a library function for correctly rounded; the largest factor seen is 5.
constexpr double tolerance = 16;

using outputs = std::vector<std::vector<float>>;

/// Where a network's parameters lie, what they are used for, and that nothing is left out.
class random_parameters {
 public:
  random_parameters(reference::graph_view const& g, std::mt19937& random) : random_(random) {
    all_.resize(std::size_t(g.parameters), std::numeric_limits<float>::quiet_NaN());
    for (int v = g.input_count; v < g.size(); ++v) {
      ago::node const& n = g.nodes[std::size_t(v)];
      int const in = g.nodes[std::size_t(g.operand(v))].out.c;
      int const depth = (n.kind == ago::op::depthwise ? 1 : in / n.groups) * n.win.kernel_h * n.win.kernel_w;
      if (n.weight >= 0) fill(n.weight, n.out.c * depth, 0, std::sqrt(3.f / float(depth)));
      if (n.shift >= 0) fill(n.shift, n.out.c, 0, .5f);
      if (n.norm >= 0) {
        fill(n.norm, n.out.c, .5f, 1);
        fill(n.norm + n.out.c, 2 * n.out.c, 0, .5f);
        fill(n.norm + 3 * n.out.c, n.out.c, .75f, .5f);
      }
    }
  }
  std::vector<float> const& all() const { return all_; }
  /// Every parameter belongs to exactly one layer.
  bool exact() const { return !overlap_ && std::none_of(all_.begin(), all_.end(), [](float x) { return std::isnan(x); }); }

 private:
  void fill(int first, int count, float middle, float reach) {
    std::uniform_real_distribution<float> uniform(middle - reach, middle + reach);
    for (float& x : std::span(all_).subspan(std::size_t(first), std::size_t(count))) {
      overlap_ = overlap_ || !std::isnan(x);
      x = uniform(random_);
    }
  }
  std::mt19937& random_;
  std::vector<float> all_;
  bool overlap_ = false;
};

/// What is fed to a network, and what should come out.
struct experiment {
  subject const& network;
  std::vector<float> weights;
  std::vector<std::vector<float>> inputs;
  std::vector<reference::value> expected;
};

/// The caller's side of one run: every buffer at the given edge of accessible memory.
class caller {
 public:
  caller(experiment const& e, edge where) : experiment_(e), weights_(e.weights.size(), where) {
    std::copy(e.weights.begin(), e.weights.end(), weights_.data());
    for (auto const& in : e.inputs) {
      inputs_.emplace_back(in.size(), where);
      std::copy(in.begin(), in.end(), inputs_.back().data());
      in_.push_back(inputs_.back().data());
    }
    for (auto const& out : e.expected) {
      outputs_.emplace_back(out.exact.size(), where);
      out_.push_back(outputs_.back().data());
    }
  }

  float const* weights() const { return weights_.data(); }
  float const* const* inputs() const { return in_.data(); }
  float* const* outputs() const { return out_.data(); }

  /// The results; the outputs are forgotten for the next run.
  ::outputs take() {
    ::outputs all;
    for (auto const& out : outputs_) {
      all.emplace_back(out.values().begin(), out.values().end());
      std::fill(out.values().begin(), out.values().end(), std::bit_cast<float>(guarded_floats::pattern));
    }
    return all;
  }
  /// Nothing was written but the outputs.
  bool intact() const {
    auto const same = [](guarded_floats const& a, std::vector<float> const& b) {
      return a.intact() && std::equal(b.begin(), b.end(), a.data());
    };
    bool good = same(weights_, experiment_.weights);
    for (std::size_t i = 0; i < inputs_.size(); ++i) good = good && same(inputs_[i], experiment_.inputs[i]);
    for (auto const& out : outputs_) good = good && out.intact();
    return good;
  }

 private:
  experiment const& experiment_;
  guarded_floats weights_;
  std::vector<guarded_floats> inputs_, outputs_;
  std::vector<float const*> in_;
  std::vector<float*> out_;
};

bool identical(outputs const& a, outputs const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& x, auto const& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  });
}

/// Largest deviation in units of the estimated error, over all outputs; reports the first element that is too far off.
double compare(outputs const& got, std::vector<reference::value> const& expected) {
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    reference::value const& e = expected[k];
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = got[k].size(); i-- > 0;) {
      double const off = std::abs(got[k][i] - e.exact[i]), smallest = std::numeric_limits<float>::min();
      if (off <= tolerance * e.error[i] + smallest) {
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
outputs run_program(compiled const& c, experiment const& e, edge where) {
  caller user(e, where);
  guarded_floats packed(c.packed_floats, where), arena(c.arena_floats, where);
  c.pack(user.weights(), packed.data());
  std::vector<float> const before(packed.values().begin(), packed.values().end());
  CHECK_MESSAGE(std::none_of(before.begin(), before.end(), [](float x) { return std::isnan(x); }),
                "pack left floats unwritten");
  c.run({packed.data(), arena.data(), user.inputs(), user.outputs()});
  outputs const first = user.take();
  c.run({packed.data(), arena.data(), user.inputs(), user.outputs()});
  CHECK_MESSAGE(identical(first, user.take()), "the second run differs");
  CHECK_MESSAGE((user.intact() && packed.intact() && arena.intact()), "memory of others was written");
  CHECK_MESSAGE(std::memcmp(before.data(), packed.data(), before.size() * sizeof(float)) == 0, "a run changed the packed weights");
  return first;
}

/// model: its own workspace, then one of the caller's that is full of NaN.
void run_model(compiled const& c, experiment const& e, outputs const& expected) {
  caller user(e, edge::end);
  guarded_floats memory(c.model_bytes / sizeof(float), edge::end), workspace(c.workspace_bytes / sizeof(float), edge::end);
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

experiment prepare(subject const& s) {
  std::mt19937 random(unsigned(s.number) + 1);
  random_parameters const weights(s.graph, random);
  REQUIRE_MESSAGE(weights.exact(), "parameters overlap or leave gaps");
  experiment e{s, weights.all(), {}, {}};
  std::uniform_real_distribution<float> uniform(-2, 2);
  for (int v = 0; v < s.graph.input_count; ++v) {
    e.inputs.emplace_back(std::size_t(s.graph.nodes[std::size_t(v)].out.count()));
    for (float& x : e.inputs.back()) x = uniform(random);
  }
  auto const values = reference::run_all(s.graph, e.weights, e.inputs);
  for (int const v : s.graph.outputs) {
    e.expected.push_back(values[std::size_t(v)]);
    for (double const y : e.expected.back().exact) REQUIRE(std::abs(y) < 1e30);
  }
  return e;
}

std::vector<subject> const& all_subjects() {
  static std::vector<subject> const all = [] {
    std::vector<subject> list = differential::all_networks();
    differential::add_large_networks(list);
    return list;
  }();
  return all;
}

}  // namespace

TEST_CASE("every generated network computes what its graph means, and touches nothing else") {
  reference::define(&ago::user_map<std::remove_const_t<decltype(differential::soft_sign)>>,
                    [](double x) { return x / (1 + std::abs(x)); });
  reference::define(&ago::user_map<std::remove_const_t<decltype(differential::bent)>>,
                    [](double x) { return (x > 0 ? x : x / 4) - (std::abs(x) < 1 ? x * x : 1); });
  reference::define(&ago::user_map<std::remove_const_t<decltype(differential::gaussian)>>,
                    [](double x) { return std::exp(-x * x); });
  double worst = 0;
  for (subject const& s : all_subjects()) {
    CAPTURE(s.number);
    experiment const e = prepare(s);
    outputs untuned;
    for (compiled const& c : s.variants) {
      CAPTURE(std::string(name_of(c.target)));
      CAPTURE(c.tuned_steps);
      check_passes(c, e);
      outputs const got = run_program(c, e, edge::end);
      worst = std::max(worst, compare(got, e.expected));
      outputs const elsewhere = run_program(c, e, edge::begin);
      CHECK_MESSAGE(identical(got, elsewhere), "the result depends on addresses");
      if (c.tuned_steps == 0 && c.target == ago::native_isa) untuned = got;
      if (c.tuned_steps > 0) CHECK_MESSAGE(identical(got, untuned), "the result depends on the schedule");
      run_model(c, e, got);
    }
  }
  MESSAGE("largest deviation: " << worst << " times the estimate, " << tolerance << " are allowed");
}

TEST_CASE("the generated networks cover every operator, on every instruction set that they are compiled for") {
  int nodes[int(ago::op::to_nchw) + 1]{}, variants[int(ago::isa::neon) + 1]{}, tuned = 0;
  for (subject const& s : all_subjects()) {
    for (ago::node const& n : s.graph.nodes) ++nodes[int(n.kind)];
    for (compiled const& c : s.variants) {
      if (c.tuned_steps > 0) CHECK(c.tuned_steps == c.steps);
      ++(c.tuned_steps > 0 ? tuned : variants[int(c.target)]);
    }
  }
  for (int k = 0; k <= int(ago::op::to_nchw); ++k) {
    CAPTURE(std::string(name_of(ago::op(k))));
    CHECK(nodes[k] >= 10);
  }
  CHECK(variants[int(ago::native_isa)] == int(all_subjects().size()));
  CHECK(variants[int(ago::isa::scalar)] >= 10);
  CHECK(tuned >= 10);
}
