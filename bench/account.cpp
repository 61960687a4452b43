#include "account.hpp"

#include <algorithm>

namespace bench {
namespace {

using ago::op;
using ago::planned_step;

std::string extents(ago::shape s) {
  std::string const image = std::to_string(s.h) + 'x' + std::to_string(s.w) + 'x' + std::to_string(s.c);
  return s.n == 1 ? image : std::to_string(s.n) + 'x' + image;
}

/// An attention that is computed in one pass is two products.
long multiply_adds(graph_view const& g, planned_step const& p) {
  int const main = p.nodes.main;
  if (main < 0 || !is_complex(g.node(main).kind)) return 0;
  long const values = p.data.out.count() * g.fan_in(main);  // not of the whole node, if the step is a piece of it
  if (!p.nodes.attention) return values;
  int const scores = g.operand(g.operand(main));
  return values + g.node(scores).out.count() * g.fan_in(scores);
}

/// Packed parameters, once.
long parameter_floats(planned_step const& p) {
  long sum = ago::packed_floats(p.key, p.data);
  for (int k = 0; k < p.nodes.stage_count; ++k)
    sum += ago::packed_floats(p.key.after.stages[k], p.key.target, p.data.out);
  return sum;
}

/// What a part reads, but for the result of the part before it.
long floats_read(graph_view const& g, planned_step const& p, int before) {
  bool const copies = p.key.what == ago::structure::copy;
  long sum = p.nodes.source == before ? 0 : copies ? p.data.out.count() : p.data.in.count();
  for (int const v : p.nodes.inputs)
    if (v >= 0 && v != p.nodes.source) sum += g.node(v).out.count();
  for (int k = 0; k < p.nodes.stage_count; ++k)
    if (int const v = p.nodes.others[k]; v >= 0) sum += g.node(v).out.count();
  return sum;
}

std::string epilogue_of(planned_step const& p) {
  std::string names;
  for (int k = 0; k < p.nodes.stage_count; ++k) names += std::string(" ") + name_of(p.key.after.stages[k].kind);
  return names;
}

}  // namespace

step_account account_for(graph_view const& graph, std::span<planned_step const> parts, ago::tiling how) {
  step_account a;
  if (parts.size() > 1) a.kernel = std::string(name_of(how)) + ": ";
  a.layers = extents(parts.front().data.in);
  int before = -1;
  for (planned_step const& p : parts) {
    if (&p != &parts.front()) a.kernel += ", ";
    a.kernel += name_of(p.key.what);
    a.layers += " > " + extents(p.data.out) + epilogue_of(p);
    a.multiply_adds += multiply_adds(graph, p);
    a.bytes += 4 * (parameter_floats(p) + floats_read(graph, p, before));
    before = p.nodes.result;
  }
  a.bytes += 4 * parts.back().data.out.count();
  return a;
}

}  // namespace bench
