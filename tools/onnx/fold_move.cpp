// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folding of operators that rearrange, repeat, slice and gather elements.
#include <algorithm>

#include "fold.hpp"
#include "operands.hpp"
#include "view.hpp"

namespace ago::onnx::folding {
namespace {

constant const& data(site const& s, std::size_t i = 0) { return s.known(i, "data"); }

constant reshaped(site const& s, extents dims) {
  constant c = data(s);
  c.dims = std::move(dims);
  return c;
}

constant transposed(site const& s) {
  extents dims, strides;
  extents const own = strides_of(s.dims(0));
  for (std::size_t const axis : permutation_of(s)) {
    dims.push_back(s.dims(0)[axis]);
    strides.push_back(own[axis]);
  }
  return view(data(s), dims, 0, strides);
}

constant sliced(site const& s) {
  extents dims, strides = strides_of(s.dims(0));
  std::int64_t start = 0;
  std::vector<cut> const cuts = cuts_of(s);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    dims.push_back(cuts[i].count);
    start += cuts[i].start * strides[i];
    strides[i] *= cuts[i].step;
  }
  return view(data(s), dims, start, strides);
}

std::vector<constant> divided(site const& s) {
  parts const p = parts_of(s);
  extents dims = s.dims(0);
  extents const strides = strides_of(dims);
  std::vector<constant> all;
  std::int64_t start = 0;
  for (std::int64_t const size : p.sizes) {
    dims[p.axis] = size;
    all.push_back(view(data(s), dims, start * strides[p.axis], strides));
    start += size;
  }
  return all;
}

constant joined(site const& s, extents const& dims) {
  std::size_t const axis = axis_of(s.integer("axis", 0), s.rank(0));
  constant c = zeros(s.element_type(0), dims);
  extents const strides = strides_of(dims);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < s.inputs(); ++i) {
    both(c, data(s, i), [&](auto& to, auto const& from) {
      walk(s.dims(i), start * strides[axis], strides,
           [&](std::size_t at, std::size_t offset) { to[offset] = from[at]; });
    });
    start += s.dims(i)[axis];
  }
  return c;
}

constant tiled(site const& s, extents const& dims) {
  // As axes [repeats, size], in which the repeats have stride 0.
  extents split, strides;
  extents const own = strides_of(s.dims(0));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    split.insert(split.end(), {s.dims(0)[i] == 0 ? 0 : dims[i] / s.dims(0)[i], s.dims(0)[i]});
    strides.insert(strides.end(), {0, own[i]});
  }
  constant c = view(data(s), split, 0, strides);
  c.dims = dims;
  return c;
}

results padded(site const& s, extents const& dims) {
  if (s.text("mode", "constant") != "constant") return {};
  padding const p = padding_of(s);
  constant c = zeros(s.element_type(0), dims);
  constant fill = zeros(c.type, {});
  if (s.has_input(2)) {
    fill = s.known(2, "constant_value");
    if (fill.type != c.type || volume(fill.dims) != 1) throw fault{"constant_value", "it does not fit the data"};
  } else if (c.type == element::real) {
    fill.reals[0] = s.real("value", 0);
  }
  extents const own = strides_of(s.dims(0));
  both(c, data(s), [&](auto& to, auto const& from) {
    auto const& outside = same_numbers(fill, to);
    extents index(dims.size(), 0);
    for (auto& x : to) {
      std::int64_t offset = 0;
      bool within = true;
      for (std::size_t i = 0; i < dims.size() && within; ++i) {
        std::int64_t const at = index[i] - p.before[i];
        within = at >= 0 && at < s.dims(0)[i];
        offset += within ? at * own[i] : 0;
      }
      x = within ? from[static_cast<std::size_t>(offset)] : outside[0];
      for (std::size_t i = dims.size(); i-- > 0 && ++index[i] == dims[i];) index[i] = 0;
    }
  });
  return std::vector<constant>{std::move(c)};
}

std::size_t checked(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) {
    throw fault{"indices", "index " + std::to_string(index) + " of " + std::to_string(size) + " elements"};
  }
  return static_cast<std::size_t>(index < 0 ? index + size : index);
}

constant gathered(site const& s, extents const& dims) {
  std::size_t const axis = axis_of(s.integer("axis", 0), s.rank(0));
  extents const& indices = data(s, 1).integers;
  extents const& from_dims = s.dims(0);
  auto const before = static_cast<std::size_t>(volume(from_dims, 0, axis));
  auto const after = static_cast<std::size_t>(volume(from_dims, axis + 1, from_dims.size()));
  auto const size = static_cast<std::size_t>(from_dims[axis]);
  std::vector<std::size_t> rows;
  for (std::int64_t const index : indices) rows.push_back(checked(index, from_dims[axis]));
  constant c = zeros(s.element_type(0), dims);
  if (after == 0 || rows.empty()) return c;  // an empty result: nothing bounds the axes before
  both(c, data(s), [&](auto& to, auto const& from) {
    auto out = to.begin();
    for (std::size_t i = 0; i < before; ++i) {
      for (std::size_t const row : rows) {
        auto const begin = from.begin() + static_cast<std::ptrdiff_t>((i * size + row) * after);
        out = std::copy(begin, begin + static_cast<std::ptrdiff_t>(after), out);
      }
    }
  });
  return c;
}

constant gathered_elements(site const& s, extents const& dims) {
  std::size_t const axis = axis_of(s.integer("axis", 0), s.rank(0));
  extents strides = strides_of(s.dims(0));
  auto const along = static_cast<std::size_t>(strides[axis]);
  strides[axis] = 0;
  extents const& indices = data(s, 1).integers;
  constant c = zeros(s.element_type(0), dims);
  both(c, data(s), [&](auto& to, auto const& from) {
    walk(dims, 0, strides, [&](std::size_t at, std::size_t offset) {
      to[at] = from[offset + checked(indices[at], s.dims(0)[axis]) * along];
    });
  });
  return c;
}

/// The offset in a tensor for the index tuple at `tuple`.
std::size_t offset_of(std::int64_t const* tuple, std::size_t depth, extents const& dims, extents const& strides) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < depth; ++i) offset += checked(tuple[i], dims[i]) * static_cast<std::size_t>(strides[i]);
  return offset;
}

constant scattered(site const& s) {
  constant c = data(s);
  extents const& indices = data(s, 1).integers;
  auto const depth = static_cast<std::size_t>(s.dims(1).back());
  auto const tuples = static_cast<std::size_t>(volume(s.dims(1), 0, s.rank(1) - 1));
  auto const after = volume(c.dims, depth, c.dims.size());
  extents const strides = strides_of(c.dims);
  if (depth == 0 && after == 0) return c;  // any number of tuples that update nothing
  both(c, data(s, 2), [&](auto& to, auto const& from) {
    for (std::size_t i = 0; i < tuples; ++i) {
      std::size_t const offset = offset_of(indices.data() + i * depth, depth, c.dims, strides);
      auto const begin = from.begin() + static_cast<std::ptrdiff_t>(i) * after;
      std::copy(begin, begin + after, to.begin() + static_cast<std::ptrdiff_t>(offset));
    }
  });
  return c;
}

constant triangle(site const& s) {
  constant c = data(s);
  bool const upper = s.flag("upper", true);
  std::int64_t const k = s.has_input(1) ? s.integer(1, "k") : 0;
  std::int64_t const columns = c.dims.back(), rows = c.dims[c.dims.size() - 2];
  with_numbers(c, [&](auto& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto const at = static_cast<std::int64_t>(i);
      std::int64_t const distance = at % columns - at / columns % rows;
      if (upper ? distance < k : distance > k) numbers[i] = 0;
    }
  });
  return c;
}

}  // namespace

results move(site const& s) {
  auto const one = [](constant c) {
    std::vector<constant> all;
    all.push_back(std::move(c));
    return results(std::move(all));
  };
  std::string const& type = s.type();
  extents const& dims = s.output_dims(0);
  for (char const* name : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"}) {
    if (type == name) return s.has_output(1) ? results{} : one(reshaped(s, dims));
  }
  if (type == "Transpose") return one(transposed(s));
  if (type == "Slice") return one(sliced(s));
  if (type == "Split") return divided(s);
  if (type == "Concat") return one(joined(s, dims));
  if (type == "Tile") return one(tiled(s, dims));
  if (type == "Expand") return one(repeated(data(s), dims));
  if (type == "Pad") return padded(s, dims);
  if (type == "Gather") return one(gathered(s, dims));
  if (type == "GatherElements") return one(gathered_elements(s, dims));
  if (type == "ScatterND" && s.text("reduction", "none") == "none" && s.element_type(2) == s.element_type(0)) {
    return one(scattered(s));
  }
  if (type == "Trilu") return one(triangle(s));
  return {};
}

}  // namespace ago::onnx::folding
