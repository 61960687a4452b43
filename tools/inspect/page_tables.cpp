#include "figures.hpp"
#include "markup.hpp"
#include "page_parts.hpp"

#include <algorithm>

namespace ago::tools {
namespace {

void write_cell(std::ostream& out, std::string const& text) { out << "<td class=\"number\">" << text << "</td>"; }

std::string chip(int subgraph) {
  return "<span class=\"chip\" style=\"--hue:" + fixed(hue_of(subgraph), 1) + "\"></span>";
}

/// A share of the whole as a bar, where `most` is as long as bars get.
void write_share(std::ostream& out, double share, double most) {
  out << "<td class=\"share\"><span class=\"bar\" style=\"--length:" << fixed(most > 0 ? 100 * share / most : 0, 1)
      << "%\"></span><span class=\"percent\">" << fixed(100 * share, 1) << " %</span></td>";
}

}  // namespace

void write_figures(std::ostream& out, std::span<inspection const> all) {
  out << "<table class=\"figures\">\n<thead><tr><th scope=\"col\">policy</th>";
  for (figure const& f : figures_of(all.front()))
    out << "<th scope=\"col\" class=\"number\" title=\"" << escaped(f.meaning) << "\">" << escaped(f.label) << "</th>";
  out << "</tr></thead>\n<tbody>\n";
  for (inspection const& i : all) {
    out << "<tr><th scope=\"row\">" << name_of(i.policy) << "</th>";
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
  double const whole = i.cycles();
  double most = 0;
  for (inspected_step const& s : i.steps) most = std::max(most, whole > 0 ? s.cycles / whole : 0);
  out << "<table class=\"steps\">\n<thead><tr><th scope=\"col\">step</th><th scope=\"col\">kernel and layers</th>"
         "<th scope=\"col\" class=\"number\">million multiply-adds</th>"
         "<th scope=\"col\" class=\"number\">KB read</th><th scope=\"col\" class=\"number\">KB written</th>"
         "<th scope=\"col\">predicted cost</th></tr></thead>\n<tbody>\n";
  for (std::size_t k = 0; k < i.steps.size(); ++k) {
    inspected_step const& s = i.steps[k];
    out << "<tr data-step=\"" << k << "\"><th scope=\"row\"><button type=\"button\">"
        << (s.subgraph < 0 ? "" : chip(s.subgraph)) << k << "</button></th><td>" << escaped(s.kernel())
        << "<span class=\"layers\">" << escaped(s.layers()) << "</span></td>";
    write_cell(out, fixed(double(s.account.multiply_adds) / 1e6, 2));
    write_cell(out, fixed(double(s.account.bytes_read) / 1e3, 1));
    write_cell(out, fixed(double(s.account.bytes_written) / 1e3, 1));
    write_share(out, whole > 0 ? s.cycles / whole : 0, most);
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

void write_subgraphs(std::ostream& out, inspection const& i) {
  double const whole = i.cycles();
  double most = 0;
  for (inspected_subgraph const& s : i.subgraphs) most = std::max(most, whole > 0 ? s.cycles / whole : 0);
  out << "<table class=\"subgraphs\">\n<thead><tr><th scope=\"col\">subgraph</th>"
         "<th scope=\"col\" class=\"number\">weight</th><th scope=\"col\" class=\"number\">operators</th>"
         "<th scope=\"col\" class=\"number\">complex</th><th scope=\"col\" class=\"number\">steps</th>"
         "<th scope=\"col\">predicted cost</th></tr></thead>\n<tbody>\n";
  for (std::size_t k = 0; k < i.subgraphs.size(); ++k) {
    inspected_subgraph const& s = i.subgraphs[k];
    out << "<tr data-subgraph=\"" << k << "\"><th scope=\"row\"><button type=\"button\">" << chip(int(k)) << k
        << "</button></th>";
    write_cell(out, fixed(double(s.weight) / 1000, 1));
    write_cell(out, std::to_string(s.operators));
    write_cell(out, std::to_string(s.complex));
    write_cell(out, std::to_string(s.steps));
    write_share(out, whole > 0 ? s.cycles / whole : 0, most);
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

}  // namespace ago::tools
