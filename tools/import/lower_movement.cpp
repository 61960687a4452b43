// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that move elements.
#include "arithmetic.hpp"
#include "images.hpp"
#include "movement.hpp"
#include "places.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace ago::importer {

namespace {

void other_dims(node_reader const& n) { n.define(with_dims(n.c, n.x(), n.out_dims())); }

void transpose(node_reader const& n) {
  int const rank = int(n.dims().size());
  std::vector<std::int64_t> backwards;
  for (int i = rank; i-- > 0;) backwards.push_back(i);
  std::vector<int> order;
  for (std::int64_t a : n.list("perm", backwards)) order.push_back(axis_of(a, rank));
  n.define(transposed(n.x(), order));
}

void expand(node_reader const& n) { n.define(expanded(n.c, n.x(), n.out_dims())); }

void tile_rule(node_reader const& n) {
  auto const repeats = n.integers(1, "repeats");
  view x = n.x();
  for (std::size_t d = 0; d < repeats.size(); ++d) x = tiled(n.c, x, int(d), repeats[d]);
  n.define(x);
}

void concat_rule(node_reader const& n) {
  std::vector<view> parts;
  for (int i = 0; i < int(n.op.inputs.size()); ++i)
    if (product(n.dims(i)) > 0) parts.push_back(n.x(i));
  n.define(joined(n.c, parts, axis_of(n.integer("axis", 1), int(n.out_dims().size()))));
}

void slice_rule(node_reader const& n) {
  auto const starts = n.list_or_input("starts", 1), ends = n.list_or_input("ends", 2);
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = n.list_or_input("axes", 3, axes);
  auto const steps = n.has(4) ? n.integers(4, "steps") : std::vector<std::int64_t>(starts.size(), 1);
  view x = n.x();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    int const axis = axis_of(axes[i], x.how.rank());
    std::int64_t const extent = x.how.dims[std::size_t(axis)];
    std::int64_t const step = std::clamp<std::int64_t>(steps[i], -tracing::int_limit, tracing::int_limit);
    auto const limited = [&](std::int64_t at) {
      if (at < 0) at = at < -extent ? -1 - extent : at + extent;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, extent) : std::clamp<std::int64_t>(at, -1, extent - 1);
    };
    std::int64_t const begin = limited(starts[i]), end = limited(ends[i]);
    std::int64_t const count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
    x = sliced(n.c, x, axis, begin, count, step);
  }
  n.define(x);
}

void split(node_reader const& n) {
  int const axis = axis_of(n.integer("axis", 0), int(n.dims().size()));
  std::int64_t begin = 0;
  std::size_t const outputs = n.op.outputs.size();
  std::int64_t const extent = n.dims()[std::size_t(axis)];
  std::vector<std::int64_t> parts = n.list_or_input("split", 1);
  if (parts.empty()) {
    // Equal parts, of which only the last may be smaller. Unread parts at the end have already been removed.
    auto const count = n.integer("num_outputs", 0);
    int first = 0;
    while (!n.wants(first)) ++first;
    std::int64_t const each = count > 0 ? (extent + count - 1) / count : n.out_dims(first)[std::size_t(axis)];
    for (std::size_t i = 0; i < outputs; ++i) parts.push_back(std::min(each, extent - each * std::int64_t(i)));
  }
  view const whole = around_axis(n.c.net, n.x(), axis).x;
  for (std::size_t i = 0; i < outputs; ++i) {
    if (n.op.outputs[i] >= 0) n.define(sliced(n.c, whole, axis, begin, parts[i]), int(i));
    begin += parts[i];
  }
}

/// Whether the elements are known to be indices.
bool is_arg_max(builder const& net, int value) { return std::holds_alternative<arg_max>(net.at(value).what); }

void gather(node_reader const& n) {
  int const axis = axis_of(n.integer("axis", 0), int(n.dims().size()));
  std::int64_t const extent = n.dims()[std::size_t(axis)];
  if (n.known(1)) {
    auto indices = n.integers(1, "indices");
    for (auto& i : indices) i += i < 0 ? extent : 0;
    view const parts = selected(n.c, n.x(), axis, indices);
    return n.define(with_dims(n.c, parts, n.out_dims()));
  }
  if (extent == 0) throw unsupported("its table has no entries");
  if (!n.known(0) || axis != 0) throw unsupported("the indices, or a table along axis 0, must be constant");
  view const indices = in_row_major(n.c.net, n.x(1));
  std::int64_t const count = indices.how.count(), width = product(n.dims()) / extent;
  // Negative indices count from the end.
  std::string const from_end = where_less("x", wide(0), "x + " + literal(float(extent)), "x");
  view const rows = is_arg_max(n.c.net, indices.value) ? indices : mapped(n.c, indices, from_end);
  int x = with_extents(n.c.net, rows.value, {1, 1, int(count), 1});
  x = n.c.net.apply(embedding{int(extent), int(width)}, {x}, n.reals(0, "the table"));
  n.define({x, row_major(n.out_dims())});
}

void depth_to_space_rule(node_reader const& n) {
  int const block = int(n.integer("blocksize", 1)), x = as_image(n.c, n.x()).value;
  bool const columns_first = n.text("mode", "DCR") == "CRD";
  n.define(image(columns_first ? n.c.net.apply(pixel_shuffle{block}, {x}) : n.c.net.apply(depth_to_space{block}, {x}),
                 n.out_dims()));
}

void space_to_depth_rule(node_reader const& n) {
  int const x = as_image(n.c, n.x()).value;
  n.define(image(n.c.net.apply(space_to_depth{int(n.integer("blocksize", 1))}, {x}), n.out_dims()));
}

/// Whether so many elements can be chosen by a matrix.
bool are_few(std::int64_t elements, std::int64_t chosen) {
  constexpr std::int64_t most = 1 << 22;
  return chosen == 0 || elements <= most / chosen;
}

void expect_few(std::int64_t elements, std::int64_t chosen) {
  if (!are_few(elements, chosen)) throw unsupported("too many elements are gathered one by one");
}

/// A known index of an axis, counted from the front.
std::int64_t from_front(std::int64_t index, std::int64_t extent) {
  std::int64_t const r = index < 0 ? index + extent : index;
  if (r < 0 || r >= extent)
    throw unsupported("index " + std::to_string(index) + " is outside an axis of " + std::to_string(extent));
  return r;
}

/// The elements with known indices, in row-major order, as a value with dims `dims`.
view picked(context& c, view x, std::vector<std::int64_t> const& elements, extents const& dims) {
  std::int64_t const count = x.how.count();
  expect_few(count, std::int64_t(elements.size()));
  return with_dims(c, selected(c, with_dims(c, in_row_major(c.net, x), {count}), 0, elements), dims);
}

void gather_elements(node_reader const& n) {
  if (!n.known(1)) return n.define(taken_along_axis(n));
  extents const &in = n.dims(0), &out = n.out_dims();
  int const axis = axis_of(n.integer("axis", 0), int(in.size()));
  auto const indices = n.integers(1, "indices");
  std::vector<std::int64_t> elements;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int64_t rest = std::int64_t(i), stride = 1, element = 0;
    for (int d = int(out.size()); d-- > 0;) {
      std::int64_t at = rest % out[std::size_t(d)];
      rest /= out[std::size_t(d)];
      if (d == axis) at = from_front(indices[i], in[std::size_t(d)]);
      element += at * stride;
      stride *= in[std::size_t(d)];
    }
    elements.push_back(element);
  }
  if (!are_few(product(in), product(out)) && fit_along_axis(n)) return n.define(taken_along_axis(n));
  n.define(picked(n.c, n.x(), elements, out));
}

/// Which elements of the data the elements of the updates belong to.
std::vector<std::int64_t> places_of_updates(extents const& dims, std::vector<std::int64_t> const& indices,
                                            std::int64_t depth) {
  std::int64_t const size = product({dims.begin() + depth, dims.end()});
  std::vector<std::int64_t> r;
  for (std::int64_t i = 0; i < std::int64_t(indices.size()) / depth; ++i) {
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < depth; ++d) {
      std::int64_t const extent = dims[std::size_t(d)];
      at = at * extent + from_front(indices[std::size_t(i * depth + d)], extent);
    }
    for (std::int64_t k = 0; k < size; ++k) r.push_back(at * size + k);
  }
  return r;
}

/// The updates whose places all differ, then those that come second to their places, and so on.
std::vector<std::vector<std::int64_t>> rounds_of(std::vector<std::int64_t> const& places) {
  std::vector<std::vector<std::int64_t>> rounds;
  std::map<std::int64_t, std::size_t> seen;
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::size_t const round = seen[places[i]]++;
    constexpr std::size_t most = 64;
    if (round == most) throw unsupported("more than 64 updates of one element are not supported");
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(std::int64_t(i));
  }
  return rounds;
}

/// The elements of a list, with others at `places`; the last one counts.
view replaced(context& c, view const& data, view const& others, std::vector<std::int64_t> const& places) {
  std::int64_t const count = data.how.count();
  std::vector<std::int64_t> elements(std::size_t(count), 0);
  std::iota(elements.begin(), elements.end(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) elements[std::size_t(places[i])] = count + std::int64_t(i);
  return picked(c, joined(c, {data, others}, 0), elements, {count});
}

/// Replaces slices of the data at known indices, or combines them with the updates.
void scatter(node_reader const& n) {
  std::string const reduction = n.text("reduction", "none");
  static std::map<std::string, arithmetic> const combinations{{"add", arithmetic::add},
                                                              {"mul", arithmetic::multiply},
                                                              {"max", arithmetic::maximum},
                                                              {"min", arithmetic::minimum}};
  if (reduction != "none" && !combinations.contains(reduction))
    throw unsupported("its reduction \"" + reduction + "\" is not supported");
  std::int64_t const depth = n.dims(1).back(), count = product(n.dims(0)), all = product(n.dims(2));
  auto const indices = n.integers(1, "indices");
  if (depth == 0) throw unsupported("indices without elements");
  expect_few(count, std::max(count, all));
  auto const places = places_of_updates(n.dims(0), indices, depth);
  view data = with_dims(n.c, in_row_major(n.c.net, n.x(0)), {count});
  view const updates = with_dims(n.c, in_row_major(n.c.net, n.x(2)), {all});
  if (reduction == "none") return n.define(with_dims(n.c, replaced(n.c, data, updates, places), n.dims(0)));
  for (auto const& round : rounds_of(places)) {
    std::vector<std::int64_t> own;
    for (std::int64_t const i : round) own.push_back(places[std::size_t(i)]);
    extents const few{std::int64_t(round.size())};
    view const sums =
        combined(n.c, combinations.at(reduction), picked(n.c, data, own, few), picked(n.c, updates, round, few));
    data = replaced(n.c, data, sums, own);
  }
  n.define(with_dims(n.c, data, n.dims(0)));
}

void cumulative_sum(node_reader const& n) {
  int const axis = axis_of(n.integers(1, "the axis").at(0), int(n.dims().size()));
  bool const exclusive = n.integer("exclusive", 0) != 0, reverse = n.integer("reverse", 0) != 0;
  std::int64_t const extent = n.dims()[std::size_t(axis)];
  std::vector<float> matrix = n.c.table({extent, extent});
  for (std::int64_t i = 0; i < extent; ++i)
    for (std::int64_t k = 0; k < extent; ++k)
      matrix[std::size_t(i * extent + k)] = (reverse ? k > i : k < i) || (k == i && !exclusive) ? 1.f : 0.f;
  n.define(times_matrix(n.c, n.x(), axis, matrix));
}

/// One layer that everything reads which reads the value.
void shared_constant_rule(node_reader const& n) {
  extents dims = n.dims();
  while (dims.size() < 4) dims.insert(dims.begin(), 1);
  if (dims.size() > 4) throw unsupported("a shared constant of more than four axes");
  auto const extent = [&](std::size_t i) { return int(dims[i]); };
  ago::constant const layer{.n = extent(0), .h = extent(1), .w = extent(2), .c = extent(3)};
  n.define({n.c.net.apply(layer, {0}, n.reals(0, "a shared constant")), row_major(n.dims())});
}

}  // namespace

void add_movement_rules(rule_table& t) {
  for (char const* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) t[type] = other_dims;
  t["Transpose"] = transpose;
  t["Expand"] = expand;
  t["Tile"] = tile_rule;
  t["Concat"] = concat_rule;
  t["Slice"] = slice_rule;
  t["Split"] = split;
  t["Gather"] = gather;
  t["DepthToSpace"] = depth_to_space_rule;
  t["SpaceToDepth"] = space_to_depth_rule;
  t["GatherElements"] = gather_elements;
  t["ScatterND"] = scatter;
  t["CumSum"] = cumulative_sum;
  t[onnx::shared_constant] = shared_constant_rule;
}

}  // namespace ago::importer
