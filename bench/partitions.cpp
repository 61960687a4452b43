// Prints what each policy makes of the networks: the table of docs/partitioning.md.
#include <ago/graph/optimized.hpp>
#include <ago/partition/policy.hpp>
#include <ago/partition/statistics.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <cstdio>

namespace {

template <auto const& Net>
void print(char const* name) {
  auto const& g = ago::optimized<Net>::value;
  for (int i = 0; i < ago::policies; ++i) {
    auto const p = partition_by(ago::policy(i), g);
    auto const s = statistics_of(g, p.subgraphs), m = statistics_of(g, p.minis);
    std::printf("| %s | %s | %d / %d | %d | %.0f / %.0f / %.2f | %d | %d of %d | %d of %d | %d / %d of %d | %.1f |\n",
                i == 0 ? name : "", name_of(ago::policy(i)), s.groups, m.groups, s.trivial, s.mean / 1000,
                s.median / 1000, s.jain, s.most_complex, s.pairs, s.possible_pairs, s.triples, s.possible_triples,
                s.broken_epilogues, m.broken_epilogues, s.epilogues, double(s.bytes_removed) / 1e6);
  }
}

}  // namespace

int main() {
  std::printf("| network | policy | subgraphs / minis | trivial | mean / median / Jain | complex | pairs | triples | "
              "broken epilogues | MB removed |\n|---|---|---|---|---|---|---|---|---|---|\n");
  print<networks::mobilenet_v2<224>>("MobileNet-V2");
  print<networks::mnasnet<224>>("MnasNet");
  print<networks::squeezenet<224>>("SqueezeNet");
  print<networks::shufflenet_v2<224>>("ShuffleNet-V2");
  print<networks::mobilevit_s<224>>("MobileViT-S");
  print<networks::bert_tiny<128>>("BERT-tiny");
}
