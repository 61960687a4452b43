// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rearranges values into the order and extents that a layer needs.
#pragma once

#include "builder.hpp"
#include "layout.hpp"

namespace ago::importer {

/// An ONNX tensor in an ago value: the value, and the memory layout of the tensor in it.
struct view {
  int value = -1;
  layout how;
};

/// The extents of an ago value, each a run of atoms of the memory.
using atom_groups = std::vector<std::vector<int>>;

/// The value with other extents.
int with_extents(builder& to, int value, shape const& extents);

/// `x` with its atoms in the order `memory`, in a value of shape `extents`.
view in_order(builder& to, view const& x, std::vector<int> const& memory, shape const& extents);

/// `x` in ONNX's row-major order.
view in_row_major(builder& to, view const& x);

/// Rearranges the axes of `x`; `places` names those that become images, rows, columns and channels. Each axis once.
view placed(builder& to, view const& x, std::vector<std::vector<int>> const& places);

/// `x` with the axes `inner` as channels, in any order among themselves, and all others before them.
view innermost(builder& to, view const& x, std::vector<int> const& inner);

/// `x` split into the part outside an axis, the axis, and the part inside it.
struct around {
  view x;
  ago::axis where;  ///< the extent that is the axis
};
around around_axis(builder& to, view const& x, int axis);

/// `x` in the memory order and the extents of `like`, which has the same dims.
view arranged_like(builder& to, view x, view const& like);

/// The groups of atoms that form the extents of a value; nothing if an atom spans several extents.
std::optional<atom_groups> groups_of(layout const& l, shape const& extents);

}  // namespace ago::importer
