// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "drawing.hpp"

#include "figures.hpp"
#include "positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ago::tools {
namespace {

constexpr double pitch = drawing::box_height + drawing::gap;
constexpr double lane = 14;     ///< width of an edge that passes a layer
constexpr double gutter = 56;   ///< between columns
constexpr double margin = 28;

double half_width(layer_item const& item) { return (item.passes ? lane : drawing::box_width + lane) / 2; }

double distance(layer_item const& left, layer_item const& right) { return half_width(left) + half_width(right); }

/// Layers first ... last - 1; left and right are x coordinates.
struct column {
  std::size_t first{}, last{};
  double left{}, right{};
};

int edges_into(layered_graph const& g, std::size_t layer) {
  int count = 0;
  for (int const i : g.layers[layer]) count += int(g.items[std::size_t(i)].above.size());
  return count;
}

/// Cuts the layers into `count` columns of similar length, where there are few edges.
std::vector<column> cut(layered_graph const& g, std::size_t count) {
  std::vector<column> columns;
  for (std::size_t first = 0; columns.size() < count; first = columns.back().last) {
    std::size_t const layers = g.layers.size() - first, rows = layers / (count - columns.size());
    std::size_t best = first + rows;
    for (std::size_t away = 1; away <= rows / 6 && columns.size() + 1 < count; ++away)
      for (std::size_t const at : {first + rows + away, first + rows - away})
        if (edges_into(g, at) < edges_into(g, best)) best = at;
    columns.push_back({first, best});
  }
  return columns;
}

double measure(layered_graph const& g, std::vector<double> const& x, std::vector<column>& columns) {
  double at = margin;
  for (column& c : columns) {
    double least = std::numeric_limits<double>::max(), most = std::numeric_limits<double>::lowest();
    for (std::size_t l = c.first; l < c.last; ++l)
      for (int const i : g.layers[l]) {
        double const half = half_width(g.items[std::size_t(i)]);
        least = std::min(least, x[std::size_t(i)] - half);
        most = std::max(most, x[std::size_t(i)] + half);
      }
    c.left = at - least;  // temporarily the offset of the column
    c.right = at + most - least;
    at = c.right + gutter;
  }
  return at - gutter + margin;
}

/// The columns that make the drawing closest to a square, and its width.
std::pair<std::vector<column>, double> columns_of(layered_graph const& g, std::vector<double> const& x) {
  std::pair<std::vector<column>, double> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t count = 1; count <= std::max<std::size_t>(1, g.layers.size() / 8); ++count) {
    auto columns = cut(g, count);
    double const width = measure(g, x, columns), height = double(g.layers.size() / count) * pitch + 2 * margin;
    double const away = std::abs(std::log(width / height));
    if (away < least) best = {columns, width}, least = away;
  }
  return best;
}

std::string at(double x, double y) { return fixed(x, 1) + ' ' + fixed(y, 1); }

/// The path from an item to one in the next layer, which is in the same column or at the top of the next column.
std::string link(place_on_paper from, place_on_paper to, bool next_column, double bottom, double gutter_x) {
  double const half = drawing::box_height / 2;
  if (!next_column) {
    double const start = from.y + half, end = to.y - half, middle = (start + end) / 2;
    if (std::abs(from.x - to.x) < .5) return " L" + at(to.x, end);
    return " L" + at(from.x, start) + " C" + at(from.x, middle) + ' ' + at(to.x, middle) + ' ' + at(to.x, end);
  }
  double const top = margin / 2;
  return " L" + at(from.x, bottom) + " L" + at(gutter_x, bottom) + " L" + at(gutter_x, top) + " L" + at(to.x, top) +
         " L" + at(to.x, to.y - half);
}

/// Computes coordinates and paths.
class pen {
 public:
  pen(layered_graph const& g, std::vector<double> const& x, std::vector<column> const& columns)
      : g_(g), columns_(columns), places_(g.items.size()), column_(g.items.size()) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (std::size_t l = columns[c].first; l < columns[c].last; ++l)
        for (int const i : g.layers[l]) {
          double const y = margin + pitch * (double(l - columns[c].first) + .5);
          places_[std::size_t(i)] = {x[std::size_t(i)] + columns[c].left, y};
          column_[std::size_t(i)] = c;
          bottom_ = std::max(bottom_, y + pitch / 2);
        }
  }

  double height() const { return bottom_ + margin; }
  place_on_paper const& place(int item) const { return places_[std::size_t(item)]; }

  /// The path from node u to node v, through the items that carry the value of u.
  std::string path(int u, int v) const {
    std::vector<int> way{v};
    while (way.back() != u) {
      auto const& above = g_.items[std::size_t(way.back())].above;
      auto const carries = [&](int i) { return g_.items[std::size_t(i)].node == u; };
      way.push_back(*std::find_if(above.begin(), above.end(), carries));
    }
    std::reverse(way.begin(), way.end());
    std::string d = 'M' + at(place(u).x, place(u).y + drawing::box_height / 2);
    for (std::size_t k = 0; k + 1 < way.size(); ++k) d += step(way[k], way[k + 1]);
    return d;
  }

 private:
  std::string step(int from, int to) const {
    std::size_t const c = column_[std::size_t(from)];
    bool const next = column_[std::size_t(to)] != c;
    return link(place(from), place(to), next, bottom_ + margin / 3, columns_[c].right + gutter / 2);
  }

  layered_graph const& g_;
  std::vector<column> const& columns_;
  std::vector<place_on_paper> places_;
  std::vector<std::size_t> column_;
  double bottom_ = 0;
};

}  // namespace

drawing draw(operand_lists const& operands) {
  drawing r;
  if (operands.empty()) return r;
  layered_graph const g = layers_of(operands);
  std::vector<double> const x = positions_of(g, distance);
  auto const [columns, width] = columns_of(g, x);
  pen const p(g, x, columns);
  r.width = width;
  r.height = p.height();
  for (std::size_t v = 0; v < operands.size(); ++v) r.nodes.push_back(p.place(int(v)));
  for (std::size_t v = 0; v < operands.size(); ++v) {
    auto sources = operands[v];
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    for (int const u : sources) r.edges.push_back({u, int(v), p.path(u, int(v))});
  }
  return r;
}

}  // namespace ago::tools
