// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory layout of an ONNX tensor's axes. Transposing and reshaping a tensor only change this description.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ago::importer {

using extents = std::vector<std::int64_t>;

/// Each axis of a tensor is divided into atoms, which count its elements like digits, the last one fastest. `memory` is
/// the order of the atoms in memory, which may differ: an NCHW image stored as NHWC has the atoms n, c, h, w and the
/// memory n, h, w, c. Axes of extent 1 have no atoms.
struct layout {
  extents dims;             ///< of the tensor
  std::vector<int> axis;    ///< the axis of each atom, ascending
  extents atoms;            ///< their extents
  std::vector<int> memory;  ///< indices of atoms, outermost first

  bool operator==(layout const&) const = default;
  int rank() const { return int(dims.size()); }
  std::int64_t count() const;
  /// The indices of an axis's atoms, outermost first.
  std::vector<int> of_axis(int which) const;
  /// Whether the elements are in ONNX's order.
  bool is_row_major() const;
};

std::int64_t product(extents const& dims);
layout row_major(extents const& dims);
/// Axis i of the result is axis order[i] of `from`.
layout transposed(layout const& from, std::vector<int> const& order);
/// The same elements with other dims; nothing if an atom would have to be split unevenly.
std::optional<layout> reshaped(layout const& from, extents const& dims);
/// `from` with its atoms split wherever those of `like`, which has the same dims, are split; nothing if that is
/// impossible.
std::optional<layout> refined(layout const& from, layout const& like);
/// Merges atoms that are adjacent both in their axis and in memory.
layout simplified(layout const& from);
/// A layout with one atom per given axis, in the given memory order, outermost first.
layout of_axes(extents const& dims, std::vector<int> const& memory);
/// The axes reduced to one element; their previous elements in `l` must no longer be used.
layout without_axes(layout const& l, std::vector<int> const& axes);
/// An axis of one element extended to `extent` elements, placed before the atom at `place` in memory; -1: innermost.
layout with_axis(layout const& l, int axis, std::int64_t extent, int place);
/// The row-major index of the element at each place in memory.
std::vector<std::int64_t> memory_to_row_major(layout const& l);

}  // namespace ago::importer
