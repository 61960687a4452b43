// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of operators that gather elements, or reduce over axes.
#include "operands.hpp"
#include "rules.hpp"

namespace ago::onnx::shapes {
namespace {

void expect_indices(site const& s, std::size_t i) {
  if (s.element_type(i) != element::integer) throw fault{"indices", "they are not integers"};
}

extents without(extents dims, std::size_t axis, bool keep) {
  if (keep) {
    dims[axis] = 1;
  } else {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return dims;
}

}  // namespace

void gather(site& s) {
  expect_indices(s, 1);
  std::size_t const axis = axis_of(s.integer("axis", 0), s.rank(0));
  extents dims = without(s.dims(0), axis, false);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), s.dims(1).begin(), s.dims(1).end());
  s.set(0, dims);
}

void gather_elements(site& s) {
  expect_indices(s, 1);
  std::size_t const axis = axis_of(s.integer("axis", 0), s.rank(0));
  bool fits = s.rank(1) == s.rank(0);
  for (std::size_t i = 0; fits && i < s.rank(0); ++i) fits = i == axis || s.dims(1)[i] <= s.dims(0)[i];
  if (!fits) throw fault{"indices", "the shape " + text_of(s.dims(1)) + " does not fit " + text_of(s.dims(0))};
  s.set(0, s.dims(1));
}

void gather_nd(site& s) {
  expect_indices(s, 1);
  std::int64_t const batches = s.integer("batch_dims", 0);
  auto const rank = static_cast<std::int64_t>(s.rank(0)), index_rank = static_cast<std::int64_t>(s.rank(1));
  if (rank < 1 || index_rank < 1 || batches < 0 || batches >= rank || batches >= index_rank) {
    throw fault{"batch_dims", "it is " + std::to_string(batches) + " for the shapes " + text_of(s.dims(0)) + " and " +
                                  text_of(s.dims(1))};
  }
  std::int64_t const depth = s.dims(1).back();
  if (depth < 1 || depth > rank - batches) {
    throw fault{"indices", "tuples of " + std::to_string(depth) + " for the shape " + text_of(s.dims(0))};
  }
  extents dims(s.dims(1).begin(), s.dims(1).end() - 1);
  dims.insert(dims.end(), s.dims(0).begin() + static_cast<std::ptrdiff_t>(batches + depth), s.dims(0).end());
  s.set(0, dims);
}

void reverse_sequence(site& s) {
  expect_indices(s, 1);
  std::size_t const batch = axis_of(s.integer("batch_axis", 1), s.rank(0));
  std::size_t const time = axis_of(s.integer("time_axis", 0), s.rank(0));
  if (batch == time) throw fault{"batch_axis", "it is the time_axis"};
  if (s.dims(1) != extents{s.dims(0)[batch]}) {
    throw fault{"sequence_lens", "the shape " + text_of(s.dims(1)) + " does not fit " + text_of(s.dims(0))};
  }
  s.set(0, s.dims(0));
}

void grid_sample(site& s) {
  extents const &x = s.dims(0), &grid = s.dims(1);
  if (x.size() < 3 || grid.size() != x.size() || grid[0] != x[0] ||
      grid.back() != static_cast<std::int64_t>(x.size()) - 2) {
    throw fault{"grid", "the shape " + text_of(grid) + " does not fit " + text_of(x)};
  }
  extents dims{x[0], x[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  s.set(0, dims);
}

void col2im(site& s) {
  extents const image = s.integers(1, "image_shape"), block = s.integers(2, "block_shape");
  if (s.rank(0) != 3 || image.empty() || block.size() != image.size()) {
    throw fault{"block_shape",
                "the shape " + text_of(s.dims(0)) + " does not fit " + std::to_string(image.size()) + " dimensions"};
  }
  std::int64_t channels = s.dims(0)[1];
  for (std::int64_t const b : block) {
    if (b < 1 || channels % b != 0) throw fault{"block_shape", "it does not divide the shape " + text_of(s.dims(0))};
    channels /= b;
  }
  extents dims{s.dims(0)[0], channels};
  for (std::int64_t const extent : image) {
    if (extent < 1 || extent > largest_size) throw fault{"image_shape", "it is " + text_of(image)};
    dims.push_back(extent);
  }
  s.set(0, dims);
}

void scatter_nd(site& s) {
  expect_indices(s, 1);
  extents const& index = s.dims(1);
  if (index.empty() || index.back() < 0 || index.back() > static_cast<std::int64_t>(s.rank(0))) {
    throw fault{"indices", "the shape " + text_of(index) + " does not fit " + text_of(s.dims(0))};
  }
  extents expected(index.begin(), index.end() - 1);
  expected.insert(expected.end(), s.dims(0).begin() + static_cast<std::ptrdiff_t>(index.back()), s.dims(0).end());
  if (s.dims(2) != expected) {
    throw fault{"updates", "they have the shape " + text_of(s.dims(2)) + ", expected " + text_of(expected)};
  }
  s.set(0, s.dims(0));
}

void reduce(site& s) {
  auto const reduced = reduced_axes(s);
  bool const keep = s.flag("keepdims", true);
  extents dims;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      dims.push_back(s.dims(0)[i]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  s.set(0, dims);
}

void arg_reduce(site& s) {
  std::size_t const axis = axis_of(s.integer("axis", 0), s.rank(0));
  if (s.dims(0)[axis] == 0) throw fault{"axis", "the axis is empty"};
  s.set(0, without(s.dims(0), axis, s.flag("keepdims", true)), element::integer);
}

void top_k(site& s) {
  std::size_t const axis = axis_of(s.integer("axis", -1), s.rank(0));
  std::int64_t const k = s.opset() < 10 ? s.integer("k", -1) : s.integer(1, "K");
  if (k < 0 || k > s.dims(0)[axis]) {
    throw fault{"k", std::to_string(k) + " of " + std::to_string(s.dims(0)[axis]) + " elements"};
  }
  extents dims = s.dims(0);
  dims[axis] = k;
  s.set(0, dims);
  s.set(1, dims, element::integer);
}

}  // namespace ago::onnx::shapes
