// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "markup.hpp"
#include "page_parts.hpp"

#include <algorithm>

namespace ago::tools {
namespace {

void write_cell(std::ostream& out, std::string const& text) { out << "<td class=\"number\">" << text << "</td>"; }

/// The colour of a subgraph; nothing outside of subgraphs.
std::string chip(int subgraph) {
  if (subgraph < 0) return "";
  return "<span class=\"chip\" style=\"--hue:" + fixed(hue_of(subgraph), 1) + "\"></span>";
}

/// A share as a bar; `most` has the full length.
void write_share(std::ostream& out, double share, double most) {
  out << "<td class=\"share\"><span class=\"bar\" style=\"--length:" << fixed(most > 0 ? 100 * share / most : 0, 1)
      << "%\"></span><span class=\"percent\">" << fixed(100 * share, 1) << " %</span></td>";
}

/// A row for each of `rows`: a button with its number, the cells of `write_cells`, and its share of the predicted time.
template <class Row>
void write_rows(std::ostream& out, char const* what, char const* columns, std::vector<Row> const& rows, double whole,
                auto const& subgraph_of, auto const& write_cells) {
  auto const share = [&](Row const& row) { return whole > 0 ? row.cycles / whole : 0; };
  double most = 0;
  for (Row const& row : rows) most = std::max(most, share(row));
  out << "<table class=\"" << what << "s\">\n<thead><tr><th scope=\"col\">" << what << "</th>" << columns
      << "<th scope=\"col\">predicted time</th></tr></thead>\n<tbody>\n";
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out << "<tr data-" << what << "=\"" << k << "\"><th scope=\"row\"><button type=\"button\">" << chip(subgraph_of(k))
        << k << "</button></th>";
    write_cells(rows[k]);
    write_share(out, share(rows[k]), most);
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

}  // namespace

void write_figures(std::ostream& out, std::span<inspection const> all) {
  out << "<table class=\"figures\">\n<thead><tr><th scope=\"col\">policy</th>";
  for (figure const& f : figures_of(all.front()))
    out << "<th scope=\"col\" class=\"number\" title=\"" << escaped(f.meaning) << "\">" << escaped(f.label) << "</th>";
  out << "</tr></thead>\n<tbody>\n";
  for (inspection const& i : all) {
    out << "<tr><th scope=\"row\">" << i.policy << "</th>";
    for (figure const& f : figures_of(i)) write_cell(out, escaped(f.text));
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

void write_meanings(std::ostream& out, inspection const& i) {
  out << "<dl class=\"meanings\">\n";
  for (figure const& f : figures_of(i))
    out << "<dt>" << escaped(f.label) << "</dt><dd>" << escaped(f.meaning) << "</dd>\n";
  out << "</dl>\n";
}

void write_steps(std::ostream& out, inspection const& i) {
  write_rows(
      out, "step",
      "<th scope=\"col\">kernel and layers</th><th scope=\"col\" class=\"number\">million multiply-adds</th>"
      "<th scope=\"col\" class=\"number\">KB read</th><th scope=\"col\" class=\"number\">KB written</th>",
      i.steps, i.cycles(), [&](std::size_t k) { return i.steps[k].subgraph; },
      [&](inspected_step const& s) {
        out << "<td>" << escaped(s.kernel()) << "<span class=\"layers\">" << escaped(s.layers()) << "</span></td>";
        write_cell(out, fixed(double(s.account.multiply_adds) / 1e6, 2));
        write_cell(out, fixed(double(s.account.bytes_read) / 1e3, 1));
        write_cell(out, fixed(double(s.account.bytes_written) / 1e3, 1));
      });
}

void write_subgraphs(std::ostream& out, inspection const& i) {
  write_rows(
      out, "subgraph",
      "<th scope=\"col\" class=\"number\">weight</th><th scope=\"col\" class=\"number\">operators</th>"
      "<th scope=\"col\" class=\"number\">complex</th><th scope=\"col\" class=\"number\">steps</th>",
      i.subgraphs, i.cycles(), [](std::size_t k) { return int(k); },
      [&](inspected_subgraph const& s) {
        write_cell(out, fixed(double(s.weight) / 1000, 1));
        write_cell(out, std::to_string(s.operators));
        write_cell(out, std::to_string(s.complex));
        write_cell(out, std::to_string(s.steps));
      });
}

}  // namespace ago::tools
