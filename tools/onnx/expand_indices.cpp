// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that place elements by their indices.
#include <utility>

#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

/// 0, 1, 2, ... along one of `rank` axes.
int numbers_along(parts_of_operation& p, std::int64_t count, std::size_t axis, std::size_t rank) {
  p.afford({count});
  extents dims(rank, 1);
  dims[axis] = count;
  return p.numbers(std::move(dims));
}

}  // namespace

/// Whether each index equals each number below the depth, as one of two values; negative indices count from the end.
void one_hot(parts_of_operation& p) {
  auto const& s = p.what();
  constant const& given = s.known(1, "depth");
  if (volume(given.dims) != 1) throw fault{"depth", "it has the shape " + text_of(given.dims) + ", expected a scalar"};
  double const depth =
      given.type == element::real ? static_cast<double>(given.reals[0]) : static_cast<double>(given.integers[0]);
  if (!(depth >= 1 && depth <= static_cast<double>(largest_size)))
    throw fault{"depth", "it is " + std::to_string(depth)};
  if (s.dims(2) != extents{2}) throw fault{"values", "it has the shape " + text_of(s.dims(2)) + ", expected two"};
  extents dims = s.dims(0);
  std::size_t const axis = axis_of(s.integer("axis", -1), dims.size() + 1);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  auto const count = static_cast<std::int64_t>(depth);
  int const index = p.reshape(p.make("Cast", {p.operand(0)}, {{"to", std::int64_t{7}}}), dims);
  int const wrapped =
      p.make("Where", {p.make("Less", {index, p.integer(0)}), p.make("Add", {index, p.integer(count)}), index});
  int const equal = p.make("Equal", {wrapped, numbers_along(p, count, axis, dims.size())});
  auto const value = [&](std::int64_t i) {
    return p.make("Gather", {p.operand(2), p.integer(i)}, {{"axis", std::int64_t{0}}});
  };
  int const on = value(1), off = value(0);
  p.finish("Where", {equal, on, off});
}

/// The elements whose conditions hold, which must be known.
void compress(parts_of_operation& p) {
  auto const& s = p.what();
  extents const condition = s.integers(1, "condition"), dims = p.dims(0);
  std::size_t const axis = s.has("axis") ? axis_of(s.integer("axis", 0), dims.size()) : 0;
  std::int64_t const extent = s.has("axis") ? dims[axis] : volume(dims);
  extents chosen;
  for (std::size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) chosen.push_back(static_cast<std::int64_t>(i));
  }
  if (!chosen.empty() && chosen.back() >= extent) {
    throw fault{"condition", "it chooses element " + std::to_string(chosen.back()) + " of " + std::to_string(extent)};
  }
  int const x = s.has("axis") ? p.operand(0) : p.reshape(p.operand(0), {extent});
  p.finish("Gather", {x, p.list(chosen)}, {{"axis", static_cast<std::int64_t>(axis)}});
}

/// A ScatterND of single elements, at indices of all axes.
void scatter_elements(parts_of_operation& p) {
  auto const& s = p.what();
  extents const dims = p.dims(0), updates = p.dims(2);
  std::size_t const axis = axis_of(s.integer("axis", 0), dims.size());
  if (s.element_type(1) != element::integer) throw fault{"indices", "they are not integers"};
  constant const& along = s.known(1, "indices");
  bool fits = updates == along.dims && updates.size() == dims.size();
  for (std::size_t i = 0; fits && i < dims.size(); ++i) fits = i == axis || updates[i] <= dims[i];
  if (!fits) {
    throw fault{"updates", "shapes of " + text_of(dims) + ", indices of " + text_of(along.dims) + " and updates of " +
                               text_of(updates) + " do not fit together"};
  }
  for (std::int64_t const i : along.integers) {
    if (i < -dims[axis] || i >= dims[axis]) {
      throw fault{"indices", std::to_string(i) + " is outside an axis of " + std::to_string(dims[axis])};
    }
  }
  constant places{.type = element::integer, .dims = updates};
  places.dims.push_back(static_cast<std::int64_t>(dims.size()));
  p.afford(places.dims);
  extents const strides = strides_of(updates);
  for (std::size_t k = 0; k < along.integers.size(); ++k) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      places.integers.push_back(i == axis ? along.integers[k] : static_cast<std::int64_t>(k) / strides[i] % updates[i]);
    }
  }
  p.finish("ScatterND", {p.operand(0), p.constant_of(std::move(places)), p.operand(2)},
           {{"reduction", s.text("reduction", "none")}});
}

/// Each place reads the cache, or the update behind it: a gather from both in a row.
void tensor_scatter(parts_of_operation& p) {
  auto const& s = p.what();
  extents const dims = p.dims(0), update = p.dims(1);
  std::size_t const rank = dims.size(), axis = axis_of(s.integer("axis", -2), rank);
  extents expected = dims;
  if (update.size() == rank) expected[axis] = update[axis];
  if (axis == 0 || update != expected || update[axis] > dims[axis]) {
    throw fault{"update", "the shape " + text_of(update) + " does not fit " + text_of(dims)};
  }
  std::string const mode = s.text("mode", "linear");
  if (mode != "linear" && mode != "circular") throw fault{"mode", "\"" + mode + "\" is not supported"};
  extents const starts{dims[0]};
  if (p.has(2) && s.dims(2) != starts) {
    throw fault{"write_indices", "it has the shape " + text_of(s.dims(2)) + ", expected " + text_of(starts)};
  }
  std::int64_t const all = dims[axis], written = update[axis];
  int const place = numbers_along(p, all, 1, 2);
  int distance = p.has(2) ? p.make("Sub", {place, p.reshape(p.operand(2), {dims[0], 1})})
                          : p.make("Expand", {place, p.list({dims[0], all})});
  if (mode == "circular") {
    int const behind = p.make("Less", {distance, p.integer(0)});
    distance = p.make("Where", {behind, p.make("Add", {distance, p.integer(all)}), distance});
  }
  int const kept = p.make(
      "Or", {p.make("Less", {distance, p.integer(0)}), p.make("GreaterOrEqual", {distance, p.integer(written)})});
  int const source = p.make("Where", {kept, place, p.make("Add", {distance, p.integer(all)})});
  // The axes in the order batch, place, others.
  extents order{0, static_cast<std::int64_t>(axis)}, back(rank);
  for (std::size_t i = 1; i < rank; ++i) {
    if (i != axis) order.push_back(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < rank; ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  int const both =
      p.transpose(p.make("Concat", {p.operand(0), p.operand(1)}, {{"axis", static_cast<std::int64_t>(axis)}}), order);
  int const y = p.make("GatherND", {both, p.reshape(source, {dims[0], all, 1})}, {{"batch_dims", std::int64_t{1}}});
  p.finish("Transpose", {y}, {{"perm", back}});
}

}  // namespace ago::onnx::expansion
