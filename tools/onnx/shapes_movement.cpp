// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of operators that rearrange, repeat and slice elements.
#include <algorithm>

#include "operands.hpp"
#include "rules.hpp"

namespace ago::onnx::shapes {
namespace {

/// Sizes from an input that a rule interprets further: only their range is checked.
extents sizes_of(site const& s, std::size_t i, char const* what, std::int64_t lowest) {
  extents const& sizes = s.integers(i, what);
  for (std::int64_t const d : sizes) {
    if (d < lowest || d > largest_size) throw fault{what, "a size of " + std::to_string(d)};
  }
  return sizes;
}

std::int64_t block_of(site const& s) {
  std::int64_t const block = s.integer("blocksize", 0);
  if (block < 1 || block > largest_size) throw fault{"blocksize", "it is missing, or not positive"};
  if (s.rank(0) != 4) throw fault{"", "its input has the shape " + text_of(s.dims(0)) + ", expected four axes"};
  return block;
}

}  // namespace

void reshape(site& s) {
  extents dims = sizes_of(s, 1, "shape", -1);
  bool const keep_zero = s.flag("allowzero", false);
  auto const unknown = std::find(dims.begin(), dims.end(), -1);
  if (unknown != dims.end() && std::find(unknown + 1, dims.end(), -1) != dims.end()) {
    throw fault{"shape", "more than one size is -1"};
  }
  for (std::size_t i = 0; i < dims.size() && !keep_zero; ++i) {
    if (dims[i] != 0) continue;
    if (i >= s.rank(0)) throw fault{"shape", "size 0 copies an axis that the input does not have"};
    dims[i] = s.dims(0)[i];
  }
  std::int64_t const count = volume(s.dims(0));
  if (unknown != dims.end()) {
    *unknown = 1;
    check_dims(dims);
    std::int64_t const others = volume(dims);
    if (others == 0 || count % others != 0) {
      throw fault{"shape", text_of(s.integers(1, "shape")) + " does not divide the shape " + text_of(s.dims(0))};
    }
    *unknown = count / others;
  }
  check_dims(dims);
  if (volume(dims) != count) {
    throw fault{"shape", text_of(dims) + " has a different number of elements than " + text_of(s.dims(0))};
  }
  s.set(0, dims);
}

void flatten(site& s) {
  std::int64_t const axis = s.integer("axis", 1);
  // The number of rows is the product of the axes before `axis`, which may be the end.
  std::size_t const split = axis == static_cast<std::int64_t>(s.rank(0)) ? s.rank(0) : axis_of(axis, s.rank(0));
  s.set(0, {volume(s.dims(0), 0, split), volume(s.dims(0), split, s.rank(0))});
}

void squeeze(site& s) {
  extents const list = s.list("axes", 13, 1, {});
  std::vector<bool> gone(s.rank(0), false);
  for (std::size_t i = 0; i < gone.size() && list.empty(); ++i) gone[i] = s.dims(0)[i] == 1;
  for (std::size_t const axis : axes_of(list, s.rank(0))) {
    if (s.dims(0)[axis] != 1) throw fault{"axes", "axis " + std::to_string(axis) + " of " + text_of(s.dims(0))};
    gone[axis] = true;
  }
  extents dims;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) dims.push_back(s.dims(0)[i]);
  }
  s.set(0, dims);
}

void unsqueeze(site& s) {
  extents const list = s.list("axes", 13, 1, {});
  std::size_t const rank = s.rank(0) + list.size();
  if (rank > largest_rank) throw fault{"axes", std::to_string(list.size()) + " axes are too many"};
  std::vector<bool> added(rank, false);
  for (std::size_t const axis : axes_of(list, rank)) added[axis] = true;
  extents dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(added[i] ? 1 : s.dims(0)[next++]);
  s.set(0, dims);
}

void transpose(site& s) {
  extents dims;
  for (std::size_t const axis : permutation_of(s)) dims.push_back(s.dims(0)[axis]);
  s.set(0, dims);
}

void concat(site& s) {
  if (!s.has("axis")) throw fault{"axis", "it is missing"};
  std::size_t const axis = axis_of(s.integer("axis", 0), s.rank(0));
  extents dims = s.dims(0);
  for (std::size_t i = 1; i < s.inputs(); ++i) {
    extents other = s.dims(i);
    bool const fits = other.size() == dims.size() && s.element_type(i) == s.element_type(0);
    if (fits) other[axis] = dims[axis];
    if (!fits || other != dims) {
      throw fault{"", "input " + std::to_string(i) + " has the shape " + text_of(s.dims(i)) + ", the first " +
                          text_of(s.dims(0)) + ": they do not fit together"};
    }
    dims[axis] += s.dims(i)[axis];
    check_dims(dims);
  }
  s.set(0, dims);
}

void split(site& s) {
  parts const p = parts_of(s);
  for (std::size_t i = 0; i < p.sizes.size(); ++i) {
    extents dims = s.dims(0);
    dims[p.axis] = p.sizes[i];
    s.set(i, dims);
  }
}

void slice(site& s) {
  extents dims;
  for (cut const& c : cuts_of(s)) dims.push_back(c.count);
  s.set(0, dims);
}

void pad(site& s) {
  padding const p = padding_of(s);
  std::string const mode = s.text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && !(mode == "wrap" && s.opset() >= 19)) {
    throw fault{"mode", "it is not one of constant, reflect, edge" + std::string(s.opset() >= 19 ? ", wrap" : "")};
  }
  extents dims = s.dims(0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dims[i] += p.before[i] + p.after[i];
    if (dims[i] < 0) throw fault{"pads", "more is removed than axis " + std::to_string(i) + " has"};
  }
  s.set(0, dims);
}

void tile(site& s) {
  extents const repeats = sizes_of(s, 1, "repeats", 0);
  if (repeats.size() != s.rank(0)) {
    throw fault{"repeats", std::to_string(repeats.size()) + " numbers, expected " + std::to_string(s.rank(0))};
  }
  extents dims = s.dims(0);
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] *= repeats[i];
  s.set(0, dims);
}

void expand(site& s) { s.set(0, broadcast(s.dims(0), sizes_of(s, 1, "shape", 0))); }

void depth_to_space(site& s) {
  std::int64_t const block = block_of(s);
  extents const& d = s.dims(0);
  if (d[1] % (block * block) != 0) {
    throw fault{"blocksize", std::to_string(d[1]) + " channels in blocks of " + std::to_string(block)};
  }
  std::string const mode = s.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw fault{"mode", "it is neither DCR nor CRD"};
  s.set(0, {d[0], d[1] / (block * block), d[2] * block, d[3] * block});
}

void space_to_depth(site& s) {
  std::int64_t const block = block_of(s);
  extents const& d = s.dims(0);
  if (d[2] % block != 0 || d[3] % block != 0) {
    throw fault{"blocksize", "pixels of " + text_of(d) + " in blocks of " + std::to_string(block)};
  }
  s.set(0, {d[0], d[1] == 0 ? 0 : std::min(d[1] * block, largest_size + 1) * block, d[2] / block, d[3] / block});
}

void trilu(site& s) {
  if (s.rank(0) < 2) throw fault{"", "its input is not a matrix"};
  if (s.has_input(1)) s.integer(1, "k");
  s.set(0, s.dims(0));
}

}  // namespace ago::onnx::shapes
