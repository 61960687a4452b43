// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the axes of an ONNX tensor lie in memory. Transposing and reshaping a tensor change this description alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ago::importer {

using extents = std::vector<std::int64_t>;

/// The axes of a tensor are cut into atoms: parts of which the elements of an axis are counted up, the last one
/// fastest. `memory` says how atoms follow each other in memory, which may be another order: an image of channels
/// outermost that lies channels innermost has the atoms n, c, h, w and the memory n, h, w, c. Axes of extent 1 have no
/// atoms.
struct layout {
  extents dims;              ///< of the tensor
  std::vector<int> axis;     ///< of each atom, ascending
  extents atoms;             ///< their extents
  std::vector<int> memory;   ///< numbers of atoms, outermost first

  bool operator==(layout const&) const = default;
  int rank() const { return int(dims.size()); }
  std::int64_t count() const;
  /// Numbers of the atoms of an axis, outermost first.
  std::vector<int> of_axis(int which) const;
  /// Are elements in the order in which ONNX counts them?
  bool is_row_major() const;
};

std::int64_t product(extents const& dims);
layout row_major(extents const& dims);
/// Axis i of the result is axis order[i] of `from`.
layout transposed(layout const& from, std::vector<int> const& order);
/// The same elements counted by other extents; nothing where an atom would have to be cut unevenly.
std::optional<layout> reshaped(layout const& from, extents const& dims);
/// `from` with its atoms cut wherever those of `like`, of the same extents, are cut; nothing if that is impossible.
std::optional<layout> refined(layout const& from, layout const& like);
/// Atoms joined that follow each other in their axis and in memory.
layout simplified(layout const& from);
/// A layout with the given axes, one atom each, in the given order of memory, outermost first.
layout of_axes(extents const& dims, std::vector<int> const& memory);
/// The axes cut down to one element; `l` must not be used with their old elements any more.
layout without_axes(layout const& l, std::vector<int> const& axes);
/// An axis of one element given `extent` of them, which lie before the atom at `place` in memory; -1: innermost.
layout with_axis(layout const& l, int axis, std::int64_t extent, int place);
/// For every place in memory the number that row-major order gives to its element.
std::vector<std::int64_t> memory_to_row_major(layout const& l);

}  // namespace ago::importer
