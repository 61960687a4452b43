// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"

#include <cstdio>

namespace ago::tools {

std::string fixed(double x, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, x);
  return text;
}

std::string grouped(long x) {
  std::string text = std::to_string(x);
  for (int at = int(text.size()) - 3; at > (x < 0); at -= 3) text.insert(std::size_t(at), 1, ' ');
  return text;
}

std::vector<figure> figures_of(inspection const& i) {
  partition::partition_statistics const& s = i.statistics;
  auto const of = [](int some, int all) { return std::to_string(some) + " of " + std::to_string(all); };
  std::vector<figure> all{
      {"subgraphs", "groups of operators within which values may stay in caches", std::to_string(s.groups)},
      {"trivial subgraphs", "lighter than 20", std::to_string(s.trivial)},
      {"mean weight", "of a subgraph, by Eq. (1)", fixed(s.mean / 1000, 1)},
      {"median weight", "of the subgraphs, by Eq. (1)", fixed(s.median / 1000, 1)},
      {"Jain's index", "of the weights: 1 if all are equal", fixed(s.jain, 3)},
      {"complex operators", "of a subgraph, at most", std::to_string(s.most_complex)},
      {"intensive pairs", "within one subgraph, of those in the network", of(s.pairs, s.possible_pairs)},
      {"intensive triples", "within one subgraph, of those in the network", of(s.triples, s.possible_triples)},
      {"broken epilogues", "complex operators separated from their epilogue", of(s.broken_epilogues, s.epilogues)},
      {"removable MB", "stores and loads of values that one pass for each subgraph would not need",
       fixed(double(s.bytes_removed) / 1e6, 1)},
      {"mini-subgraphs", "groups of operators computed by one kernel each", std::to_string(i.minis)},
      {"steps", "kernels and pipelines that run one after another", std::to_string(i.steps.size())},
      {"arena, bytes", "memory for all values except inputs and outputs", grouped(i.arena_bytes)},
      {"weights, bytes", "packed", grouped(i.weight_bytes)},
      {"MB used", "values and weights that the steps read and write, each once",
       fixed(double(i.account().bytes()) / 1e6, 1)},
      {"MB beyond L1", "moved into L1, by a model of the caches", fixed(i.moved().beyond_l1 / 1e6, 1)},
      {"MB beyond L2", "moved into L2, likewise", fixed(i.moved().beyond_l2 / 1e6, 1)},
      {"million multiply-adds", "by the direct algorithm", fixed(double(i.account().multiply_adds) / 1e6, 1)},
      {"predicted us", "of one inference on one core, by a model of its arithmetic and of its caches",
       fixed(i.microseconds(i.cycles()), 1)},
  };
  if (i.measured) {
    all.push_back({"measured us", "of one inference on this machine, median", fixed(i.measured->median_us, 1)});
    all.push_back({"measured us, least", "of the same runs", fixed(i.measured->least_us, 1)});
    all.push_back({"sum of steps, us", "measured in other runs, each step by itself, medians",
                   fixed(i.measured_steps().median_us, 1)});
  }
  return all;
}

}  // namespace ago::tools
