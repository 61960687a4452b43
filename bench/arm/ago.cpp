// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one network as ago compiles it for one device under one policy, and marks every step.
//
// usage: PROGRAM RESULTS    prints a JSON object for the network and one for each step
#include "../registry.hpp"
#include "mark.hpp"
#include "program.hpp"

#include <algorithm>

namespace {

// report.py runs one program for both.
static_assert(ago::partition::usual_device(ago::isa::neon) == ago::cortex_a55);

/// What every inference reads or writes, however it is computed: trained parameters, norms folded, inputs and outputs.
long necessary_floats(ruler::problem const& p) {
  long sum = long(p.in.span().size() + p.out.span().size());
  for (int v = 0; v < p.graph.size(); ++v) {
    ago::ir::node const& n = p.graph.node(v);
    if (has_weights(n.kind)) sum += n.out.c * p.graph.fan_in(v);
    if (n.kind == ago::op::layer_norm) sum += n.out.c;
    if (n.shift >= 0 || n.norm >= 0) sum += n.out.c;
  }
  return sum;
}

/// Operations on floats that every inference computes beside multiply-adds, at least: one for each element of an
/// elementwise operator, two for two bounds, and as many to reduce the inputs of a pooling to its outputs.
long necessary_operations(ruler::problem const& p) {
  long sum = 0;
  for (int v = 0; v < p.graph.size(); ++v) {
    ago::ir::node const& n = p.graph.node(v);
    long const count = n.out.count();
    if (ago::ir::is_elementwise(n.kind)) sum += n.kind == ago::op::relu6 ? 2 * count : count;
    if (ago::ir::is_pool(n.kind) || ago::ir::is_reduction(n.kind))
      sum += std::max(0l, long(p.graph.node(p.graph.operand(v)).out.count()) - count);
  }
  return sum;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  using model = ago::model<ruler::network, ago::untuned,
                           ago::options{.policy = ago::policy::AGO_ARM_POLICY, .device = AGO_ARM_DEVICE}>;
  bench::variant const v = bench::make_network_variant<model>("ago");
  ruler::problem const p;
  int const steps = int(v.accounts.size());
  auto const run_step = v.prepare_steps(p.parameters, p.in.data(), p.out.data());
  ruler::warm_up();
  for (int k = 0; k < ruler::warm_runs; ++k)
    for (int step = 0; step < steps; ++step) run_step(step);
  for (int step = 0; step < steps; ++step) {
    ruler::begin_step(step);
    run_step(step);
  }
  ruler::end_of_steps();
  p.save_results(words[1]);
  std::printf("{\"bytes\": %ld, \"operations\": %ld}\n", long(sizeof(float)) * necessary_floats(p),
              necessary_operations(p));
  for (bench::step_account const& a : v.accounts)
    std::printf("{\"kernel\": \"%s\", \"layers\": \"%s\", \"macs\": %ld, \"bytes\": %ld}\n", a.kernel.c_str(),
                a.layers.c_str(), a.multiply_adds, a.bytes);
}
