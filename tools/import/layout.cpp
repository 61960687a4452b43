// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ago::importer {

namespace {

/// The number of elements that one step of each atom skips in row-major order.
extents strides(extents const& atoms) {
  extents r(atoms.size(), 1);
  for (std::size_t i = atoms.size(); i-- > 1;) r[i - 1] = r[i] * atoms[i];
  return r;
}

/// Splits `from`'s atoms at strides `cuts`, and assigns the parts to the axes of `dims`.
std::optional<layout> cut(layout const& from, extents const& cuts, extents const& dims) {
  layout r{.dims = dims, .axis = {}, .atoms = {}, .memory = {}};
  std::vector<std::vector<int>> parts(from.atoms.size());
  extents const inner = strides(from.atoms);
  for (std::size_t i = 0; i < from.atoms.size(); ++i) {
    extents borders{inner[i] * from.atoms[i], inner[i]};
    for (std::int64_t c : cuts)
      if (c < borders.front() && c > inner[i]) borders.push_back(c);
    std::sort(borders.begin(), borders.end(), std::greater<>());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    for (std::size_t k = 0; k + 1 < borders.size(); ++k) {
      if (borders[k] % borders[k + 1] != 0) return {};
      parts[i].push_back(int(r.atoms.size()));
      r.atoms.push_back(borders[k] / borders[k + 1]);
    }
  }
  for (int a : from.memory) r.memory.insert(r.memory.end(), parts[std::size_t(a)].begin(), parts[std::size_t(a)].end());

  std::size_t atom = 0;
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (std::int64_t covered = 1; covered < dims[d]; covered *= r.atoms[atom++]) {
      if (atom == r.atoms.size() || dims[d] % (covered * r.atoms[atom]) != 0) return {};
      r.axis.push_back(int(d));
    }
  return r;
}

}  // namespace

std::int64_t product(extents const& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t(1), std::multiplies<>());
}

std::int64_t layout::count() const { return product(dims); }

std::vector<int> layout::of_axis(int which) const {
  std::vector<int> r;
  for (int i = 0; i < int(axis.size()); ++i)
    if (axis[std::size_t(i)] == which) r.push_back(i);
  return r;
}

bool layout::is_row_major() const { return std::is_sorted(memory.begin(), memory.end()); }

layout of_axes(extents const& dims, std::vector<int> const& memory) {
  layout r{.dims = dims, .axis = {}, .atoms = {}, .memory = {}};
  std::vector<int> atom_of(dims.size(), -1);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    atom_of[d] = int(r.atoms.size());
    r.axis.push_back(int(d));
    r.atoms.push_back(dims[d]);
  }
  for (int d : memory)
    if (atom_of[std::size_t(d)] >= 0) r.memory.push_back(atom_of[std::size_t(d)]);
  return r;
}

layout row_major(extents const& dims) {
  std::vector<int> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  return of_axes(dims, order);
}

layout transposed(layout const& from, std::vector<int> const& order) {
  layout r{.dims = {}, .axis = {}, .atoms = {}, .memory = {}};
  std::vector<int> renamed(from.atoms.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    r.dims.push_back(from.dims[std::size_t(order[i])]);
    for (int a : from.of_axis(order[i])) {
      renamed[std::size_t(a)] = int(r.atoms.size());
      r.axis.push_back(int(i));
      r.atoms.push_back(from.atoms[std::size_t(a)]);
    }
  }
  for (int a : from.memory) r.memory.push_back(renamed[std::size_t(a)]);
  return r;
}

std::optional<layout> reshaped(layout const& from, extents const& dims) {
  auto const r = cut(from, strides(dims), dims);
  return r ? std::optional(simplified(*r)) : r;
}

std::optional<layout> refined(layout const& from, layout const& like) {
  return cut(from, strides(like.atoms), from.dims);
}

layout simplified(layout const& from) {
  std::vector<int> joined_to(from.atoms.size());  // the atom that it is merged into
  std::iota(joined_to.begin(), joined_to.end(), 0);
  for (std::size_t m = 1; m < from.memory.size(); ++m) {
    int const a = from.memory[m - 1], b = from.memory[m];
    if (b == a + 1 && from.axis[std::size_t(a)] == from.axis[std::size_t(b)])
      joined_to[std::size_t(b)] = joined_to[std::size_t(a)];
  }
  layout r{.dims = from.dims, .axis = {}, .atoms = {}, .memory = {}};
  std::vector<int> renamed(from.atoms.size(), -1);
  for (std::size_t a = 0; a < from.atoms.size(); ++a) {
    if (joined_to[a] == int(a)) {
      renamed[a] = int(r.atoms.size());
      r.axis.push_back(from.axis[a]);
      r.atoms.push_back(from.atoms[a]);
    } else {
      r.atoms[std::size_t(renamed[std::size_t(joined_to[a])])] *= from.atoms[a];
    }
  }
  for (int a : from.memory)
    if (renamed[std::size_t(a)] >= 0) r.memory.push_back(renamed[std::size_t(a)]);
  return r;
}

layout without_axes(layout const& l, std::vector<int> const& axes) {
  layout r{.dims = l.dims, .axis = {}, .atoms = {}, .memory = {}};
  for (int d : axes) r.dims[std::size_t(d)] = 1;
  std::vector<int> renamed(l.atoms.size(), -1);
  for (std::size_t i = 0; i < l.atoms.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), l.axis[i]) != axes.end()) continue;
    renamed[i] = int(r.atoms.size());
    r.axis.push_back(l.axis[i]);
    r.atoms.push_back(l.atoms[i]);
  }
  for (int a : l.memory)
    if (renamed[std::size_t(a)] >= 0) r.memory.push_back(renamed[std::size_t(a)]);
  return r;
}

layout with_axis(layout const& l, int axis, std::int64_t extent, int place) {
  layout r = l;
  r.dims[std::size_t(axis)] = extent;
  if (extent == 1) return r;
  auto const at = std::lower_bound(r.axis.begin(), r.axis.end(), axis) - r.axis.begin();
  for (int& m : r.memory) m += m >= int(at);
  r.axis.insert(r.axis.begin() + at, axis);
  r.atoms.insert(r.atoms.begin() + at, extent);
  r.memory.insert(place < 0 ? r.memory.end() : r.memory.begin() + place, int(at));
  return r;
}

std::vector<std::int64_t> memory_to_row_major(layout const& l) {
  extents const inner = strides(l.atoms);
  std::vector<std::int64_t> r{0};
  for (int a : l.memory) {
    std::vector<std::int64_t> finer;
    finer.reserve(r.size() * std::size_t(l.atoms[std::size_t(a)]));
    for (std::int64_t base : r)
      for (std::int64_t i = 0; i < l.atoms[std::size_t(a)]; ++i) finer.push_back(base + i * inner[std::size_t(a)]);
    r = std::move(finer);
  }
  return r;
}

}  // namespace ago::importer
