// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "account.hpp"

#include "processor.hpp"

#include <ago/plan/account.hpp>
#include <ago/tuner/machine.hpp>

#include <string>

namespace bench {
namespace {

using ago::plan::planned_step;

std::string extents(ago::shape s) {
  std::string const image = std::to_string(s.h) + 'x' + std::to_string(s.w) + 'x' + std::to_string(s.c);
  return s.n == 1 ? image : std::to_string(s.n) + 'x' + image;
}

std::string epilogue_of(planned_step const& p) {
  std::string names;
  for (int k = 0; k < p.nodes.stage_count; ++k) names += std::string(" ") + name_of(p.key.after.stages[k].kind);
  return names;
}

/// The preset of this core, or else the usual device, as far as Linux tells.
ago::device preset_here(ago::isa target) {
  bool const amd = cpuinfo("vendor_id") == "AuthenticAMD";
  if (amd && cpuinfo("cpu family") == "26") return ago::zen_5;
  bool const wide = cpuinfo("flags").find(" avx512f") != std::string::npos;
  return amd && cpuinfo("cpu family") == "25" && wide ? ago::zen_4 : ago::partition::usual_device(target);
}

}  // namespace

step_account account_for(graph_view const& graph, std::span<planned_step const> parts, ago::tiling how) {
  ago::plan::step_account const numbers = account_of(graph, parts.data(), int(parts.size()));
  step_account a{"", "", numbers.multiply_adds, numbers.bytes()};
  if (parts.size() > 1) a.kernel = std::string(name_of(how)) + ": ";
  a.layers = extents(parts.front().data.in);
  for (planned_step const& p : parts) {
    if (&p != &parts.front()) a.kernel += ", ";
    a.kernel += name_of(p.key.what);
    a.layers += " > " + extents(p.data.out) + epilogue_of(p);
  }
  return a;
}

ago::device device_here(ago::isa target) {
  ago::device on = preset_here(target);
  auto const found = ago::tuner::processors();
  if (!found.empty() && found[0].l1_bytes > 0) on.l1_bytes = found[0].l1_bytes;
  if (!found.empty() && found[0].l2_bytes > 0) on.l2_bytes = found[0].l2_bytes;
  return on;
}

}  // namespace bench
