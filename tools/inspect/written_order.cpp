// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "written_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace ago::tools {
namespace {

using ago::tracing::recorder;

/// Matches each node of `made` with one of `written`; -1: a conversion of an input whose layout differs. Nodes are
/// matched from the outputs on, as both have the same operands. Empty: the networks differ.
class matching {
 public:
  matching(recorder const& made, recorded_network const& written)
      : made_(made), written_(written), partner_(std::size_t(made.nodes.size), none), taken_(written.nodes.size()) {}

  std::vector<int> partners() {
    if (std::size_t(made_.outputs.size) != written_.outputs.size()) return {};
    for (int i = 0; i < made_.inputs; ++i)
      if (!pair(i, i)) return {};
    for (int i = 0; i < made_.outputs.size; ++i)
      if (!pair(made_.outputs[i], written_.outputs[std::size_t(i)])) return {};
    if (!pair_unread()) return {};
    return std::move(partner_);
  }

 private:
  static constexpr int none = -2;

  bool pair(int v, int w) {
    std::vector<std::pair<int, int>> open{{v, w}};
    while (!open.empty()) {
      auto const [a, b] = open.back();
      open.pop_back();
      ir::node const& m = made_.nodes[a];
      ir::node const& n = written_.nodes[std::size_t(b)];
      int& partner = partner_[std::size_t(a)];
      if (m.kind == op::from_nchw && n.kind == op::input) {
        partner = -1;
        open.push_back({made_.edges[m.input_first], b});
        continue;
      }
      if (partner == b) continue;
      if (partner != none || taken_[std::size_t(b)] || m.kind != n.kind || m.input_count != n.input_count) return false;
      partner = b;
      taken_[std::size_t(b)] = true;
      for (int k = 0; k < m.input_count; ++k)
        open.push_back({made_.edges[m.input_first + k], written_.edges[std::size_t(n.input_first + k)]});
    }
    return true;
  }

  /// Nodes that no output needs: the last unmatched one of `made` is matched with the last possible one of `written`.
  bool pair_unread() {
    for (int v = made_.nodes.size; v-- > 0;) {
      if (partner_[std::size_t(v)] != none) continue;
      bool paired = false;
      for (int w = int(written_.nodes.size()); w-- > 0 && !paired;) {
        if (taken_[std::size_t(w)]) continue;
        auto const before = std::pair(partner_, taken_);
        paired = pair(v, w);
        if (!paired) std::tie(partner_, taken_) = before;
      }
      if (!paired) return false;
    }
    return std::find(taken_.begin(), taken_.end(), false) == taken_.end();
  }

  recorder const& made_;
  recorded_network const& written_;
  std::vector<int> partner_;
  std::vector<bool> taken_;
};

/// Maps old offsets of parameters to new ones.
class offsets {
 public:
  /// `layer_of`: the new number of each layer.
  offsets(recorder const& made, std::map<int, int> const& layer_of, recorder& to) {
    std::vector<parameter> all;
    for (int i = 0; i < made.parameters.size; ++i) {
      all.push_back(made.parameters[i]);
      all.back().layer = layer_of.at(all.back().layer);
    }
    std::stable_sort(all.begin(), all.end(), [](parameter const& a, parameter const& b) { return a.layer < b.layer; });
    for (parameter p : all) {
      new_[p.offset] = int(to.floats);
      p.offset = int(to.floats);
      to.floats += p.count();
      to.parameters.push(p);
    }
  }
  int operator()(int old) const { return old < 0 ? old : new_.at(old); }

 private:
  std::map<int, int> new_;
};

}  // namespace

std::unique_ptr<recorder const> in_written_order(recorder const& made, recorded_network const& written) {
  std::vector<int> const partner = matching(made, written).partners();
  if (partner.empty()) return nullptr;

  // Inputs first, then their conversions, then all others in the written order.
  std::vector<int> order(partner.size());
  std::iota(order.begin(), order.end(), 0);
  auto const rank = [&](int v) {
    if (v < made.inputs) return v;
    int const w = partner[std::size_t(v)];
    return w < 0 ? made.inputs : made.inputs + 1 + w;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });

  std::map<int, int> layer_of;
  std::vector<int> place(partner.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    int const v = order[i], w = partner[std::size_t(v)];
    place[std::size_t(v)] = int(i);
    if (w >= 0) layer_of[made.nodes[v].layer] = written.nodes[std::size_t(w)].layer;
  }

  auto to = std::make_unique<recorder>();
  offsets const moved(made, layer_of, *to);
  for (int v : order) {
    ir::node n = made.nodes[v];
    int const first = n.input_first;
    n.input_first = to->edges.size;
    for (int k = 0; k < n.input_count; ++k) to->edges.push(place[std::size_t(made.edges[first + k])]);
    n.layer = layer_of.at(n.layer);
    n.weight = moved(n.weight);
    n.shift = moved(n.shift);
    n.norm = moved(n.norm);
    to->nodes.push(n);
  }
  for (int i = 0; i < made.outputs.size; ++i) to->outputs.push(place[std::size_t(made.outputs[i])]);
  to->inputs = made.inputs;
  to->layers = made.layers;
  to->bad = made.bad;
  return to;
}

}  // namespace ago::tools
