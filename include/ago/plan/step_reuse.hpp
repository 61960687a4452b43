// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of a plan as a cache sees them.
#pragma once

#include <ago/partition/step_reuse.hpp>
#include <ago/plan/account.hpp>

namespace ago::plan {

/// Floats of the cache lines that hold a value: more than its own where pixels are farther apart than their channels.
constexpr long floats_in_lines(place const& at, shape const& s) {
  constexpr int line = 16;
  long const pixels = at.pixel_stride == 0 ? s.n : s.pixels();
  if (at.pixel_stride <= s.c) return pixels * s.c;
  int const touched = s.c - 1 + line;  // on average, wherever in its line the first channel is
  return pixels * (touched < at.pixel_stride ? touched : at.pixel_stride);
}

/// The part as a link of a chain.
constexpr chain_link link_of(planned_step const& p) {
  planned_data const& d = p.data;
  chain_link r{.in = d.in, .out = d.out, .win = d.win};
  r.kind = implementations.of_structure[int(p.key.what)];
  if (r.kind == op::depthwise) r.weight_bytes = 4L * d.win.kernel_h * d.win.kernel_w * d.out.c;
  else if (has_weights(r.kind)) r.weight_bytes = 4L * matrix_depth(d) * d.out.c;
  return r;
}

/// The loops of a part. `input`: bytes of the lines that hold its input.
constexpr part_loops loops_of(planned_step const& p, std::int64_t input) {
  planned_data const& d = p.data;
  part_loops r{.what = part_loops::kind::other,
               .accumulates = p.key.accumulates,
               .input = input,
               .in = d.in,
               .out = d.out,
               .win = d.win};
  r.parameters = 4 * parameter_floats(p);
  r.output = 4 * floats_in_lines(d.destination, d.out);
  facts_of(p.key.what).describe_loops(p.key, d, r);
  return r;
}

/// Adds a kernel that is a step to `r`. `input`: bytes of the lines that hold its input.
constexpr void add_step(auto& r, planned_step const& p, std::int64_t input) {
  part_loops const loops = loops_of(p, input);
  facts_of(p.key.what).add_loops(p.key, p.data, loops, r);
}

/// Likewise, a pipeline of `count` parts.
constexpr void add_step(auto& r, planned_step const* parts, int count, chain_tiling const& tiles) {
  chain_link chain[max_parts]{};
  part_loops loops[max_parts]{};
  for (int i = 0; i < count; ++i) {
    chain[i] = link_of(parts[i]);
    loops[i] = loops_of(parts[i], 4 * parts[i].data.in.count());
    loops[i].output = 4 * parts[i].data.out.count();
  }
  add_pipeline(r, loops, chain, count, tiles, set_of(chain, count, tiles));
}

}  // namespace ago::plan
