// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "page_parts.hpp"

#include "../support/printable.hpp"

#include <nlohmann/json.hpp>

namespace ago::tools {
namespace {

using json = nlohmann::ordered_json;

/// The part that policies with the same graph share.
json operators_of(inspection const& i) {
  json all = json::array();
  for (inspected_node const& n : i.nodes)
    all.push_back({{"kind", name_of(n.kind)},
                   {"label", printable(n.label())},
                   {"name", printable(n.name)},
                   {"details", n.details},
                   {"extents", to_string(n.out)},
                   {"layer", n.layer},
                   {"line", n.line},
                   {"weight", double(n.weight) / 1000},
                   {"multiplyAdds", n.multiply_adds},
                   {"operands", json::array()},
                   {"readers", json::array()}});
  for (inspected_edge const& e : i.edges) {
    all[std::size_t(e.to)]["operands"].push_back(e.from);
    json& readers = all[std::size_t(e.from)]["readers"];
    if (readers.empty() || readers.back() != e.to) readers.push_back(e.to);
  }
  return all;
}

/// "tile 14x2, bias, relu6"
std::string details_of(inspected_part const& p) {
  std::string text;
  if (p.tile.pixels * p.tile.vectors > 1)
    text = "register tile " + std::to_string(p.tile.pixels) + 'x' + std::to_string(p.tile.vectors);
  if (!p.epilogue.empty()) text += (text.empty() ? "" : ", ") + p.epilogue;
  return text;
}

json steps_of(inspection const& i) {
  json all = json::array();
  for (inspected_step const& s : i.steps) {
    json parts = json::array();
    for (inspected_part const& p : s.parts)
      parts.push_back({{"kernel", name_of(p.what)},
                       {"details", details_of(p)},
                       {"layers", to_string(p.in) + " > " + to_string(p.out)}});
    all.push_back({{"kernel", s.kernel()},
                   {"tile", s.tiles.tile},
                   {"parts", parts},
                   {"operators", s.nodes},
                   {"multiplyAdds", s.account.multiply_adds},
                   {"bytesRead", s.account.bytes_read},
                   {"bytesWritten", s.account.bytes_written},
                   {"cycles", s.cycles}});
  }
  return all;
}

json policy_of(inspection const& i, std::size_t graph) {
  json subgraph = json::array(), mini = json::array(), step = json::array();
  for (inspected_node const& n : i.nodes) {
    subgraph.push_back(n.subgraph);
    mini.push_back(n.mini);
    step.push_back(n.step);
  }
  return {{"name", i.policy}, {"graph", graph}, {"cycles", i.cycles()},  {"subgraph", subgraph},
          {"mini", mini},              {"step", step},   {"steps", steps_of(i)}};
}

}  // namespace

std::vector<std::size_t> graphs_of(std::span<inspection const> all) {
  std::vector<std::size_t> graphs;
  for (std::size_t k = 0; k < all.size(); ++k) {
    graphs.push_back(0);
    while (!all[graphs[k]].has_graph_of(all[k])) ++graphs[k];
  }
  return graphs;
}

void write_data(std::ostream& out, std::span<inspection const> all) {
  json graphs = json::array(), views = json::array();
  auto const graph_of = graphs_of(all);
  for (std::size_t k = 0; k < all.size(); ++k) {
    views.push_back(policy_of(all[k], graph_of[k]));
    graphs.push_back(graph_of[k] == k ? operators_of(all[k]) : json(nullptr));
  }
  json const data{{"graphs", graphs}, {"views", views}};
  for (char const c : data.dump(-1, ' ', false, json::error_handler_t::replace))
    c == '<' ? out << "\\u003c" : out << c;  // so that the text cannot end the script element
}

}  // namespace ago::tools
