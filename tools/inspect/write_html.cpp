// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "markup.hpp"
#include "page_parts.hpp"
#include "writers.hpp"

#include <functional>
#include <map>
#include <string_view>

// The files of page/, each from the first array to the second.
#define AGO_EMBEDDED(name) extern "C" unsigned char const inspect_##name[], inspect_##name##_end[]
AGO_EMBEDDED(page_html);
AGO_EMBEDDED(page_css);
AGO_EMBEDDED(model_js);
AGO_EMBEDDED(layout_js);
AGO_EMBEDDED(routes_js);
AGO_EMBEDDED(graph_js);
AGO_EMBEDDED(strips_js);
AGO_EMBEDDED(page_js);
#undef AGO_EMBEDDED

namespace ago::tools {
namespace {

std::string_view text_of(unsigned char const* begin, unsigned char const* end) {
  return {reinterpret_cast<char const*>(begin), std::size_t(end - begin)};
}

/// Scripts that build on those before them.
void write_scripts(std::ostream& out) {
  out << text_of(inspect_model_js, inspect_model_js_end) << text_of(inspect_layout_js, inspect_layout_js_end)
      << text_of(inspect_routes_js, inspect_routes_js_end) << text_of(inspect_graph_js, inspect_graph_js_end)
      << text_of(inspect_strips_js, inspect_strips_js_end) << text_of(inspect_page_js, inspect_page_js_end);
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

/// "31 steps in 16 subgraphs, 11583 us predicted, 18.3 MB beyond L2"
std::string summary(inspection const& i) {
  return counted(i.steps.size(), "step") + " in " + counted(i.subgraphs.size(), "subgraph") + ", " +
         fixed(i.microseconds(i.cycles()) / 1e3, 2) + " ms predicted, " + fixed(i.moved().beyond_l2 / 1e6, 1) +
         " MB beyond L2, arena " + fixed(double(i.arena_bytes) / 1e6, 2) + " MB";
}

/// The tabs, if there is a choice.
void write_tabs(std::ostream& out, std::span<inspection const> all) {
  if (all.size() < 2) return;
  out << "<div class=\"tabs\" role=\"tablist\" aria-label=\"policy\">\n";
  for (std::size_t k = 0; k < all.size(); ++k)
    out << "<button type=\"button\" role=\"tab\" id=\"tab" << k << "\" aria-controls=\"view" << k << "\"><b>"
        << escaped(all[k].policy) << "</b> <span>" << summary(all[k]) << "</span></button>\n";
  out << "</div>\n";
}

void write_view(std::ostream& out, inspection const& i, std::size_t number) {
  std::string const policy = escaped(i.policy);
  out << "<section class=\"view\" id=\"view" << number << "\" aria-label=\"" << policy << "\">\n<h2>" << policy
      << " <small>" << summary(i) << "</small></h2>\n<div class=\"folds\"></div>\n"
      << "<div class=\"graph\" role=\"group\" aria-label=\"the steps of " << policy << " and what flows between them\">"
      << "</div>\n<div class=\"strips\"></div>\n<div class=\"table\">\n";
  write_steps(out, i);
  out << "</div>\n</section>\n";
}

}  // namespace

void write_html(std::ostream& out, std::span<inspection const> all) {
  fill_in(out, text_of(inspect_page_html, inspect_page_html_end),
          {{"title", [&] { out << escaped(title_of(all.front())); }},
           {"conditions", [&] { out << escaped(conditions(all)); }},
           {"style", [&] { out << text_of(inspect_page_css, inspect_page_css_end); }},
           {"script", [&] { write_scripts(out); }},
           {"tabs", [&] { write_tabs(out, all); }},
           {"figures", [&] { write_figures(out, all); }},
           {"data", [&] { write_data(out, all); }},
           {"views", [&] {
              for (std::size_t k = 0; k < all.size(); ++k) write_view(out, all[k], k);
            }}});
}

}  // namespace ago::tools
