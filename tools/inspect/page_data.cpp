// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "page_parts.hpp"

#include "../support/printable.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace ago::tools {
namespace {

using json = nlohmann::ordered_json;

json operators_of(inspection const& i) {
  json all = json::array();
  for (inspected_node const& n : i.nodes)
    all.push_back({{"label", printable(n.label())},
                   {"kind", name_of(n.kind)},
                   {"name", printable(n.name)},
                   {"details", n.details},
                   {"extents", to_string(n.out)},
                   {"bytes", 4 * n.out.count()},
                   {"layer", n.layer},
                   {"line", n.line},
                   {"complex", ir::is_complex(n.kind)},
                   {"output", n.is_output}});
  return all;
}

json parts_of(inspected_step const& s) {
  json all = json::array();
  for (inspected_part const& p : s.parts)
    all.push_back({{"kernel", name_of(p.what)},
                   {"tile", {p.tile.pixels, p.tile.vectors}},
                   {"epilogue", printable(p.epilogue)},
                   {"reads", to_string(p.in)},
                   {"writes", to_string(p.out)},
                   {"operators", p.nodes}});
  return all;
}

json steps_of(inspection const& i) {
  json all = json::array();
  for (inspected_step const& s : i.steps)
    all.push_back({{"subgraph", s.subgraph},
                   {"tiling", name_of(s.tiles.how)},
                   {"tile", s.tiles.tile},
                   {"parts", parts_of(s)},
                   {"multiplyAdds", s.account.multiply_adds},
                   {"read", s.account.bytes_read},
                   {"written", s.account.bytes_written},
                   {"beyondL1", std::lround(s.moved.beyond_l1)},
                   {"beyondL2", std::lround(s.moved.beyond_l2)},
                   {"time", i.microseconds(s.cycles)}});
  return all;
}

json subgraphs_of(inspection const& i) {
  json all = json::array();
  for (inspected_subgraph const& s : i.subgraphs)
    all.push_back({{"weight", double(s.weight) / 1000}, {"operators", s.operators}});
  return all;
}

json flows_of(inspection const& i) {
  json all = json::array();
  for (inspected_flow const& f : i.flows) all.push_back({f.from, f.to, f.value});
  return all;
}

json values_of(inspection const& i) {
  json all = json::array();
  for (inspected_value const& v : i.values)
    all.push_back({{"operator", v.node},
                   {"first", v.first},
                   {"last", v.last},
                   {"offset", v.offset},
                   {"bytes", v.bytes},
                   {"scratch", v.scratch}});
  return all;
}

}  // namespace

void write_data(std::ostream& out, std::span<inspection const> all) {
  json data = json::array();
  for (inspection const& i : all)
    data.push_back({{"policy", i.policy},
                    {"operators", operators_of(i)},
                    {"steps", steps_of(i)},
                    {"subgraphs", subgraphs_of(i)},
                    {"flows", flows_of(i)},
                    {"values", values_of(i)},
                    {"arena", i.arena_bytes}});
  for (char const c : data.dump(-1, ' ', false, json::error_handler_t::replace))
    c == '<' ? out << "\\u003c" : out << c;  // so that the text cannot end the script element
}

}  // namespace ago::tools
