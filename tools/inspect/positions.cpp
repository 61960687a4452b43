// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "positions.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace ago::tools {
namespace {

/// An edge whose items could be aligned vertically, and their indices in their layers.
struct alignment {
  int above, below, from, to;
  int rank;  ///< the lowest is aligned first
};

/// Whether this item carries a value that has several readers. Such an item may be moved aside.
bool is_bypass(layered_graph const& g, int item) {
  layer_item const& i = g.items[std::size_t(item)];
  return i.passes && g.items[std::size_t(i.node)].below.size() > 1;
}

/// Aligns chains first, then the items that bypass them; mixed edges come last because they bend anyway.
int rank_of(layered_graph const& g, int above, int below) {
  bool const a = is_bypass(g, above), b = is_bypass(g, below);
  return a != b ? 2 : a ? 1 : 0;
}

std::vector<alignment> candidates(layered_graph const& g, std::size_t layer, std::vector<int> const& order) {
  std::vector<alignment> all;
  for (int const v : g.layers[layer])
    for (int const u : g.items[std::size_t(v)].above)
      all.push_back({u, v, order[std::size_t(u)], order[std::size_t(v)], rank_of(g, u, v)});
  std::sort(all.begin(), all.end(), [](alignment const& a, alignment const& b) {
    return std::tie(a.rank, a.to, a.from) < std::tie(b.rank, b.to, b.from);
  });
  return all;
}

/// Vertically aligned items form a block: the block number of each item, numbered downwards. Edges inside blocks do not
/// cross, so the order of blocks from left to right has no cycles.
std::vector<int> blocks_of(layered_graph const& g) {
  std::vector<int> order(g.items.size()), block(g.items.size(), -1);
  for (auto const& layer : g.layers)
    for (std::size_t k = 0; k < layer.size(); ++k) order[std::size_t(layer[k])] = int(k);
  int count = 0;
  for (std::size_t l = 0; l < g.layers.size(); ++l) {
    std::vector<alignment> taken;
    for (alignment const& a : candidates(g, l, order)) {
      bool const clashes = std::any_of(taken.begin(), taken.end(), [&](alignment const& b) {
        return a.above == b.above || a.below == b.below || (a.from < b.from) != (a.to < b.to);
      });
      if (!clashes) taken.push_back(a);
    }
    for (alignment const& a : taken) block[std::size_t(a.below)] = block[std::size_t(a.above)];
    for (int const v : g.layers[l])
      if (block[std::size_t(v)] < 0) block[std::size_t(v)] = count++;
  }
  return block;
}

/// Two blocks that are adjacent in a layer: `right` must be at least `distance` to the right of `left`.
struct constraint {
  int left, right;
  double distance;
};

/// Blocks, with constraints that keep them apart and edges that pull them together.
struct block_graph {
  std::vector<constraint> constraints;
  std::vector<std::vector<int>> bounds;      ///< per block, the indices of its constraints
  std::vector<std::vector<int>> neighbours;  ///< per block, the blocks connected to it by edges
  int count{};
};

block_graph connected(layered_graph const& g, std::vector<int> const& block,
                      double (*distance)(layer_item const&, layer_item const&)) {
  block_graph r;
  r.count = block.empty() ? 0 : *std::max_element(block.begin(), block.end()) + 1;
  r.bounds.resize(std::size_t(r.count));
  r.neighbours.resize(std::size_t(r.count));
  for (auto const& layer : g.layers)
    for (std::size_t k = 1; k < layer.size(); ++k) {
      std::size_t const left = std::size_t(layer[k - 1]), right = std::size_t(layer[k]);
      r.bounds[std::size_t(block[left])].push_back(int(r.constraints.size()));
      r.bounds[std::size_t(block[right])].push_back(int(r.constraints.size()));
      r.constraints.push_back({block[left], block[right], distance(g.items[left], g.items[right])});
    }
  for (std::size_t v = 0; v < g.items.size(); ++v)
    for (int const u : g.items[v].above) {
      int const a = block[std::size_t(u)], b = block[v];
      if (a == b) continue;
      r.neighbours[std::size_t(a)].push_back(b);
      r.neighbours[std::size_t(b)].push_back(a);
    }
  return r;
}

/// As far left as the constraints allow.
std::vector<double> packed(block_graph const& g) {
  std::vector<double> x(std::size_t(g.count), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (constraint const& c : g.constraints) {
      double const least = x[std::size_t(c.left)] + c.distance;
      if (x[std::size_t(c.right)] >= least) continue;
      x[std::size_t(c.right)] = least;
      moved = true;
    }
  }
  return x;
}

/// Moves each block towards its neighbours, within its constraints.
void gather(block_graph const& g, std::vector<double>& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 20; ++round)
    for (std::size_t b = 0; b < x.size(); ++b) {
      auto const& near = g.neighbours[b];
      if (near.empty()) continue;
      double least = -infinity, most = infinity, sum = 0;
      for (int const k : g.bounds[b]) {
        constraint const& c = g.constraints[std::size_t(k)];
        if (c.right == int(b)) least = std::max(least, x[std::size_t(c.left)] + c.distance);
        else most = std::min(most, x[std::size_t(c.right)] - c.distance);
      }
      for (int const n : near) sum += x[std::size_t(n)];
      x[b] = std::clamp(sum / double(near.size()), least, std::max(least, most));
    }
}

}  // namespace

std::vector<double> positions_of(layered_graph const& g, double (*distance)(layer_item const&, layer_item const&)) {
  auto const block = blocks_of(g);
  block_graph const blocks = connected(g, block, distance);
  auto x = packed(blocks);
  gather(blocks, x);
  std::vector<double> positions(g.items.size());
  for (std::size_t v = 0; v < g.items.size(); ++v) positions[v] = x[std::size_t(block[v])];
  return positions;
}

}  // namespace ago::tools
