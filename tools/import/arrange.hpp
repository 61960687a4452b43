// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values moved into the order and extents that a layer wants.
#pragma once

#include "builder.hpp"
#include "layout.hpp"

namespace ago::importer {

/// An ONNX tensor in an ago value: which one, and how the tensor lies in its memory.
struct view {
  int value = -1;
  layout how;
};

/// The extents of an ago value, each as a run of atoms of memory.
using atom_groups = std::vector<std::vector<int>>;

/// The value with other extents.
int with_extents(builder& to, int value, shape const& extents);

/// `x` with its atoms in the order `memory`, in a value of shape `extents`.
view in_order(builder& to, view const& x, std::vector<int> const& memory, shape const& extents);

/// `x` in the order in which ONNX counts its elements.
view in_row_major(builder& to, view const& x);

/// The axes of `x`, of which `places` names those that become images, rows, columns and channels. Each axis once.
view placed(builder& to, view const& x, std::vector<std::vector<int>> const& places);

/// `x` with the axes `inner` as channels, in any order among themselves, and all others before them.
view innermost(builder& to, view const& x, std::vector<int> const& inner);

/// `x` cut into what lies outside of an axis, the axis, and what lies inside of it.
struct around {
  view x;
  ago::axis where;  ///< the extent that is the axis
};
around around_axis(builder& to, view const& x, int axis);

/// `x` in the order of memory and the extents of `like`, whose dims it has.
view arranged_like(builder& to, view x, view const& like);

/// The groups of atoms that the extents of a value are; nothing where an atom reaches over several extents.
std::optional<atom_groups> groups_of(layout const& l, shape const& extents);

}  // namespace ago::importer
