// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "site.hpp"

#include <utility>

namespace ago::onnx {
namespace {

template <class T>
T const& typed(attribute const& a, char const* name, char const* what) {
  if (T const* found = std::get_if<T>(&a)) return *found;
  throw fault{name, std::string("it is not ") + what};
}

}  // namespace

value const& site::input(std::size_t i) const {
  if (!has_input(i)) throw fault{"", "input " + std::to_string(i) + " is missing"};
  return graph_.values[static_cast<std::size_t>(op_.inputs[i])];
}

extents const& site::output_dims(std::size_t i) const {
  static extents const none;
  return has_output(i) ? graph_.values[static_cast<std::size_t>(op_.outputs[i])].dims : none;
}

element site::output_type(std::size_t i) const {
  return has_output(i) ? graph_.values[static_cast<std::size_t>(op_.outputs[i])].type : element::real;
}

constant const& site::known(std::size_t i, char const* what) const {
  value const& v = input(i);
  if (!v.known) throw fault{what, "it is computed at run time; only a constant is supported"};
  return *v.known;
}

extents const& site::integers(std::size_t i, char const* what) const {
  constant const& c = known(i, what);
  if (c.type != element::integer) throw fault{what, "its numbers are not integers"};
  if (c.dims.size() > 1) throw fault{what, "it has the shape " + text_of(c.dims) + ", expected a list"};
  return c.integers;
}

std::vector<float> const& site::reals(std::size_t i, char const* what) const {
  constant const& c = known(i, what);
  if (c.type != element::real) throw fault{what, "its numbers are not floats"};
  return c.reals;
}

std::int64_t site::integer(std::size_t i, char const* what) const {
  extents const& list = integers(i, what);
  if (list.size() != 1) throw fault{what, std::to_string(list.size()) + " numbers, expected one"};
  return list[0];
}

attribute const* site::find(char const* name) const {
  auto const found = op_.attributes.find(name);
  return found == op_.attributes.end() ? nullptr : &found->second;
}

std::int64_t site::integer(char const* name, std::int64_t otherwise) const {
  attribute const* a = find(name);
  return a ? typed<std::int64_t>(*a, name, "an integer") : otherwise;
}

float site::real(char const* name, float otherwise) const {
  attribute const* a = find(name);
  return a ? typed<float>(*a, name, "a float") : otherwise;
}

std::string site::text(char const* name, char const* otherwise) const {
  attribute const* a = find(name);
  return a ? typed<std::string>(*a, name, "a string") : otherwise;
}

extents site::integers(char const* name, extents const& otherwise) const {
  attribute const* a = find(name);
  return a ? typed<extents>(*a, name, "a list of integers") : otherwise;
}

extents site::list(char const* name, std::int64_t since, std::size_t i, extents const& otherwise) const {
  if (opset() < since) return integers(name, otherwise);
  if (has(name)) throw fault{name, "it is an input since operator set " + std::to_string(since)};
  return has_input(i) ? integers(i, name) : otherwise;
}

extents site::small_integers(char const* name, extents const& otherwise, std::size_t count, std::int64_t lowest) const {
  extents const list = integers(name, otherwise);
  if (count != 0 && list.size() != count) {
    throw fault{name, std::to_string(list.size()) + " numbers, expected " + std::to_string(count)};
  }
  for (std::int64_t const x : list) {
    if (x < lowest || x > largest_size) {
      throw fault{name, std::to_string(x) + ", expected at least " + std::to_string(lowest) + " and at most " +
                            std::to_string(largest_size)};
    }
  }
  return list;
}

void site::set(std::size_t i, extents dims, element type) {
  if (!has_output(i)) return;
  check_dims(dims);
  value& v = graph_.values[static_cast<std::size_t>(op_.outputs[i])];
  v.dims = std::move(dims);
  v.type = type;
}

void site::set(std::size_t i, constant known) {
  if (has_output(i)) graph_.values[static_cast<std::size_t>(op_.outputs[i])].known = std::move(known);
}

}  // namespace ago::onnx
