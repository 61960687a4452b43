// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "writers.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace ago::tools {
namespace {

using json = nlohmann::ordered_json;

/// In one line. Names may contain any bytes: non-ASCII characters are escaped, invalid UTF-8 is replaced.
std::string line_of(json const& value) { return value.dump(-1, ' ', true, json::error_handler_t::replace); }

long whole(double bytes) { return std::lround(bytes); }

/// Predicted, to a nanosecond.
double microseconds(inspection const& i, double cycles) { return std::round(1e3 * i.microseconds(cycles)) / 1e3; }

/// Adds a measured time, if there is one.
json with_measured(json object, std::optional<measured_time> const& t) {
  if (!t) return object;
  object["measured_us"] = std::round(1e3 * t->median_us) / 1e3;
  object["measured_least_us"] = std::round(1e3 * t->least_us) / 1e3;
  return object;
}

json figures_of(inspection const& i) {
  partition::partition_statistics const& s = i.statistics;
  json const figures{
      {"network", i.network},
      {"size", i.size > 0 ? json(i.size) : json(nullptr)},
      {"policy", i.policy},
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
      {"pipelines", i.pipelines()},
      {"removed_rules", i.removed_rules},
      {"bytes_moved", whole(i.moved().beyond_l2)},
      {"bytes_moved_beyond_l1", whole(i.moved().beyond_l1)},
      {"predicted_us", microseconds(i, i.cycles())},
  };
  return with_measured(figures, i.measured);
}

json extents_of(shape const& s) { return {s.n, s.h, s.w, s.c}; }

json numbered_or_null(int number) { return number < 0 ? json(nullptr) : json(number); }

json operators_of(inspection const& i) {
  json all = json::array();
  for (inspected_node const& n : i.nodes)
    all.push_back({{"kind", name_of(n.kind)},
                   {"function", n.function},
                   {"name", n.name},
                   {"details", n.details},
                   {"extents", extents_of(n.out)},
                   {"layer", n.layer},
                   {"line", n.line},
                   {"weight", double(n.weight) / 1000},
                   {"multiply_adds", n.multiply_adds},
                   {"output", n.is_output},
                   {"subgraph", numbered_or_null(n.subgraph)},
                   {"mini", numbered_or_null(n.mini)},
                   {"step", numbered_or_null(n.step)}});
  return all;
}

json subgraphs_of(inspection const& i) {
  json all = json::array();
  for (std::size_t k = 0; k < i.subgraphs.size(); ++k) {
    json operators = json::array(), minis = json::array(), steps = json::array();
    for (std::size_t v = 0; v < i.nodes.size(); ++v) {
      if (i.nodes[v].subgraph != int(k)) continue;
      operators.push_back(v);
      if (std::find(minis.begin(), minis.end(), i.nodes[v].mini) == minis.end()) minis.push_back(i.nodes[v].mini);
    }
    long read = 0, written = 0;
    for (std::size_t s = 0; s < i.steps.size(); ++s) {
      if (i.steps[s].subgraph != int(k)) continue;
      steps.push_back(s);
      read += i.steps[s].account.bytes_read;
      written += i.steps[s].account.bytes_written;
    }
    json const subgraph{{"operators", operators},
                        {"minis", minis},
                        {"steps", steps},
                        {"weight", double(i.subgraphs[k].weight) / 1000},
                        {"bytes_read", read},
                        {"bytes_written", written},
                        {"predicted_cycles", i.subgraphs[k].cycles},
                        {"predicted_us", microseconds(i, i.subgraphs[k].cycles)}};
    all.push_back(with_measured(subgraph, i.measured ? std::optional(i.measured_steps(int(k))) : std::nullopt));
  }
  return all;
}

json minis_of(inspection const& i) {
  std::vector<json> operators(std::size_t(i.minis), json::array());
  std::vector<int> subgraph(std::size_t(i.minis), -1);
  for (std::size_t v = 0; v < i.nodes.size(); ++v) {
    if (i.nodes[v].mini < 0) continue;
    operators[std::size_t(i.nodes[v].mini)].push_back(v);
    subgraph[std::size_t(i.nodes[v].mini)] = i.nodes[v].subgraph;
  }
  json all = json::array();
  for (std::size_t m = 0; m < operators.size(); ++m)
    all.push_back({{"subgraph", numbered_or_null(subgraph[m])}, {"operators", operators[m]}});
  return all;
}

/// The farthest level of memory that a step uses.
char const* level_of(inspected_step const& s) {
  return s.moved.beyond_l2 > 0 ? "memory" : s.moved.beyond_l1 > 0 ? "L2" : "L1";
}

json steps_of(inspection const& i) {
  json all = json::array();
  for (inspected_step const& s : i.steps) {
    json kernels = json::array();
    for (inspected_part const& p : s.parts)
      kernels.push_back({{"kernel", name_of(p.what)},
                         {"tile", {p.tile.pixels, p.tile.vectors}},
                         {"epilogue", p.epilogue},
                         {"reads", extents_of(p.in)},
                         {"writes", extents_of(p.out)}});
    json const step{{"subgraph", numbered_or_null(s.subgraph)},
                    {"operators", s.nodes},
                    {"tiling", name_of(s.tiles.how)},
                    {"tile", s.tiles.tile},
                    {"kernels", kernels},
                    {"multiply_adds", s.account.multiply_adds},
                    {"bytes_read", s.account.bytes_read},
                    {"bytes_written", s.account.bytes_written},
                    {"bytes_moved", whole(s.moved.beyond_l2)},
                    {"bytes_moved_beyond_l1", whole(s.moved.beyond_l1)},
                    {"predicted_cycles", s.cycles},
                    {"predicted_us", microseconds(i, s.cycles)},
                    {"level", level_of(s)}};
    all.push_back(with_measured(step, s.measured));
  }
  return all;
}

json edges_of(inspection const& i) {
  json all = json::array();
  for (inspected_edge const& e : i.edges)
    all.push_back({{"from", e.from}, {"to", e.to}, {"bytes", e.bytes}, {"crosses", i.crosses(e)}});
  return all;
}

json values_of(inspection const& i) {
  json all = json::array();
  for (inspected_value const& v : i.values)
    all.push_back({{"operator", v.node},
                   {"scratch", v.scratch},
                   {"offset", v.offset},
                   {"bytes", v.bytes},
                   {"first", v.first},
                   {"last", v.last}});
  return all;
}

/// Writes each element of the list on a line.
void write_list(std::ostream& out, char const* name, json const& list) {
  out << "    \"" << name << "\": [";
  for (std::size_t k = 0; k < list.size(); ++k) out << (k ? ",\n      " : "\n      ") << line_of(list[k]);
  out << "\n    ]";
}

}  // namespace

void write_json(std::ostream& out, inspection const& i) {
  json const figures = figures_of(i);
  out << "{\n";
  for (auto const& [name, value] : figures.items()) out << "  \"" << name << "\": " << line_of(value) << ",\n";
  out << "  \"partition\": {\n";
  write_list(out, "operators", operators_of(i));
  write_list(out << ",\n", "subgraphs", subgraphs_of(i));
  write_list(out << ",\n", "minis", minis_of(i));
  write_list(out << ",\n", "steps", steps_of(i));
  write_list(out << ",\n", "edges", edges_of(i));
  write_list(out << ",\n", "values", values_of(i));
  out << "\n  }\n}\n";
}

}  // namespace ago::tools
