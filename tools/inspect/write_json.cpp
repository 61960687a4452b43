// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "writers.hpp"

#include <nlohmann/json.hpp>

namespace ago::tools {

void write_json(std::ostream& out, inspection const& i) {
  partition_statistics const& s = i.statistics;
  nlohmann::ordered_json const figures{
      {"network", i.network},
      {"size", i.size > 0 ? nlohmann::ordered_json(i.size) : nlohmann::ordered_json(nullptr)},
      {"policy", name_of(i.policy)},
      {"subgraphs", s.groups},
      {"trivial", s.trivial},
      {"mean", s.mean / 1000},
      {"median", s.median / 1000},
      {"jain", s.jain},
      {"complex_per_subgraph_max", s.most_complex},
      {"pairs_captured", s.pairs},
      {"pairs_possible", s.possible_pairs},
      {"triples_captured", s.triples},
      {"triples_possible", s.possible_triples},
      {"broken_epilogues", s.broken_epilogues},
      {"bytes_removed", s.bytes_removed},
      {"steps", i.steps.size()},
      {"arena_bytes", i.arena_bytes},
  };
  out << figures.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace ago::tools
