// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints how each policy partitions the networks: the tables of docs/partitioning*.md.
#include "partitions/gains.hpp"
#include "partitions/moved.hpp"
#include "partitions/published.hpp"
#include "partitions/relay_mobilevit.hpp"
#include "partitions/scaling.hpp"

#include <ago/partition/opened.hpp>
#include <ago/partition/statistics.hpp>
#include <ago/passes/optimized.hpp>
#include <ago/simd/map.hpp>  // what the primitives of opened operators compute
#include <ago/simd/math.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace {

/// The network's primitives in the policy's groups.
template <auto const& Net>
auto partition_of(ago::policy p) {
  constexpr auto const& g = ago::passes::optimized<Net>::value;
  static constexpr ago::ir::graph_size size = ago::passes::size_of_opened(g, {});
  return ago::partition::with_policy(p, []<class Policy>() {  // operators may be computed again
    return ago::partition::partition_of_primitives<Policy, size.nodes * 5 / 4, size.edges * 5 / 4>(g);
  });
}

/// Calls print.operator()<network>(name) for each network at 224, BERT-tiny with 128 tokens.
void for_each_at_224(auto const& print) {
  print.template operator()<networks::mobilenet_v2<224>>("MobileNet-V2");
  print.template operator()<networks::mnasnet<224>>("MnasNet");
  print.template operator()<networks::squeezenet<224>>("SqueezeNet");
  print.template operator()<networks::shufflenet_v2<224>>("ShuffleNet-V2");
  print.template operator()<networks::mobilevit_s<224>>("MobileViT-S");
  print.template operator()<networks::bert_tiny<128>>("BERT-tiny");
}

template <auto const& Net>
void print_policies(char const* name) {
  for (int i = 0; i < ago::partition::policies; ++i) {
    auto const p = partition_of<Net>(ago::policy(i));
    auto const s = ago::partition::statistics_of(p.graph, p.partition.subgraphs),
               m = ago::partition::statistics_of(p.graph, p.partition.minis);
    std::printf("| %s | %s | %d / %d | %d | %.0f / %.0f / %.2f | %d | %d of %d | %d of %d | %d / %d of %d | %.1f |\n",
                i == 0 ? name : "", name_of(ago::policy(i)), s.groups, m.groups, s.trivial, s.mean / 1000,
                s.median / 1000, s.jain, s.most_complex, s.pairs, s.possible_pairs, s.triples, s.possible_triples,
                s.broken_epilogues, m.broken_epilogues, s.epilogues, double(s.bytes_removed) / 1e6);
  }
}

void policies() {
  std::puts(
      "| network | policy | subgraphs / minis | trivial | mean / median / Jain | complex | pairs | triples | "
      "broken epilogues | removable MB |\n|---|---|---|---|---|---|---|---|---|---|");
  for_each_at_224([] < auto const& Net > (char const* name) { print_policies<Net>(name); });
}

template <auto const& Net>
void print_traffic(char const* name, int size) {
  ago::partition::partition_statistics best{};
  std::printf("| %s | %d |", name, size);
  for (int i = 0; i < ago::partition::policies; ++i) {
    auto const p = partition_of<Net>(ago::policy(i));
    auto const s = ago::partition::statistics_of(p.graph, p.partition.subgraphs);
    std::printf(" %.2f |", double(s.bytes_removed) / 1e6);
    if (ago::policy(i) == ago::policy::ago) best = s;
  }
  std::printf(" %d of %d | %d of %d |\n", best.triples, best.possible_triples, best.broken_epilogues, best.epilogues);
}

/// Prints the head of a table of networks, with a column for each policy and `more` of them.
void print_head(std::initializer_list<char const*> more = {}) {
  std::printf("| network | size |");
  for (int i = 0; i < ago::partition::policies; ++i) std::printf(" %s |", name_of(ago::policy(i)));
  for (char const* name : more) std::printf(" %s |", name);
  std::printf("\n|---|---|");
  for (std::size_t i = 0; i < ago::partition::policies + more.size(); ++i) std::printf("---|");
  std::puts("");
}

/// Calls print.operator()<network>(name, size) for each row.
void for_each_network(auto const& print) {
  print.template operator()<networks::mobilenet_v2<224>>("MobileNet-V2", 224);
  print.template operator()<networks::mobilenet_v2<112>>("", 112);
  print.template operator()<networks::mobilenet_v2<56>>("", 56);
  print.template operator()<networks::mnasnet<224>>("MnasNet", 224);
  print.template operator()<networks::mnasnet<112>>("", 112);
  print.template operator()<networks::mnasnet<56>>("", 56);
  print.template operator()<networks::squeezenet<224>>("SqueezeNet", 224);
  print.template operator()<networks::squeezenet<112>>("", 112);
  print.template operator()<networks::squeezenet<56>>("", 56);
  print.template operator()<networks::shufflenet_v2<224>>("ShuffleNet-V2", 224);
  print.template operator()<networks::shufflenet_v2<112>>("", 112);
  print.template operator()<networks::shufflenet_v2<56>>("", 56);
  print.template operator()<networks::mobilevit_s<256>>("MobileViT-S", 256);
  print.template operator()<networks::mobilevit_s<224>>("", 224);
  print.template operator()<networks::bert_tiny<128>>("BERT-tiny", 128);
}

void traffic() {
  print_head({"triples", "broken epilogues"});
  for_each_network([] < auto const& Net > (char const* name, int size) { print_traffic<Net>(name, size); });
}

void moved(ago::device const& on) {
  print_head();
  for_each_network([&] < auto const& Net > (char const* name, int size) {
    bench::with_roomy_graph<Net>([&](auto const& g) { bench::print_moved(name, size, g, on); });
  });
}
void moved_on_a55() { moved(ago::cortex_a55); }
void moved_on_a76() { moved(ago::cortex_a76); }

void gains(ago::device const& on) {
  bench::print_head_of_gains();
  for_each_at_224([&] < auto const& Net > (char const* name) {
    bench::with_roomy_graph<Net>([&](auto const& g) { bench::print_gains(name, g, on); });
  });
}
void gains_on_a55() { gains(ago::cortex_a55); }
void gains_on_a76() { gains(ago::cortex_a76); }

/// Section VI.B: the published rows, and the same network as represented by Relay and by this library.
void mobilevit() {
  std::puts(
      "| partition | operators | limit Td | subgraphs | trivial | mean | median | Jain |\n"
      "|---|---|---|---|---|---|---|---|");
  auto const theirs = [](bench::published_row const& r) {
    std::printf("| %s | not given | not given | %d | %s | %d | %d | %.2f |\n", r.name, r.groups,
                r.trivial < 0 ? "not given" : std::to_string(r.trivial).c_str(), r.mean, r.median, r.jain);
  };
  auto const ours = [](std::string const& name, int operators, std::string const& limit, auto const& s) {
    std::printf("| %s | %d | %s | %d | %d | %.0f | %.0f | %.2f |\n", name.c_str(), operators, limit.c_str(), s.groups,
                s.trivial, s.mean / 1000, s.median / 1000, s.jain);
  };
  auto const relay = bench::relay_mobilevit(bench::mobilevit_s_224);
  auto const of_relay = [&](char const* name, std::string const& limit, auto const& groups) {
    ago::partition::partition_statistics s;
    ago::partition::weigh(s, quotient(relay.operators, groups));
    ours(name, relay.operators.count, limit, s);
  };
  theirs(bench::published[0]);
  of_relay("`fuse_ops`, Relay's graph", "none", fuse_ops(relay));
  theirs(bench::published[1]);
  for (long const limit : {400, 550, 600})
    of_relay("`cluster`, Relay's graph", std::to_string(limit),
             ago::partition::cluster(relay.operators, limit * 1000, INT_MAX, ago::partition::affix::component));
  for (auto const policy : {ago::policy::fuse_ops, ago::policy::paper, ago::policy::ago}) {
    auto const p = partition_of<networks::mobilevit_s<224>>(policy);
    ours('`' + std::string(name_of(policy)) + '`', p.graph.node_count - p.graph.input_count,
         policy == ago::policy::fuse_ops ? "none" : "2,000",
         ago::partition::statistics_of(p.graph, p.partition.subgraphs));
  }
}

struct table {
  std::string_view name;
  void (*print)();
};
constexpr table tables[] = {{"policies", policies},
                            {"traffic", traffic},
                            {"moved_on_a55", moved_on_a55},
                            {"moved_on_a76", moved_on_a76},
                            {"gains_on_a55", gains_on_a55},
                            {"gains_on_a76", gains_on_a76},
                            {"mobilevit", mobilevit},
                            {"scaling", bench::print_scaling},
                            {"scaling_networks", bench::print_scaling_networks}};

}  // namespace

int main(int count, char** words) try {
  for (table const& t : tables)
    if (count == 2 && words[1] == t.name) return t.print(), std::fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
  std::fprintf(stderr, "usage: partitions <table>, one of");
  for (table const& t : tables) std::fprintf(stderr, " %.*s", int(t.name.size()), t.name.data());
  std::fprintf(stderr, "\n%s\n", count == 2 ? "there is no such table" : "exactly one table must be given");
  return 2;
} catch (std::exception const& why) {
  std::fprintf(stderr, "partitions: %s\n", why.what());
  return EXIT_FAILURE;
}
