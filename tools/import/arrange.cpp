// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arrange.hpp"

#include <algorithm>
#include <array>

namespace ago::importer {

namespace {

std::int64_t extent_of(layout const& l, std::vector<int> const& atoms) {
  std::int64_t r = 1;
  for (int a : atoms) r *= l.atoms[std::size_t(a)];
  return r;
}

int to_int(std::int64_t extent) {
  if (extent > tracing::int_limit) throw unsupported("a value is too large");
  return int(extent);
}

std::array<int, 4> array_of(shape const& s) { return {s.n, s.h, s.w, s.c}; }

/// The permutation that turns the groups of one value into those of another; nothing if the groups differ.
std::optional<permute> direct_permutation(atom_groups const& from, atom_groups const& to) {
  std::array<int, 4> order{-1, -1, -1, -1};
  std::array<bool, 4> used{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4 && !to[i].empty(); ++k)
      if (from[k] == to[i]) order[i] = int(k), used[k] = true;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!to[i].empty() && order[i] < 0) return {};
    if (!to[i].empty()) continue;
    std::size_t k = i;  // an extent of 1: preferably the one at its own place
    if (used[k] || !from[k].empty())
      for (k = 0; k < 4 && (used[k] || !from[k].empty()); ++k) {}
    if (k == 4) return {};
    order[i] = int(k);
    used[k] = true;
  }
  return permute{order[0], order[1], order[2], order[3]};
}

/// Runs of atoms that are adjacent, in this order, in both memories; in the order of the first.
atom_groups common_runs(std::vector<int> const& from, std::vector<int> const& to) {
  std::vector<int> place(from.size());
  for (std::size_t i = 0; i < to.size(); ++i) place[std::size_t(to[i])] = int(i);
  atom_groups r;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i == 0 || place[std::size_t(from[i])] != place[std::size_t(from[i - 1])] + 1) r.emplace_back();
    r.back().push_back(from[i]);
  }
  return r;
}

/// Exchanges at most four runs by one permutation; the result has the runs as its extents.
int exchange(builder& to, int value, layout const& l, atom_groups const& runs, std::vector<int> const& memory) {
  std::array<int, 4> extents{1, 1, 1, 1};
  std::array<int, 4> order{0, 1, 2, 3};
  std::size_t const first = 4 - runs.size();
  std::vector<std::pair<std::size_t, int>> by_place;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    extents[first + i] = to_int(extent_of(l, runs[i]));
    auto const place = std::find(memory.begin(), memory.end(), runs[i].front()) - memory.begin();
    by_place.emplace_back(std::size_t(place), int(first + i));
  }
  std::sort(by_place.begin(), by_place.end());
  for (std::size_t i = 0; i < by_place.size(); ++i) order[first + i] = by_place[i].second;
  value = with_extents(to, value, {extents[0], extents[1], extents[2], extents[3]});
  return to.apply(permute{order[0], order[1], order[2], order[3]}, {value});
}

/// The number of groups if a permutation only permutes channels as channel_shuffle does; otherwise 0.
int shuffled_groups(layout const& l, atom_groups const& runs, std::vector<int> const& memory, shape const& from,
                    shape const& extents) {
  if (from != extents || runs.size() < 2 || runs.size() > 3) return 0;
  std::vector<int> const &groups = runs[runs.size() - 2], &inner = runs.back();
  if (extent_of(l, groups) * extent_of(l, inner) != extents.c || memory.back() != groups.back()) return 0;
  if (runs.size() == 3 && memory.front() != runs.front().front()) return 0;
  return int(extent_of(l, groups));
}

}  // namespace

int with_extents(builder& to, int value, shape const& extents) {
  shape const now = to.dims(value);
  if (now == extents) return value;
  auto const given = [](int wanted, int before) { return wanted == before ? 0 : wanted; };
  return to.apply(
      reshape{given(extents.n, now.n), given(extents.h, now.h), given(extents.w, now.w), given(extents.c, now.c)},
      {value});
}

std::optional<atom_groups> groups_of(layout const& l, shape const& extents) {
  atom_groups r(4);
  std::size_t next = 0;
  auto const each = array_of(extents);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::int64_t covered = 1; covered < each[i]; ++next) {
      if (next == l.memory.size()) return {};
      covered *= l.atoms[std::size_t(l.memory[next])];
      if (each[i] % covered != 0) return {};
      r[i].push_back(l.memory[next]);
    }
  }
  return r;
}

view in_order(builder& to, view const& x, std::vector<int> const& memory, shape const& extents) {
  view r{x.value, x.how};
  r.how.memory = memory;
  if (memory == x.how.memory) {
    r.value = with_extents(to, x.value, extents);
    return r;
  }
  atom_groups runs = common_runs(x.how.memory, memory);
  if (int const groups = shuffled_groups(x.how, runs, memory, to.dims(x.value), extents)) {
    r.value = to.apply(channel_shuffle{groups}, {x.value});
    return r;
  }
  auto const from = groups_of(x.how, to.dims(x.value)), wanted = groups_of(r.how, extents);
  if (from && wanted)
    if (auto const p = direct_permutation(*from, *wanted)) {
      r.value = to.apply(*p, {x.value});
      return r;
    }
  layout now = x.how;
  int value = x.value;
  while (runs.size() > 4) {  // move the next run to the front, after those already in place
    std::size_t done = 0;
    while (now.memory[done] == memory[done]) ++done;
    auto const run = std::find_if(runs.begin(), runs.end(), [&](auto const& g) { return g.front() == memory[done]; });
    std::vector<int> next(now.memory.begin(), now.memory.begin() + std::ptrdiff_t(done));
    next.insert(next.end(), run->begin(), run->end());
    for (int a : now.memory)
      if (std::find(next.begin(), next.end(), a) == next.end()) next.push_back(a);
    value = exchange(to, value, now, common_runs(now.memory, next), next);
    now.memory = next;
    runs = common_runs(now.memory, memory);
  }
  if (now.memory != memory) value = exchange(to, value, now, runs, memory);
  r.value = with_extents(to, value, extents);
  return r;
}

view in_row_major(builder& to, view const& x) {
  if (x.how.is_row_major()) return {x.value, simplified(x.how)};
  std::vector<int> memory = x.how.memory;
  std::sort(memory.begin(), memory.end());
  // One extent per axis, if there are few enough.
  extents dims;
  for (std::int64_t d : x.how.dims)
    if (d > 1 || x.how.rank() <= 4) dims.push_back(d);
  while (dims.size() > 4) dims[1] *= dims[0], dims.erase(dims.begin());
  dims.insert(dims.begin(), 4 - dims.size(), 1);
  view r = in_order(to, x, memory, {to_int(dims[0]), to_int(dims[1]), to_int(dims[2]), to_int(dims[3])});
  r.how = simplified(r.how);
  return r;
}

view placed(builder& to, view const& x, std::vector<std::vector<int>> const& places) {
  std::vector<int> memory;
  std::array<int, 4> extents{1, 1, 1, 1};
  for (std::size_t i = 0; i < places.size(); ++i)
    for (int axis : places[i]) {
      extents[i] = to_int(extents[i] * x.how.dims[std::size_t(axis)]);
      for (int a : x.how.of_axis(axis)) memory.push_back(a);
    }
  return in_order(to, x, memory, {extents[0], extents[1], extents[2], extents[3]});
}

view innermost(builder& to, view const& x, std::vector<int> const& inner) {
  auto const is_inner = [&](int a) {
    return std::find(inner.begin(), inner.end(), x.how.axis[std::size_t(a)]) != inner.end();
  };
  std::vector<int> memory, last;
  for (int a : x.how.memory) (is_inner(a) ? last : memory).push_back(a);
  std::int64_t const channels = extent_of(x.how, last), others = extent_of(x.how, memory);
  memory.insert(memory.end(), last.begin(), last.end());
  shape const now = to.dims(x.value);
  if (memory == x.how.memory && now.c == channels) return x;
  // The most common case: one axis of an image moves innermost, everything else stays.
  return in_order(to, x, memory, {1, 1, to_int(others), to_int(channels)});
}

namespace {

/// Moves all atoms of an axis, in order, to the place of the first.
view in_one_piece(builder& to, view const& x, int axis) {
  std::vector<int> const own = x.how.of_axis(axis);
  auto const is_own = [&](int atom) { return x.how.axis[std::size_t(atom)] == axis; };
  std::vector<int> memory;
  std::int64_t outer = 1, inner = 1;
  for (int atom : x.how.memory) {
    bool const behind = std::find(memory.begin(), memory.end(), own.front()) != memory.end();
    if (!is_own(atom)) memory.push_back(atom), (behind ? inner : outer) *= x.how.atoms[std::size_t(atom)];
    else if (!behind) memory.insert(memory.end(), own.begin(), own.end());
  }
  auto const first = std::find_if(x.how.memory.begin(), x.how.memory.end(), is_own);
  bool const together = std::all_of(first, first + std::ptrdiff_t(own.size()), is_own);
  shape const apart{1, to_int(outer), to_int(extent_of(x.how, own)), to_int(inner)};
  view r = in_order(to, x, memory, together ? to.dims(x.value) : apart);
  r.how = simplified(r.how);
  return r;
}

}  // namespace

around around_axis(builder& to, view const& given, int axis) {
  view x{given.value, simplified(given.how)};
  if (x.how.of_axis(axis).size() > 1) x = in_one_piece(to, x, axis);
  std::vector<int> const atoms = x.how.of_axis(axis);
  if (auto const groups = groups_of(x.how, to.dims(x.value)); groups && !atoms.empty())
    for (std::size_t i = 0; i < 4; ++i)
      if ((*groups)[i] == atoms) return {x, ago::axis(i)};
  std::int64_t outer = 1, inner = 1;
  bool passed = false;
  for (int a : x.how.memory) {
    bool const own = x.how.axis[std::size_t(a)] == axis;
    passed = passed || own;
    if (!own) (passed && !atoms.empty() ? inner : outer) *= x.how.atoms[std::size_t(a)];
  }
  if (atoms.empty()) std::swap(outer, inner);  // an axis of one element can be placed anywhere
  shape const extents{1, to_int(outer), to_int(x.how.dims[std::size_t(axis)]), to_int(inner)};
  x.value = with_extents(to, x.value, extents);
  return {x, ago::axis::columns};
}

view arranged_like(builder& to, view x, view const& like) {
  auto a = refined(x.how, like.how), b = refined(like.how, x.how);
  if (!a || !b || a->atoms != b->atoms) throw unsupported("the memory layouts of two values differ too much");
  x.how = *a;
  view r = in_order(to, x, b->memory, to.dims(like.value));
  r.how = simplified(r.how);
  return r;
}

}  // namespace ago::importer
