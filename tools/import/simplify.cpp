// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges layers that a single layer can compute.
#include "simplify.hpp"

#include <algorithm>

namespace ago::importer {

namespace {

/// Gives a layer with weights its own bias; false if it has no weights, or already a bias.
struct bias_taker {
  bool operator()(conv2d& l) const { return take(l.bias); }
  bool operator()(conv_transpose& l) const { return take(l.bias); }
  bool operator()(pointwise& l) const { return take(l.bias); }
  bool operator()(depthwise& l) const { return take(l.bias); }
  bool operator()(linear& l) const { return take(l.bias); }
  bool operator()(auto&) const { return false; }

 private:
  static bool take(bool& bias) { return bias ? false : (bias = true); }
};

}  // namespace

call_list simplified(call_list list) {
  std::vector<call>& calls = list.calls;
  std::vector<int> uses(calls.size(), 0), became(calls.size());
  for (call const& c : calls)
    for (int v : c.operands) ++uses[std::size_t(v)];
  for (int v : list.outputs) ++uses[std::size_t(v)];
  for (std::size_t i = 0; i < calls.size(); ++i) {
    call& c = calls[i];
    for (int& v : c.operands) v = became[std::size_t(v)];
    became[i] = int(i);
    if (!std::holds_alternative<bias>(c.what) || uses[std::size_t(c.operands[0])] != 1) continue;
    call& before = calls[std::size_t(c.operands[0])];
    if (!std::visit(bias_taker{}, before.what)) continue;
    before.weights.insert(before.weights.end(), c.weights.begin(), c.weights.end());
    became[i] = c.operands[0];
    uses[std::size_t(c.operands[0])] = uses[i];
  }
  for (int& v : list.outputs) v = became[std::size_t(v)];
  return list;
}

}  // namespace ago::importer
