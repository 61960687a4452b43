// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "writers.hpp"

#include "../support/printable.hpp"

#include <string>
#include <string_view>

namespace ago::tools {
namespace {

/// A string in Graphviz's quotes, where only these two characters are special. Unprintable characters are escaped.
std::string quoted(std::string_view text) {
  std::string r = "\"";
  for (char const c : printable_lines(text)) {
    if (c == '"' || c == '\\') r += '\\';
    if (c == '\n') r += "\\n";
    else r += c;
  }
  return r + '"';
}

/// Hue, saturation and value, each from 0 to 1.
std::string color(int subgraph, double saturation) {
  return quoted(fixed(hue_of(subgraph) / 360, 3) + ' ' + fixed(saturation, 2) + " 1.00");
}

void write_node(std::ostream& out, inspection const& i, int v, char const* indentation) {
  inspected_node const& n = i.nodes[std::size_t(v)];
  std::string label = printable(n.label()) + '\n' + to_string(n.out);
  if (!n.details.empty()) label += '\n' + n.details;
  if (!n.name.empty()) label += '\n' + printable(n.name);
  out << indentation << 'n' << v << " [label=" << quoted(label) << ", shape=" << (n.subgraph < 0 ? "ellipse" : "box")
      << (n.is_output ? ", peripheries=2" : "") << "];\n";
}

/// The mini-subgraphs of a subgraph, in the order of their first operators.
void write_minis(std::ostream& out, inspection const& i, int subgraph) {
  std::vector<std::vector<int>> members(std::size_t(i.minis));
  for (std::size_t v = 0; v < i.nodes.size(); ++v)
    if (i.nodes[v].subgraph == subgraph) members[std::size_t(i.nodes[v].mini)].push_back(int(v));
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (members[m].empty()) continue;
    out << "    subgraph cluster_mini_" << m << " {\n"
        << "      label=\"\"; style=\"rounded,filled\"; color=" << color(subgraph, .6)
        << "; fillcolor=" << color(subgraph, .25) << ";\n";
    for (int const v : members[m]) write_node(out, i, v, "      ");
    out << "    }\n";
  }
}

}  // namespace

void write_dot(std::ostream& out, inspection const& i) {
  out << "digraph " << quoted(i.network) << " {\n"
      << "  label=" << quoted(i.network + (i.size > 0 ? ' ' + std::to_string(i.size) : "") + " by " + i.policy)
      << "; labelloc=t; fontname=\"sans-serif\";\n"
      << "  node [fontname=\"sans-serif\", fontsize=10, style=filled, fillcolor=white];\n";
  for (int v = 0; v < i.inputs; ++v) write_node(out, i, v, "  ");
  for (std::size_t k = 0; k < i.subgraphs.size(); ++k) {
    inspected_subgraph const& s = i.subgraphs[k];
    out << "  subgraph cluster_" << k
        << " {\n    label=" << quoted("subgraph " + std::to_string(k) + ", weight " + fixed(double(s.weight) / 1000, 0))
        << "; style=\"rounded,filled\"; color=" << color(int(k), .5) << "; fillcolor=" << color(int(k), .08) << ";\n";
    write_minis(out, i, int(k));
    out << "  }\n";
  }
  for (inspected_edge const& e : i.edges) out << "  n" << e.from << " -> n" << e.to << ";\n";
  out << "}\n";
}

}  // namespace ago::tools
