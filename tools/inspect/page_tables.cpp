// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "markup.hpp"
#include "page_parts.hpp"

#include <algorithm>

namespace ago::tools {
namespace {

void write_cell(std::ostream& out, std::string const& text, char const* also = "") {
  out << "<td class=\"number" << also << "\">" << text << "</td>";
}

/// A share as a bar; `most` has the full length.
void write_share(std::ostream& out, double share, double most) {
  out << "<td class=\"share\"><span class=\"track\"><span class=\"bar\" style=\"--length:"
      << fixed(most > 0 ? 100 * share / most : 0, 1) << "%\"></span></span><span class=\"percent\">"
      << fixed(100 * share, 1) << "&nbsp;%</span></td>";
}

std::string kilobytes(double bytes) { return fixed(bytes / 1e3, 1); }

}  // namespace

void write_figures(std::ostream& out, std::span<inspection const> all) {
  out << "<table class=\"figures\">\n<thead><tr><th scope=\"col\">policy</th>";
  for (inspection const& i : all) out << "<th scope=\"col\" class=\"number\">" << escaped(i.policy) << "</th>";
  out << "<th scope=\"col\">meaning</th></tr></thead>\n<tbody>\n";
  std::vector<std::vector<figure>> columns;
  for (inspection const& i : all) columns.push_back(figures_of(i));
  for (std::size_t k = 0; k < columns[0].size(); ++k) {
    out << "<tr><th scope=\"row\">" << escaped(columns[0][k].label) << "</th>";
    for (auto const& column : columns) write_cell(out, escaped(column[k].text));
    out << "<td class=\"meaning\">" << escaped(columns[0][k].meaning) << "</td></tr>\n";
  }
  out << "</tbody></table>\n";
}

void write_steps(std::ostream& out, inspection const& i) {
  double const whole = i.cycles();
  auto const share = [&](inspected_step const& s) { return whole > 0 ? s.cycles / whole : 0; };
  double most = 0;
  for (inspected_step const& s : i.steps) most = std::max(most, share(s));
  auto const head = [&](char const* kind, char const* text) {
    out << "<th scope=\"col\" class=\"" << kind << "\">" << text << "</th>";
  };
  out << "<table class=\"steps\">\n<thead><tr>";
  for (char const* text : {"step", "subgraph", "kernels", "reads &gt; writes"}) head("", text);
  for (char const* text : {"M mult-adds", "KB read", "KB written", "KB beyond L1"}) head("number wide", text);
  for (char const* text : {"KB beyond L2", "&micro;s"}) head("number", text);
  head("", "share of the predicted time");
  out << "</tr></thead>\n<tbody>\n";
  for (std::size_t k = 0; k < i.steps.size(); ++k) {
    inspected_step const& s = i.steps[k];
    out << "<tr data-step=\"" << k << "\"><th scope=\"row\"><button type=\"button\">" << k << "</button></th><td>"
        << (s.subgraph < 0 ? "" : std::to_string(s.subgraph)) << "</td><td class=\"kernel\">" << escaped(s.kernel())
        << "</td><td class=\"extents\">" << escaped(s.layers()) << "</td>";
    write_cell(out, fixed(double(s.account.multiply_adds) / 1e6, 2), " wide");
    write_cell(out, kilobytes(double(s.account.bytes_read)), " wide");
    write_cell(out, kilobytes(double(s.account.bytes_written)), " wide");
    write_cell(out, kilobytes(s.moved.beyond_l1), " wide");
    write_cell(out, kilobytes(s.moved.beyond_l2));
    write_cell(out, fixed(i.microseconds(s.cycles), 1));
    write_share(out, share(s), most);
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

}  // namespace ago::tools
