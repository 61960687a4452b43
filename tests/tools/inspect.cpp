// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inspector's results: compared with results by hand, and on random networks.
#include "partition/random_network.hpp"

#include <inspect.hpp>
#include <networks.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace {

using namespace ago::tools;
using ago::isa;
using ago::op;
using ago::policy;

auto inverted_residual() {
  test::builder<30, 40, 4> b;
  int const x = b.input({1, 14, 14, 16});
  b.output(b.inverted_residual(x, 6));  // pointwise, bias, relu6, depthwise, bias, relu6, pointwise, bias, add
  return b.g;
}

TEST_CASE("an inverted residual, operator by operator") {
  inspection const i = inspect(inverted_residual(), {.target = isa::avx2, .policy = policy::ago_ni});
  CHECK((i.policy == "ago-ni" && i.target == isa::avx2));
  REQUIRE(i.nodes.size() == 10);
  CHECK((i.inputs == 1 && i.operators() == 9 && i.edges.size() == 10));
  CHECK((i.nodes[0].kind == op::input && i.nodes[0].subgraph == -1 && i.nodes[0].step == -1));
  CHECK((i.nodes[0].weight == 0 && i.nodes[0].multiply_adds == 0));
  CHECK(i.nodes[1].multiply_adds == 14 * 14 * 16 * 96);
  CHECK(i.nodes[4].multiply_adds == 14 * 14 * 96 * 9);
  CHECK(i.nodes[7].multiply_adds == 14 * 14 * 96 * 16);
  CHECK(i.nodes[4].details == "3x3");
  CHECK(i.nodes[2].weight == 31'789);  // log 14 * log 14 * log 96 = 31.7890
  CHECK((i.nodes[9].is_output && !i.nodes[8].is_output));
  for (int v = 1; v < 10; ++v) {
    CHECK(i.nodes[std::size_t(v)].step == (v - 1) / 3);
    CHECK(i.nodes[std::size_t(v)].mini == (v - 1) / 3);
  }
  CHECK((i.edges[7].from == 7 && i.edges[7].to == 8 && i.edges[8].from == 0 && i.edges[8].to == 9));
  CHECK((i.minis == 3 && i.statistics.possible_pairs == 2 && i.statistics.possible_triples == 1));
}

TEST_CASE("the cost of the steps of an inverted residual") {
  inspection const i = inspect(inverted_residual(), {.target = isa::avx2, .policy = policy::ago_ni});
  REQUIRE(i.steps.size() == 3);
  long const narrow = 14 * 14 * 16, wide = 14 * 14 * 96;
  inspected_step const &expand = i.steps[0], &filter = i.steps[1], &project = i.steps[2];
  CHECK((expand.kernel() == "pointwise" && expand.layers() == "14x14x16 > 14x14x96"));
  CHECK((expand.parts[0].epilogue == "bias, relu6" && project.parts[0].epilogue == "bias, add"));
  CHECK(expand.account.multiply_adds == wide * 16);
  CHECK(expand.account.bytes_read == 4 * (narrow + 16 * 96 + 96));
  CHECK(expand.account.bytes_written == 4 * wide);
  CHECK(filter.account.bytes_read == 4 * (wide + 9 * 96 + 96));
  CHECK(project.account.bytes_read == 4 * (wide + 96 * 16 + 16 + narrow));  // it adds the input
  CHECK(project.account.bytes_written == 4 * narrow);
  double const at_peak = wide * 16 / 16.;  // two registers of 8 per cycle
  CHECK((expand.cycles > at_peak && expand.cycles < 2 * at_peak && project.cycles > at_peak));
  CHECK(filter.cycles > 9 * wide / 16.);
  CHECK(i.cycles() == expand.cycles + filter.cycles + project.cycles);
  CHECK(i.microseconds(i.cycles()) == i.cycles() / i.device.megahertz);
  CHECK(i.arena_bytes == 4 * 2 * wide);  // input and result belong to the caller
  CHECK(i.account().bytes_written == 4 * (2 * wide + narrow));
}

TEST_CASE("a pipeline is one step, and its inner values cause no memory traffic") {
  test::builder<30, 40, 4> b;
  b.output(b.inverted_residual(b.input({1, 112, 112, 16}), 6));
  inspection const apart = inspect(b.g, {.target = isa::avx2, .policy = policy::ago_ni}),
                   i = inspect(b.g, {isa::avx2, policy::ago});
  REQUIRE((i.steps.size() == 1 && apart.steps.size() == 3));
  CHECK(i.steps[0].kernel() == "rows: pointwise, depthwise, pointwise");
  CHECK(i.steps[0].tiles.how == ago::tiling::rows);
  CHECK(i.steps[0].nodes == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(i.account().multiply_adds == apart.account().multiply_adds);
  CHECK(apart.account().bytes() - i.account().bytes() == 4 * 4 * 112 * 112 * 96);  // two values, written and read
  CHECK(i.arena_bytes < apart.arena_bytes / 10);
}

TEST_CASE("attention, views, Winograd: operators computed by a step, and operators without one") {
  inspection const bert = inspect(find_network("bert_tiny")->trace(128)->value);
  auto const of_kind = [](inspection const& i, op kind) {
    for (auto const& n : i.nodes)
      if (n.kind == kind) return n;
    return inspected_node{};
  };
  int const attention = of_kind(bert, op::attention_scores).step;
  REQUIRE(attention >= 0);
  inspected_step const& s = bert.steps[std::size_t(attention)];
  CHECK((s.kernel() == "attention" && s.account.multiply_adds == 2 * 128 * 128 * 128));
  CHECK((of_kind(bert, op::softmax).step == attention && of_kind(bert, op::attention_values).step == attention));
  CHECK(of_kind(bert, op::attention_scores).details == "2 heads");

  inspection const shuffle = inspect(find_network("shufflenet_v2")->trace(224)->value);
  CHECK((of_kind(shuffle, op::channel_shuffle).step == -1 && of_kind(shuffle, op::slice).step == -1));
  inspection const squeeze = inspect(find_network("squeezenet")->trace(224)->value, {isa::avx512});
  inspected_step const& w = squeeze.steps[3];
  REQUIRE(w.kernel() == "winograd_4");
  double const at_peak = double(w.account.multiply_adds) / 4 / 32;  // of Winograd's products
  CHECK((w.cycles > at_peak && w.cycles < 3 * at_peak));
}

/// Where another policy's plan moves fewer bytes, or takes less time, but no less than these shares of ours.
struct exception {
  char const* network;
  int size;
  ago::device on;
  double bytes, time = .998;
};
// Here bytes and time contradict each other, and time decides: these plans have longer chains, and take as long or
// longer by prediction. In the last one, two products are joined, which is predicted, but not measured, to take longer.
constexpr exception exceptions[] = {
    {"mobilenet_v2", 224, ago::cortex_a76, .990}, {"mobilenet_v2", 112, ago::cortex_a55, .980},
    {"mobilenet_v2", 112, ago::cortex_a76, .997}, {"mobilenet_v2", 56, ago::cortex_a76, .993},
    {"mnasnet", 224, ago::cortex_a76, .982},      {"mnasnet", 112, ago::cortex_a55, .991},
    {"mnasnet", 56, ago::cortex_a76, .994},       {"mobilenet_v2", 112, ago::zen_4, .981},
    {"mnasnet", 224, ago::zen_4, .996},           {"shufflenet_v2", 224, ago::zen_4, .973},
    {"bert_tiny", 128, ago::zen_4, .999, .996}};

TEST_CASE(
    "no other policy's plan takes 0.2 % less time by prediction, or moves 0.1 % fewer bytes, on any network, "
    "size and device, with the exceptions above") {
  for (known_network const& n : known_networks())
    for (int const size : n.name == "mobilevit_s" ? std::vector{224, 256}
                          : n.usual_size == 128   ? std::vector{128}
                                                  : std::vector{224, 112, 56}) {
      auto const g = n.trace(size);
      for (ago::device const& on : {ago::cortex_a55, ago::cortex_a76, ago::zen_4}) {
        auto const plan_of = [&](policy p) {
          return inspect(g->value, {on == ago::zen_4 ? isa::avx512 : isa::neon, p, on});
        };
        double bytes = .999, time = .998;
        for (exception const& e : exceptions)
          if (e.network == n.name && e.size == size && e.on == on) bytes = e.bytes, time = e.time;
        inspection const ours = plan_of(policy::ago);
        CHECK(ours.moved().beyond_l2 > 0);
        for (int p = 0; p < ago::partition::policies; ++p) {
          CAPTURE(n.name + " under " + name_of(policy(p)));
          CAPTURE(size);
          CAPTURE(on.l2_bytes);
          inspection const theirs = plan_of(policy(p));
          CHECK(theirs.cycles() >= time * ours.cycles());
          CHECK(theirs.moved().beyond_l2 >= bytes * ours.moved().beyond_l2);
        }
      }
    }
}

/// Computes one chain in one pass: atom `first` and those after it, `count` in total.
struct one_chain {
  static inline int first, count;

  template <int V, int E, int O>
  static constexpr ago::partitions<V> partition(ago::ir::graph<V, E, O> const& g, ago::device const&) {
    ago::grouping<V> const atoms = ago::partition::atoms_of(g);
    int rep[ago::passes::slots<V>]{};
    for (int a = 0; a < atoms.count; ++a) rep[a] = a > first && a < first + count ? first : a;
    ago::grouping<V> const chains =
        compose(atoms, ago::partition::grouping_by<V>(rep, atoms.count), g.node_count - g.input_count);
    ago::partitions<V> r = ago::partition::ordered(g, ago::partition::dag_of(g), chains, atoms);
    for (int v = 0; v < g.node_count; ++v) r.chain_of[v] = r.subgraphs.of[v];
    return r;
  }
};

TEST_CASE(
    "the price of a chain is the predicted time that it saves, for those of MobileNet-V2 within a tenth on "
    "average") {
  auto const graph = find_network("mobilenet_v2")->trace(224);
  auto const& g = graph->value;
  auto const atoms = ago::partition::atoms_of(g);
  for (ago::device const& on : {ago::cortex_a55, ago::cortex_a76}) {
    auto const cycles = [&](int first, int count) {
      one_chain::first = first;
      one_chain::count = count;
      auto const plan = plan_of(g, {.target = isa::neon, .device = on}, ago::untuned,
                                [](auto const& f) { return f.template operator()<one_chain>(); });
      auto const moved = plan->moved();
      ago::plan::predicted_cycles sum;
      for (int k = 0; k < plan->steps(); ++k)
        sum +=
            predict_step(&plan->part(plan->first_part(k)), plan->groups.parts[k], plan->tiling_of(k), moved.of[k], on);
      return sum.sum();
    };
    double const alone = cycles(0, 1);
    double difference = 0, saved = 0;
    auto const values = chain_values_of(g, atoms, on);
    for (int a = 0; a < atoms.count; ++a)
      for (int count = 2; count <= ago::partition::max_chain; ++count) {
        if (values.saved[a][count - 2] <= 0) continue;
        double const price = double(values.saved[a][count - 2]) / ago::partition::quarter_price / 4;
        double const prediction = alone - cycles(a, count);
        difference += std::abs(price - prediction);
        saved += std::abs(prediction);
      }
    CAPTURE(on.l2_bytes);
    CAPTURE(difference / saved);
    CHECK(saved > alone / 10);
    CHECK(difference < saved / 10);
  }
}

TEST_CASE("on a Cortex-A55, the plans of five networks would move more bytes if every atom were a subgraph") {
  int more = 0;
  for (known_network const& n : known_networks()) {
    auto const g = n.trace(n.usual_size);
    auto const plan_of = [&](policy p) {
      return inspect(g->value, {.target = isa::neon, .policy = p, .device = ago::cortex_a55});
    };
    inspection const ours = plan_of(policy::ago), alone = plan_of(policy::ago_ni);  // by which atoms are computed alone
    CAPTURE(n.name);
    CHECK(std::all_of(alone.steps.begin(), alone.steps.end(), [](auto const& s) { return s.parts.size() == 1; }));
    more += ours.steps.size() < alone.steps.size() && ours.moved().beyond_l2 < alone.moved().beyond_l2;
  }
  CHECK(more >= 5);
}

TEST_CASE("names are those of named()") {
  inspection const i = inspect(find_network("mobilevit_s")->trace(224)->value);
  CHECK(std::count_if(i.nodes.begin(), i.nodes.end(), [](auto const& n) {
          return n.kind == op::layer_norm && n.name == "features.8.encoders.3.norm2";
        }) == 1);
}

TEST_CASE("random networks: every operator occurs, and sums are complete") {
  test::random r(7);
  for (int round = 0; round < 300; ++round) {
    auto const g = test::make_random_network(r, test::pick(r, 1, 60));
    policy const p = policy(test::pick(r, 0, ago::partition::policies - 1));
    ago::options o{.target = isa::avx2, .policy = p};
    o.horizontal_fusion = ago::horizontal_fusion::off;
    inspection const i = inspect(g, o);
    CAPTURE(round);
    CAPTURE(name_of(p));
    REQUIRE(int(i.nodes.size()) >= g.node_count);
    bool const changed = ago::tools::with_policy(
        p, [&]<class Policy>() { return ago::partition::recomputes<Policy> || ago::partition::opens_any<Policy>(g); });
    if (!changed) REQUIRE((int(i.nodes.size()) == g.node_count && int(i.edges.size()) <= g.edge_count));
    std::vector<int> operators(i.subgraphs.size()), computed(i.nodes.size());
    for (auto const& n : i.nodes)
      if (n.subgraph >= 0) ++operators[std::size_t(n.subgraph)];
    for (std::size_t k = 0; k < i.subgraphs.size(); ++k) CHECK(operators[k] == i.subgraphs[k].operators);
    for (auto const& s : i.steps) {
      CHECK(s.cycles > 0);
      for (int const v : s.nodes) {
        ++computed[std::size_t(v)];
        CHECK(i.nodes[std::size_t(v)].step >= 0);
        CHECK(i.nodes[std::size_t(v)].subgraph == s.subgraph);
      }
    }
    for (std::size_t v = 0; v < i.nodes.size(); ++v) {
      CHECK((computed[v] > 0) == (i.nodes[v].step >= 0));
      if (ago::ir::is_complex(i.nodes[v].kind)) CHECK(computed[v] > 0);
    }
    long sum = 0;
    for (auto const& n : i.nodes) sum += n.multiply_adds;
    CHECK(i.account().multiply_adds == sum);
  }
}

TEST_CASE("sizes that do not suit the layers are refused with the layer and the fault") {
  CHECK_THROWS_WITH_AS(
      find_network("squeezenet")->trace(5),
      doctest::Contains("layer 18, max_pool of source line 21: window exceeds input (expects 3, gets 1)"),
      std::invalid_argument);
  CHECK_THROWS_WITH_AS(find_network("mnasnet")->trace(100'000), doctest::Contains("too many elements"),
                       std::invalid_argument);
  CHECK(find_network("mobilenet_v3") == nullptr);
}

}  // namespace
