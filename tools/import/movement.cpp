// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "movement.hpp"

#include "arithmetic.hpp"

#include <algorithm>

namespace ago::importer {

namespace {

int to_int(std::int64_t extent) {
  if (extent > tracing::int_limit) throw unsupported("a value is too large");
  return int(extent);
}

/// `l` with another number of elements along an axis of at most one atom.
layout with_extent(layout const& l, int axis, std::int64_t extent) {
  auto const atoms = l.of_axis(axis);
  int place = 0;
  if (!atoms.empty()) place = int(std::find(l.memory.begin(), l.memory.end(), atoms[0]) - l.memory.begin());
  return with_axis(without_axes(l, {axis}), axis, extent, place);
}

}  // namespace

view with_dims(context& c, view x, extents const& dims) {
  if (x.how.dims == dims) return x;
  if (x.how.count() != product(dims)) throw std::logic_error("importer: dims of another number of elements");
  if (auto const l = reshaped(x.how, dims)) return {x.value, *l};
  return {in_row_major(c.net, x).value, row_major(dims)};
}

view transposed(view x, std::vector<int> const& order) { return {x.value, transposed(x.how, order)}; }

view sliced(context& c, view x, int axis, std::int64_t begin, std::int64_t count, std::int64_t step) {
  if (begin == 0 && step == 1 && count == x.how.dims[std::size_t(axis)]) return x;
  if (count < 1) throw unsupported("a value has no elements");
  auto [whole, where] = around_axis(c.net, x, axis);
  int const value =
      c.net.apply(slice{to_int(begin), to_int(count), where, count == 1 ? 1 : to_int(step)}, {whole.value});
  return {value, with_extent(whole.how, axis, count)};
}

view selected(context& c, view x, int axis, std::vector<std::int64_t> const& indices) {
  struct run {
    std::int64_t begin, count, step;
  };
  std::vector<run> runs;
  std::int64_t const extent = x.how.dims[std::size_t(axis)];
  for (std::int64_t i : indices) {
    if (i < 0 || i >= extent)
      throw unsupported("element " + std::to_string(i) + " is outside an axis of " + std::to_string(extent));
    if (!runs.empty()) {
      run& r = runs.back();
      if (r.count == 1 && i != r.begin) {
        r.step = i - r.begin, r.count = 2;
        continue;
      }
      if (r.count > 1 && i == r.begin + r.count * r.step) {
        ++r.count;
        continue;
      }
    }
    runs.push_back({i, 1, 1});
  }
  constexpr std::size_t most_slices = 8;
  if (runs.size() <= most_slices) {
    std::vector<view> parts;
    for (run const& r : runs) parts.push_back(sliced(c, x, axis, r.begin, r.count, r.step));
    return joined(c, parts, axis);
  }
  std::vector<float> matrix = c.table({std::int64_t(indices.size()), extent});
  for (std::size_t i = 0; i < indices.size(); ++i) matrix[i * std::size_t(extent) + std::size_t(indices[i])] = 1;
  return times_matrix(c, x, axis, matrix);
}

view joined(context& c, std::vector<view> const& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  for (view const& v : parts)
    if (without_axes(v.how, {axis}).dims != without_axes(parts[0].how, {axis}).dims)
      throw unsupported("the values that it joins differ in other axes");
  // The value whose layout the others take: preferably one that has atoms of the axis, and that is not row-major.
  auto const rank_of = [&](view const& v) {
    return 2 * int(!v.how.of_axis(axis).empty()) + int(!v.how.is_row_major());
  };
  view const* first = &parts[0];
  for (view const& v : parts)
    if (rank_of(v) > rank_of(*first)) first = &v;
  view chosen{first->value, simplified(first->how)};
  bool const in_pieces = std::adjacent_find(chosen.how.axis.begin(), chosen.how.axis.end()) != chosen.how.axis.end();
  if (in_pieces) chosen = in_row_major(c.net, chosen);
  auto const [whole, where] = around_axis(c.net, chosen, axis);
  auto const groups = groups_of(whole.how, c.net.dims(whole.value));
  if (!groups) throw std::logic_error("importer: an arrangement without groups");
  std::vector<std::vector<int>> places(4);
  std::vector<int> order;
  extents dims = whole.how.dims;
  for (std::size_t i = 0; i < 4; ++i) {
    for (int atom : (*groups)[i]) places[i].push_back(whole.how.axis[std::size_t(atom)]);
    if (i == std::size_t(where) && places[i].empty()) places[i].push_back(axis);
    order.insert(order.end(), places[i].begin(), places[i].end());
  }
  std::vector<int> operands;
  dims[std::size_t(axis)] = 0;
  for (view const& v : parts) {
    operands.push_back(placed(c.net, v, places).value);
    dims[std::size_t(axis)] += v.how.dims[std::size_t(axis)];
  }
  return {c.net.apply(join{where}, operands), of_axes(dims, order)};
}

view padded(context& c, view x, int axis, std::int64_t before, std::int64_t after, float value, pad_mode mode) {
  std::int64_t const extent = x.how.dims[std::size_t(axis)];
  if (before < 0 || after < 0) {
    std::int64_t const begin = std::max<std::int64_t>(-before, 0);
    x = sliced(c, x, axis, begin, extent - begin - std::max<std::int64_t>(-after, 0));
    before = std::max<std::int64_t>(before, 0);
    after = std::max<std::int64_t>(after, 0);
  }
  if (before == 0 && after == 0) return x;
  auto [whole, where] = around_axis(c.net, x, axis);
  shape const s = c.net.dims(whole.value);
  int v = whole.value;
  if (where == ago::axis::images) v = with_extents(c.net, v, {1, 1, s.n, s.h * s.w * s.c});
  int const b = to_int(before), a = to_int(after);
  pad layer{.value = value, .mode = mode};
  if (where == ago::axis::channels) layer.channels_before = b, layer.channels_after = a;
  else layer.sides = where == ago::axis::rows ? pads{b, 0, a, 0} : pads{0, b, 0, a};
  v = c.net.apply(layer, {v});
  if (where == ago::axis::images) v = with_extents(c.net, v, {s.n + a + b, s.h, s.w, s.c});
  return {v, with_extent(whole.how, axis, whole.how.dims[std::size_t(axis)] + before + after)};
}

view tiled(context& c, view x, int axis, std::int64_t times) {
  if (times == 1) return x;
  extents dims = x.how.dims;
  dims[std::size_t(axis)] *= times;
  if (dims[std::size_t(axis)] == times) return expanded(c, x, dims);
  auto [whole, where] = around_axis(c.net, x, axis);
  int repeats[] = {1, 1, 1, 1};
  repeats[int(where)] = to_int(times);
  int const v = c.net.apply(tile{repeats[0], repeats[1], repeats[2], repeats[3]}, {whole.value});
  return {v, with_extent(whole.how, axis, dims[std::size_t(axis)])};
}

}  // namespace ago::importer
