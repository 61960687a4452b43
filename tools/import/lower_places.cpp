// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "images.hpp"
#include "movement.hpp"
#include "places.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

namespace ago::importer {

namespace {

/// The row-major elements of `x` as a value with these axes.
int with_axes(context& c, view const& x, std::vector<std::int64_t> const& axes) {
  view_as to;
  for (std::int64_t const extent : axes) to.to.of[to.to.rank++] = int(extent);
  return c.net.apply(to, {in_row_major(c.net, x).value});
}

std::int64_t product_of_range(extents const& dims, int begin, int end) {
  return product({dims.begin() + begin, dims.begin() + end});
}

/// The axes before, at and after `axis`.
std::vector<std::int64_t> axes_around(extents const& dims, int axis) {
  return {product_of_range(dims, 0, axis), dims[std::size_t(axis)], product_of_range(dims, axis + 1, int(dims.size()))};
}

view row_major_result(node_reader const& n, int value) { return {value, row_major(n.out_dims())}; }

void expect_exact(std::int64_t places) {
  constexpr std::int64_t most = 1 << 24;  // beyond this, floats skip integers
  if (places > most) throw unsupported("indices of more than 2^24 places are not supported");
}

/// Before operator set 13, one maximum in all axes from the given one on.
void hardmax_rule(node_reader const& n) {
  int const rank = int(n.dims().size());
  bool const one = n.c.model.opset >= 13;
  int const axis = axis_of(n.integer("axis", one ? -1 : 1), rank), end = one ? axis + 1 : rank;
  extents const& d = n.dims();
  int const x = with_axes(
      n.c, n.x(), {product_of_range(d, 0, axis), product_of_range(d, axis, end), product_of_range(d, end, rank)});
  n.define(row_major_result(n, n.c.net.apply(hardmax{}, {x})));
}

void triangle_rule(node_reader const& n) {
  std::int64_t const given = n.has(1) ? n.integers(1, "k").at(0) : 0;
  bool const upper = n.integer("upper", 1) != 0;
  extents const& d = n.dims();
  int const rank = int(d.size());
  std::int64_t const rows = d[std::size_t(rank - 2)], columns = d[std::size_t(rank - 1)];
  int const diagonal = int(std::clamp(given, -rows, columns));  // beyond, nothing changes
  int const x = with_axes(n.c, n.x(), {product_of_range(d, 0, rank - 2), rows, columns});
  n.define(row_major_result(n, n.c.net.apply(triangle{.diagonal = diagonal, .lower = !upper}, {x})));
}

void gather_nd_rule(node_reader const& n) {
  extents const &d = n.dims(0), &at = n.dims(1);
  int const batches = int(n.integer("batch_dims", 0)), depth = int(at.back()), end = batches + depth;
  if (depth > 4) throw unsupported("tuples of more than four indices are not supported");
  std::int64_t const places = product_of_range(d, batches, end), outer = product_of_range(d, 0, batches);
  expect_exact(places);
  int extent[4]{1, 1, 1, 1};
  for (int i = 0; i < depth; ++i) extent[i] = int(d[std::size_t(batches + i)]);
  int const x = with_axes(n.c, n.x(0), {outer, places, product_of_range(d, end, int(d.size()))});
  int const i = with_axes(n.c, n.x(1), {outer, product_of_range(at, batches, int(at.size()) - 1), depth});
  gather_nd const layer{.first = extent[0], .second = extent[1], .third = extent[2], .fourth = extent[3]};
  n.define(row_major_result(n, n.c.net.apply(layer, {x, i})));
}

void reverse_sequence_rule(node_reader const& n) {
  extents const& d = n.dims();
  int const rank = int(d.size());
  int const batch = axis_of(n.integer("batch_axis", 1), rank), time = axis_of(n.integer("time_axis", 0), rank);
  expect_exact(d[std::size_t(time)]);
  std::vector<int> order{batch, time}, back(std::size_t(rank), 0);
  for (int a = 0; a < rank; ++a)
    if (a != batch && a != time) order.push_back(a);
  extents dims;
  for (int i = 0; i < rank; ++i) {
    dims.push_back(d[std::size_t(order[std::size_t(i)])]);
    back[std::size_t(order[std::size_t(i)])] = i;
  }
  int const x = with_axes(n.c, transposed(n.x(), order), {dims[0], dims[1], product_of_range(dims, 2, rank)});
  int const lengths = with_axes(n.c, n.x(1), {dims[0]});
  n.define(transposed(view{n.c.net.apply(reverse_sequence{}, {x, lengths}), row_major(dims)}, back));
}

void grid_sample_rule(node_reader const& n) {
  std::string const mode = n.text("mode", "bilinear"), outside = n.text("padding_mode", "zeros");
  if (n.dims().size() != 4) throw unsupported("only images of two dimensions are supported");
  static std::map<std::string, grid_sample::interpolation> const modes{{"bilinear", grid_sample::bilinear},
                                                                       {"linear", grid_sample::bilinear},
                                                                       {"nearest", grid_sample::nearest},
                                                                       {"bicubic", grid_sample::bicubic},
                                                                       {"cubic", grid_sample::bicubic}};
  static std::map<std::string, grid_sample::padding> const paddings{
      {"zeros", grid_sample::zeros}, {"border", grid_sample::border}, {"reflection", grid_sample::reflection}};
  if (!modes.contains(mode)) throw unsupported("mode \"" + mode + "\" is not supported");
  if (!paddings.contains(outside)) throw unsupported("padding_mode \"" + outside + "\" is not supported");
  extents const &d = n.dims(), &grid = n.dims(1);
  view_as axes{expression::extents(int(d[0]), int(d[2]), int(d[3]), int(d[1]))};
  int const x = n.c.net.apply(axes, {as_image(n.c, n.x()).value});
  int const at = with_axes(n.c, n.x(1), {grid[0], grid[1] * grid[2], 2});
  grid_sample const layer{
      .mode = modes.at(mode), .outside = paddings.at(outside), .align_corners = n.integer("align_corners", 0) != 0};
  n.define(image(n.c.net.apply(layer, {x, at}), n.out_dims()));
}

/// One dimension is a column.
void col2im_rule(node_reader const& n) {
  auto shape_of = n.integers(1, "the image's shape"), kernel = n.integers(2, "the block's shape");
  if (shape_of.size() > 2) throw unsupported("images of more than two dimensions are not supported");
  auto const in_two = [&](std::vector<std::int64_t> list, std::int64_t otherwise) {
    if (list.empty()) list.assign(shape_of.size(), otherwise);
    if (list.size() != shape_of.size()) throw unsupported("an attribute has the wrong number of elements");
    if (list.size() == 1) list.insert(list.begin(), otherwise);
    for (std::int64_t const i : list)
      if (i < otherwise || i > (1 << 24)) throw unsupported("an attribute is too small or too large");
    return list;
  };
  auto const size = in_two(shape_of, 1), block = in_two(kernel, 1), step = in_two(n.list("strides"), 1),
             apart = in_two(n.list("dilations"), 1);
  auto pads = n.list("pads");
  pads.resize(2 * shape_of.size());
  auto const before = in_two({pads.begin(), pads.begin() + std::ptrdiff_t(shape_of.size())}, 0);
  auto const after = in_two({pads.begin() + std::ptrdiff_t(shape_of.size()), pads.end()}, 0);
  std::int64_t windows[2];
  for (std::size_t i : {0, 1}) {
    std::int64_t const room = size[i] + before[i] + after[i] - (block[i] - 1) * apart[i] - 1;
    if (room < 0) throw unsupported("its image is smaller than a window");
    windows[i] = room / step[i] + 1;
  }
  extents const& d = n.dims();
  if (windows[0] * windows[1] != d[2])
    throw unsupported("it has " + std::to_string(d[2]) + " windows, expected " +
                      std::to_string(windows[0] * windows[1]));
  int const x = with_axes(n.c, n.x(), {d[0], n.out_dims()[1], block[0], block[1], windows[0], windows[1]});
  col2im const layer{.height = int(size[0]),
                     .width = int(size[1]),
                     .kernel = {int(block[0]), int(block[1])},
                     .stride = {int(step[0]), int(step[1])},
                     .pad = {.top = int(before[0]), .left = int(before[1])},
                     .dilation = {int(apart[0]), int(apart[1])}};
  n.define(image(n.c.net.apply(layer, {x}), n.out_dims()));
}

}  // namespace

bool fit_along_axis(node_reader const& n) {
  extents d = n.dims(0), at = n.dims(1);
  std::size_t const axis = std::size_t(axis_of(n.integer("axis", 0), int(d.size())));
  at[axis] = d[axis];
  return d == at;
}

view taken_along_axis(node_reader const& n) {
  extents const &d = n.dims(0), &at = n.dims(1);
  int const axis = axis_of(n.integer("axis", 0), int(d.size()));
  if (!fit_along_axis(n))
    throw unsupported("its indices must be constant, or differ from its data along the axis only");
  expect_exact(d[std::size_t(axis)]);
  int const x = with_axes(n.c, n.x(0), axes_around(d, axis)), i = with_axes(n.c, n.x(1), axes_around(at, axis));
  return row_major_result(n, n.c.net.apply(take_along_axis{}, {x, i}));
}

void add_place_rules(rule_table& t) {
  t["Hardmax"] = hardmax_rule;
  t["Trilu"] = triangle_rule;
  t["GatherND"] = gather_nd_rule;
  t["ReverseSequence"] = reverse_sequence_rule;
  t["GridSample"] = grid_sample_rule;
  t["Col2Im"] = col2im_rule;
}

}  // namespace ago::importer
