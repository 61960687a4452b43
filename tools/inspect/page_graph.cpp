// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "markup.hpp"
#include "page_parts.hpp"

#include <cmath>

namespace ago::tools {
namespace {

constexpr double half_width = drawing::box_width / 2, half_height = drawing::box_height / 2;

std::string hue(int subgraph) { return "--hue:" + fixed(hue_of(subgraph), 1); }

std::string rectangle(double x, double y, double width, double height) {
  return "x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" width=\"" + fixed(width, 1) + "\" height=\"" +
         fixed(height, 1) + '"';
}

/// The background of subgraphs: a frame around each operator, and a bridge to the frame directly above if it reads that
/// operator. A narrower bridge joins operators of the same mini-subgraph.
void write_ground(std::ostream& out, inspection const& i, drawing const& d) {
  constexpr double around = 6, narrow = 18;
  out << "<g class=\"ground\" aria-hidden=\"true\">\n";
  auto const bridge = [&](char const* what, inspected_node const& n, double x, double y, double half) {
    out << "<rect class=\"" << what << "\" style=\"" << hue(n.subgraph) << "\" "
        << rectangle(x - half, y, 2 * half, drawing::gap) << "/>\n";
  };
  for (std::size_t v = 0; v < i.nodes.size(); ++v) {
    if (i.nodes[v].subgraph < 0) continue;
    out << "<rect class=\"frame\" rx=\"8\" style=\"" << hue(i.nodes[v].subgraph) << "\" "
        << rectangle(d.nodes[v].x - half_width - around, d.nodes[v].y - half_height - around,
                     2 * (half_width + around), 2 * (half_height + around)) << "/>\n";
  }
  for (drawn_edge const& e : d.edges) {
    inspected_node const &u = i.nodes[std::size_t(e.from)], &v = i.nodes[std::size_t(e.to)];
    place_on_paper const &a = d.nodes[std::size_t(e.from)], &b = d.nodes[std::size_t(e.to)];
    double const between = b.y - a.y - drawing::box_height;
    bool const below = std::abs(a.x - b.x) < 1 && std::abs(between - drawing::gap) < 1;
    if (!below || u.subgraph < 0 || u.subgraph != v.subgraph) continue;
    bridge("bridge", v, a.x, a.y + half_height, half_width + around);
    if (u.mini == v.mini) bridge("mini", v, a.x, a.y + half_height, half_width - narrow);
  }
  out << "</g>\n";
}

void write_edges(std::ostream& out, drawing const& d) {
  out << "<g class=\"edges\" aria-hidden=\"true\">\n";
  for (drawn_edge const& e : d.edges)
    out << "<path data-from=\"" << e.from << "\" data-to=\"" << e.to << "\" d=\"" << e.path << "\"/>\n";
  out << "</g>\n";
}

std::string title_of(inspected_node const& n, std::size_t v) {
  std::string title = std::to_string(v) + ": " + n.label() + ' ' + to_string(n.out);
  if (!n.details.empty()) title += ", " + n.details;
  if (!n.name.empty()) title += ", " + n.name;
  if (n.subgraph >= 0) title += "; subgraph " + std::to_string(n.subgraph);
  if (n.step >= 0) title += ", step " + std::to_string(n.step);
  return title;
}

void write_operator(std::ostream& out, inspected_node const& n, std::size_t v, place_on_paper const& at) {
  std::string const title = escaped(title_of(n, v));
  out << "<g class=\"op" << (n.subgraph < 0 ? " input" : "") << (is_complex(n.kind) ? " complex" : "")
      << (n.is_output ? " output" : "") << "\" data-op=\"" << v << "\" role=\"button\" tabindex=\"-1\" aria-label=\""
      << title << '"';
  if (n.subgraph >= 0) out << " style=\"" << hue(n.subgraph) << '"';
  out << "><title>" << title << "</title><rect rx=\"" << (n.subgraph < 0 ? 12 : 4) << "\" "
      << rectangle(at.x - half_width, at.y - half_height, 2 * half_width, 2 * half_height) << "/><text x=\""
      << fixed(at.x - half_width + 8, 1) << "\" y=\"" << fixed(at.y + 3.5, 1) << "\">"
      << escaped(shortened(n.label(), 18)) << "</text><text class=\"extents\" x=\"" << fixed(at.x + half_width - 8, 1)
      << "\" y=\"" << fixed(at.y + 3.5, 1) << "\">" << to_string(n.out) << "</text></g>\n";
}

}  // namespace

void write_graph(std::ostream& out, inspection const& i, drawing const& d) {
  out << "<svg viewBox=\"0 0 " << fixed(d.width, 0) << ' ' << fixed(d.height, 0)
      << "\" tabindex=\"0\" role=\"group\" aria-label=\"" << i.operators() << " operators in " << i.subgraphs.size()
      << " subgraphs by " << i.policy << "\">\n";
  write_ground(out, i, d);
  write_edges(out, d);
  for (std::size_t v = 0; v < i.nodes.size(); ++v) write_operator(out, i.nodes[v], v, d.nodes[v]);
  out << "</svg>\n";
}

}  // namespace ago::tools
