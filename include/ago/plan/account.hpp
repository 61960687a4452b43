// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a step: its multiply-adds, and the bytes that it reads and writes.
#pragma once

#include <ago/kernel/units.hpp>
#include <ago/partition/weight.hpp>
#include <ago/plan/packing.hpp>
#include <ago/plan/plan.hpp>

namespace ago::plan {

/// The account of a kernel or of a pipeline. Values between the parts of a pipeline count no bytes, all others count
/// once.
struct step_account {
  long multiply_adds{};  ///< of the direct algorithm
  long bytes_read{};     ///< values and packed parameters
  long bytes_written{};

  constexpr long bytes() const { return bytes_read + bytes_written; }
};

/// Multiply-adds of a part. An attention that is computed in one pass has two products.
template <class Graph>
constexpr long multiply_adds_of(Graph const& g, planned_step const& p) {
  int const main = p.nodes.main;
  if (main < 0 || !is_complex(g.nodes[main].kind)) return 0;
  long const values = p.data.out.count() * fan_in(g, main);  // the step may be only a piece of the node
  return p.nodes.attention ? values + multiply_adds(g, g.operand(g.operand(main))) : values;
}

/// Floats of the packed parameters.
constexpr long parameter_floats(planned_step const& p) {
  long sum = kernel::packed_floats(p.key, p.data);
  for (int k = 0; k < p.nodes.stage_count; ++k) sum += packed_floats(p.key.after.stages[k], p.key.target, p.data.out);
  return sum;
}

/// Floats that a part reads, except for the result of the part before it.
template <class Graph>
constexpr long floats_read(Graph const& g, planned_step const& p, int before) {
  long sum = p.nodes.source == before ? 0 : kernel::copies(p.key.what) ? p.data.out.count() : p.data.in.count();
  for (int const v : p.nodes.inputs)
    if (v >= 0 && v != p.nodes.source && v != before) sum += g.nodes[v].out.count();
  for (int k = 0; k < p.nodes.stage_count; ++k)
    if (int const v = p.nodes.others[k]; v >= 0) sum += g.nodes[v].out.count();
  return sum;
}

/// The account of a step with `count` parts.
template <class Graph>
constexpr step_account account_of(Graph const& g, planned_step const* parts, int count) {
  step_account a;
  int before = -1;
  for (int i = 0; i < count; ++i) {
    planned_step const& p = parts[i];
    a.multiply_adds += multiply_adds_of(g, p);
    a.bytes_read += 4 * (parameter_floats(p) + floats_read(g, p, before));
    before = p.nodes.result;
  }
  a.bytes_written = 4 * parts[count - 1].data.out.count();
  return a;
}

}  // namespace ago::plan
