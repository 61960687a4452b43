// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "markup.hpp"
#include "page_parts.hpp"
#include "writers.hpp"

#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

// The files of page/.
extern "C" unsigned char const page_html[], page_html_end[], page_css[], page_css_end[], page_js[], page_js_end[];

namespace ago::tools {
namespace {

std::string_view text_of(unsigned char const* begin, unsigned char const* end) {
  return {reinterpret_cast<char const*>(begin), std::size_t(end - begin)};
}

/// Writes `text`, with each {{name}} replaced by the output of parts.at(name).
void fill_in(std::ostream& out, std::string_view text, std::map<std::string_view, std::function<void()>> const& parts) {
  for (;;) {
    std::size_t const open = text.find("{{"), close = text.find("}}", open);
    if (close == std::string_view::npos) break;
    out << text.substr(0, open);
    parts.at(text.substr(open + 2, close - open - 2))();
    text.remove_prefix(close + 2);
  }
  out << text;
}

std::string title_of(inspection const& i) { return i.network + (i.size > 0 ? ' ' + std::to_string(i.size) : ""); }

std::string counted(std::size_t count, char const* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string conditions(std::span<inspection const> all) {
  inspection const& i = all.front();
  return operators_in(all) + ", planned for " + name_of(i.target) + " with " +
         std::to_string(i.device.l1_bytes / 1024) + " KiB of L1 and " + std::to_string(i.device.l2_bytes / 1024) +
         " KiB of L2";
}

void write_view(std::ostream& out, inspection const& i, drawing const& d, std::size_t number) {
  out << "<section class=\"view\" data-view=\"" << number << "\">\n<div class=\"caption\"><h2>" << i.policy
      << " <small>" << counted(i.subgraphs.size(), "subgraph") << ", " << counted(i.steps.size(), "step")
      << "</small></h2>\n"
         "<div class=\"zoom\"><button type=\"button\" data-zoom=\"in\" title=\"zoom in (+)\">+</button>"
         "<button type=\"button\" data-zoom=\"out\" title=\"zoom out (-)\">&minus;</button>"
         "<button type=\"button\" data-zoom=\"fit\" title=\"show all (0)\">fit</button></div></div>\n"
         "<div class=\"graph\">\n";
  write_graph(out, i, d);
  out << "</div>\n<div class=\"side\">\n<div class=\"details\" aria-live=\"polite\"></div>\n"
         "<h3>Steps</h3>\n<div class=\"scroll\">\n";
  write_steps(out, i);
  out << "</div>\n<h3>Subgraphs</h3>\n<div class=\"scroll\">\n";
  write_subgraphs(out, i);
  out << "</div>\n</div>\n</section>\n";
}

operand_lists operands_of(inspection const& i) {
  operand_lists operands(i.nodes.size());
  for (inspected_edge const& e : i.edges) operands[std::size_t(e.to)].push_back(e.from);
  return operands;
}

}  // namespace

void write_html(std::ostream& out, std::span<inspection const> all) {
  auto const graph_of = graphs_of(all);
  std::vector<drawing> drawings(all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    if (graph_of[k] == k) drawings[k] = draw(operands_of(all[k]));
  fill_in(out, text_of(page_html, page_html_end),
          {{"title", [&] { out << escaped(title_of(all.front())); }},
           {"conditions", [&] { out << escaped(conditions(all)); }},
           {"count", [&] { out << all.size(); }},
           {"style", [&] { out << text_of(page_css, page_css_end); }},
           {"script", [&] { out << text_of(page_js, page_js_end); }},
           {"figures", [&] { write_figures(out, all); }},
           {"meanings", [&] { write_meanings(out, all.front()); }},
           {"data", [&] { write_data(out, all); }},
           {"views", [&] {
              for (std::size_t k = 0; k < all.size(); ++k) write_view(out, all[k], drawings[graph_of[k]], k);
            }}});
}

}  // namespace ago::tools
