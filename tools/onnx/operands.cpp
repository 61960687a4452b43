// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "operands.hpp"

#include <algorithm>

namespace ago::onnx {
namespace {

/// A position from the front, within [lowest, highest]; negative ones count from the end.
std::int64_t position(std::int64_t x, std::int64_t size, std::int64_t lowest, std::int64_t highest) {
  return std::clamp(x < 0 ? x + size : x, lowest, highest);
}

cut cut_of(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
  if (step == 0) throw fault{"steps", "a step of 0"};
  step = std::clamp(step, -largest_size, largest_size);
  cut c{.start = 0, .step = step, .count = 0};
  if (step > 0) {
    c.start = position(start, size, 0, size);
    c.count = (position(end, size, 0, size) - c.start + step - 1) / step;
  } else {
    c.start = position(start, size, -1, size - 1);
    c.count = (c.start - position(end, size, -1, size - 1) - step - 1) / -step;
  }
  c.count = std::max<std::int64_t>(c.count, 0);
  return c;
}

extents all_axes(std::size_t count) {
  extents axes(count);
  for (std::size_t i = 0; i < count; ++i) axes[i] = static_cast<std::int64_t>(i);
  return axes;
}

}  // namespace

std::vector<cut> cuts_of(site const& s) {
  constexpr std::int64_t since = 10;  // from then on the numbers are inputs
  extents const starts = s.list("starts", since, 1, {}), ends = s.list("ends", since, 2, {});
  auto const axes = axes_of(s.list("axes", since, 3, all_axes(starts.size())), s.rank(0));
  extents const steps = s.has_input(4) ? s.integers(4, "steps") : extents(starts.size(), 1);
  if (starts.empty() && s.opset() < since) throw fault{"starts", "it is missing"};
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    throw fault{"starts", "starts, ends, axes and steps differ in length"};
  }
  std::vector<cut> cuts;
  for (std::int64_t const d : s.dims(0)) cuts.push_back({.start = 0, .step = 1, .count = d});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    cuts[axes[i]] = cut_of(starts[i], ends[i], steps[i], s.dims(0)[axes[i]]);
  }
  return cuts;
}

padding padding_of(site const& s) {
  std::size_t const rank = s.rank(0);
  extents const pads = s.list("pads", 11, 1, {});
  auto const axes = axes_of(s.has_input(3) ? s.integers(3, "axes") : all_axes(rank), rank);
  if (pads.size() != 2 * axes.size()) {
    throw fault{"pads", std::to_string(pads.size()) + " numbers, expected " + std::to_string(2 * axes.size())};
  }
  padding p{.before = extents(rank, 0), .after = extents(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t const before = pads[i], after = pads[i + axes.size()];
    if (std::min(before, after) < -largest_size || std::max(before, after) > largest_size) {
      throw fault{"pads", "numbers beyond " + std::to_string(largest_size)};
    }
    p.before[axes[i]] = before;
    p.after[axes[i]] = after;
  }
  return p;
}

parts parts_of(site const& s) {
  parts p{.axis = axis_of(s.integer("axis", 0), s.rank(0)), .sizes = s.list("split", 13, 1, {})};
  std::int64_t const size = s.dims(0)[p.axis];
  auto const count = static_cast<std::int64_t>(s.outputs());
  if (p.sizes.empty()) {
    std::int64_t const wanted = s.integer("num_outputs", count);
    if (wanted != count) throw fault{"num_outputs", "it differs from the number of outputs"};
    if (s.opset() < 18 && size % count != 0) {
      throw fault{"", std::to_string(size) + " elements in " + std::to_string(count) + " equal parts"};
    }
    std::int64_t const part = (size + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) p.sizes.push_back(std::clamp<std::int64_t>(size - i * part, 0, part));
  } else {
    std::int64_t left = size;
    for (std::int64_t const part : p.sizes) {
      if (part < 0 || part > left) throw fault{"split", "its parts do not add up to " + std::to_string(size)};
      left -= part;
    }
    if (left != 0) throw fault{"split", "its parts do not add up to " + std::to_string(size)};
    if (p.sizes.size() != s.outputs()) {
      throw fault{"split", std::to_string(p.sizes.size()) + " parts, but " + std::to_string(count) + " outputs"};
    }
  }
  return p;
}

std::vector<std::size_t> permutation_of(site const& s) {
  extents reversed = all_axes(s.rank(0));
  std::reverse(reversed.begin(), reversed.end());
  auto const axes = axes_of(s.integers("perm", reversed), s.rank(0), "perm");
  if (axes.size() != s.rank(0)) throw fault{"perm", "it does not name every axis"};
  return axes;
}

std::vector<bool> reduced_axes(site const& s) {
  std::int64_t const since = s.type() == "ReduceSum" ? 13 : 18;
  extents const list = s.list("axes", since, 1, {});
  bool const all = list.empty() && !s.flag("noop_with_empty_axes", false);
  std::vector<bool> reduced(s.rank(0), all);
  for (std::size_t const axis : axes_of(list, s.rank(0))) reduced[axis] = true;
  return reduced;
}

}  // namespace ago::onnx
