// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layers.hpp"

#include <algorithm>
#include <climits>
#include <numeric>

namespace ago::tools {
namespace {

std::vector<int> ranks_of(operand_lists const& operands) {
  std::vector<int> rank(operands.size()), first_reader(operands.size(), INT_MAX);
  for (std::size_t v = 0; v < operands.size(); ++v)
    for (int const u : operands[v]) rank[v] = std::max(rank[v], rank[std::size_t(u)] + 1);
  for (std::size_t v = 0; v < operands.size(); ++v)
    for (int const u : operands[v]) first_reader[std::size_t(u)] = std::min(first_reader[std::size_t(u)], rank[v]);
  for (std::size_t v = 0; v < operands.size(); ++v)
    if (operands[v].empty() && first_reader[v] < INT_MAX) rank[v] = first_reader[v] - 1;
  return rank;
}

void connect(layered_graph& g, int from, int to) {
  auto& below = g.items[std::size_t(from)].below;
  if (std::find(below.begin(), below.end(), to) != below.end()) return;  // a node may read a value twice
  below.push_back(to);
  g.items[std::size_t(to)].above.push_back(from);
}

/// Connects node u to node v through items in all layers between; creates missing ones.
void lead(layered_graph& g, std::vector<std::vector<int>>& passing, int u, int v) {
  int at = u;
  for (int layer = g.items[std::size_t(u)].layer + 1; layer < g.items[std::size_t(v)].layer; ++layer) {
    auto& on_the_way = passing[std::size_t(u)];
    std::size_t const k = std::size_t(layer - g.items[std::size_t(u)].layer - 1);
    if (k == on_the_way.size()) {
      on_the_way.push_back(int(g.items.size()));
      g.layers[std::size_t(layer)].push_back(on_the_way[k]);
      g.items.push_back({.node = u, .passes = true, .layer = layer});
    }
    connect(g, at, on_the_way[k]);
    at = on_the_way[k];
  }
  connect(g, at, v);
}

/// Sorts the items of a layer by the mean position of their neighbours in the layer before, or in the next one.
void sort_layer(layered_graph& g, std::vector<int>& layer, std::vector<double>& position, bool by_above) {
  std::vector<double> wish(layer.size());
  for (std::size_t k = 0; k < layer.size(); ++k) {
    layer_item const& item = g.items[std::size_t(layer[k])];
    auto const& neighbours = by_above ? item.above : item.below;
    double sum = 0;
    for (int const n : neighbours) sum += position[std::size_t(n)];
    wish[k] = neighbours.empty() ? position[std::size_t(layer[k])] : sum / double(neighbours.size());
  }
  std::vector<std::size_t> order(layer.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {  // equal ones keep their order
    return wish[a] != wish[b] ? wish[a] < wish[b] : a < b;
  });
  std::vector<int> sorted;
  for (std::size_t const k : order) sorted.push_back(layer[k]);
  layer = std::move(sorted);
  for (std::size_t k = 0; k < layer.size(); ++k)  // from -1 to 1, so that short layers are centred on long ones
    position[std::size_t(layer[k])] = (2. * double(k) + 1) / double(layer.size()) - 1;
}

}  // namespace

layered_graph layers_of(operand_lists const& operands) {
  layered_graph g;
  auto const rank = ranks_of(operands);
  g.layers.resize(operands.empty() ? 0 : std::size_t(*std::max_element(rank.begin(), rank.end())) + 1);
  for (std::size_t v = 0; v < operands.size(); ++v) {
    g.items.push_back({.node = int(v), .layer = rank[v]});
    g.layers[std::size_t(rank[v])].push_back(int(v));
  }
  std::vector<std::vector<int>> passing(operands.size());
  for (std::size_t v = 0; v < operands.size(); ++v)
    for (int const u : operands[v]) lead(g, passing, u, int(v));

  std::vector<double> position(g.items.size());
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t l = 0; l < g.layers.size(); ++l) sort_layer(g, g.layers[l], position, true);
    for (std::size_t l = g.layers.size(); l-- > 0;) sort_layer(g, g.layers[l], position, false);
  }
  return g;
}

}  // namespace ago::tools
