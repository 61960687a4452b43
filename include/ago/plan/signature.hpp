// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The key of a tuned schedule: a hash of what a step computes, independent of its position in the network.
#pragma once

#include <ago/ir/hash.hpp>
#include <ago/plan/form_steps.hpp>
#include <ago/plan/options.hpp>
#include <ago/plan/schedule.hpp>

#include <concepts>
#include <optional>

namespace ago::plan {

/// Changes whenever signatures or the meaning of schedules change, so that old tables are ignored instead of misread.
inline constexpr std::uint64_t signature_version = 2;

/// Mixes in what an expression computes.
constexpr void mix(value_hash& h, expression::index_expression const& e) {
  for (int i = 0; i < e.axis_count; ++i) h.mix(std::uint64_t(e.extent[i]));
  for (int i = 0; i < e.operand_count; ++i)
    for (int d = 0; d < e.operands[i].rank; ++d) h.mix(std::uint64_t(e.operands[i].of[d]));
  h.mix(std::uint64_t(e.result.rank));
  for (int i = 0; i < e.body.term_count; ++i)
    h.mix(std::uint64_t(e.body.terms[i].atom) << 32 ^ std::uint32_t(e.body.terms[i].coefficient));
  auto const sum = [&](expression::affine_sum const& s) {
    h.mix(std::uint64_t(s.first) << 48 ^ std::uint64_t(s.count) << 32 ^ std::uint32_t(s.constant));
  };
  for (int i = 0; i < e.body.quotient_count; ++i) {
    expression::quotient const& q = e.body.quotients[i];
    sum(q.of);
    h.mix(std::uint64_t(q.divisor) << 32 ^ std::uint32_t(q.modulus));
  }
  for (int i = 0; i < e.body.access_count; ++i) {
    expression::element_access const& a = e.body.accesses[i];
    h.mix(std::uint64_t(a.operand) << 40 ^ std::uint64_t(a.padded) << 32 ^ a.pad_bits);
    for (int d = 0; d < a.rank; ++d) {
      sum(a.at[d].sum);
      h.mix(std::uint64_t(a.at[d].node));
    }
  }
  for (int i = 0; i < e.body.node_count; ++i) {
    expression::node const& n = e.body.nodes[i];
    h.mix(std::uint64_t(n.kind) << 32 ^ n.bits);
    for (int k = 0; k < 3; ++k) h.mix(std::uint64_t(n.operand[k]));
  }
}

/// A hash of the structure, attributes and shapes of a step, and of the target and the threads of `o`. Independent of
/// names, lines, indices and weights, so that equal blocks share an entry.
constexpr std::uint64_t signature_of(graph_view g, step_nodes const& s, options const& o) {
  value_hash h;
  h.mix(signature_version);
  h.mix(std::uint64_t(o.target));
  if (o.device.threads > 1) h.mix(std::uint64_t(o.device.threads));
  h.mix(g.nodes[s.source].out);
  if (s.main >= 0) {
    node const& n = g.nodes[s.main];
    window const& w = n.win;
    h.mix(std::uint64_t(n.kind));
    h.mix(n.out);
    int const down = w.stride_h * n.patch.h, across = w.stride_w * n.patch.w;  // an operator has a window or a patch
    int const attributes[] = {w.kernel_h, w.kernel_w, down,         across,      w.dilation_h, w.dilation_w,
                              w.pad_top,  w.pad_left, w.pad_bottom, w.pad_right, n.groups,     int(n.count_pads)};
    for (int x : attributes) h.mix(std::uint64_t(x));
    if (s.attention) h.mix(std::uint64_t(op::attention_scores));
    for (int const v : s.inputs)
      if (v >= 0) h.mix(g.nodes[v].out);
    if (n.transposed || n.exchanged) h.mix(1);
    if (n.described) plan::mix(h, *n.described);
    if (!s.is_whole()) h.mix(std::uint64_t(s.piece.count));
  }
  h.mix(s.bias >= 0);
  for (int i = 0; i < s.stage_count; ++i) {
    h.mix(std::uint64_t(g.nodes[s.stages[i]].kind));
    if (s.others[i] >= 0) h.mix(g.nodes[s.others[i]].out);
    if (s.reversed[i]) h.mix(1);
  }
  return h.value;
}

/// The schedule of a step in a table; none in `untuned`, for which its signature is not computed.
template <class Table>
constexpr auto schedule_in(Table const& table, graph_view g, step_nodes const& s, options const& o) {
  if constexpr (std::same_as<Table, untuned_t>) return std::optional<schedule>();
  else return table.find(signature_of(g, s, o));
}

}  // namespace ago::plan
