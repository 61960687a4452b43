// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The distinct shapes among the layers of all networks, one kind of operator at a time.
#pragma once

#include "published.hpp"

#include <string>

namespace bench {

/// Distinct layers of one kind, in network order.
struct shape_list {
  static constexpr int capacity = 192;
  layer_shape rows[capacity]{};
  int count = 0;

  constexpr void insert(layer_shape const& s) {
    for (int i = 0; i < count; ++i)
      if (rows[i] == s) return;
    rows[count++] = s;
  }
};

template <ago::op Kind>
inline constexpr shape_list distinct = [] {
  shape_list all;
  for (layer_table const* t : networks_of_the_paper)
    for (int i = 0; i < t->count; ++i)
      if (t->rows[i].what.kind == Kind) all.insert(t->rows[i].what);
  return all;
}();

/// kind/HxW of the input/channels>channels/window/activation; for linear layers, the pixels are the rows of a matrix.
inline std::string name_of(layer_shape const& s) {
  auto const text = [](int number) { return std::to_string(number); };
  bool const matrix = s.kind == ago::op::linear;
  std::string name = ago::name_of(s.kind);
  name += '/' + (matrix ? text(s.in.n) : text(s.in.h) + 'x' + text(s.in.w)) + '/' + text(s.in.c);
  if (s.out != s.in.c || matrix || s.kind == ago::op::pointwise || s.kind == ago::op::conv2d) name += '>' + text(s.out);
  if (s.win.kernel_h > 1) name += "/k" + text(s.win.kernel_h) + 's' + text(s.win.stride_h);
  if (s.activation != ago::op::identity) name += '/' + std::string(ago::name_of(s.activation));
  return name;
}

/// The networks that contain the layer, and the name of its first occurrence in each.
inline std::string users_of(layer_shape const& s) {
  std::string users;
  for (layer_table const* t : networks_of_the_paper)
    for (int i = 0; i < t->count; ++i) {
      if (!(t->rows[i].what == s)) continue;
      layer_name const& name = t->rows[i].name;
      if (!users.empty()) users += ", ";
      users += std::string(t->network) + ' ' + std::to_string(t->size);
      users += ' ' + std::string(name.block) + ' ' + std::to_string(name.index);
      if (*name.part) users += ' ' + std::string(name.part);
      break;
    }
  return users;
}

}  // namespace bench
