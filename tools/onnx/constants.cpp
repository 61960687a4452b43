// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "constants.hpp"

#include <algorithm>
#include <cmath>

namespace ago::onnx {

constant constant_of(site const& s) {
  int given = 0;
  constant c;
  if (attribute const* a = s.find("value")) {
    constant const* tensor = std::get_if<constant>(a);
    if (tensor == nullptr) throw fault{"value", "it is not a tensor"};
    c = *tensor;
    ++given;
  }
  if (s.has("value_float")) {
    c = {.type = element::real, .dims = {}, .reals = {s.real("value_float", 0)}};
    ++given;
  }
  if (s.has("value_int")) {
    c = {.type = element::integer, .dims = {}, .integers = {s.integer("value_int", 0)}};
    ++given;
  }
  if (attribute const* a = s.find("value_floats")) {
    auto const* list = std::get_if<std::vector<float>>(a);
    if (list == nullptr) throw fault{"value_floats", "it is not a list of floats"};
    c = {.type = element::real, .dims = {static_cast<std::int64_t>(list->size())}, .reals = *list};
    ++given;
  }
  if (s.has("value_ints")) {
    extents list = s.integers("value_ints", {});
    c = {.type = element::integer, .dims = {static_cast<std::int64_t>(list.size())}, .integers = list};
    ++given;
  }
  for (char const* name : {"sparse_value", "value_string", "value_strings"}) {
    if (s.has(name)) throw fault{name, "it is not supported"};
  }
  if (given != 1) throw fault{"value", std::to_string(given) + " values, expected one"};
  return c;
}

constant fill_of(site const& s) {
  attribute const* a = s.find("value");
  if (a == nullptr) return {.type = element::real, .dims = {1}, .reals = {0.0f}};
  constant const* tensor = std::get_if<constant>(a);
  if (tensor == nullptr || volume(tensor->dims) != 1) throw fault{"value", "it is not a tensor with one element"};
  return *tensor;
}

std::pair<std::size_t, std::size_t> shape_range(site const& s) {
  auto const rank = static_cast<std::int64_t>(s.rank(0));
  auto const bound = [rank](std::int64_t x) { return std::clamp<std::int64_t>(x < 0 ? x + rank : x, 0, rank); };
  std::int64_t const first = bound(s.integer("start", 0)), last = bound(s.integer("end", rank));
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(std::max(first, last))};
}

std::int64_t range_length(site const& s) {
  constant const& start = s.known(0, "start");
  constant const& limit = s.known(1, "limit");
  constant const& delta = s.known(2, "delta");
  for (constant const* c : {&start, &limit, &delta}) {
    if (volume(c->dims) != 1 || c->type != start.type) throw fault{"", "its inputs are not scalars of one type"};
  }
  long double count = 0;  // 64 bits of mantissa: exact for differences of integers
  if (start.type == element::real) {
    if (delta.reals[0] == 0) throw fault{"delta", "it is 0"};
    count = std::ceil((static_cast<long double>(limit.reals[0]) - start.reals[0]) / delta.reals[0]);
  } else {
    if (delta.integers[0] == 0) throw fault{"delta", "it is 0"};
    count = std::ceil((static_cast<long double>(limit.integers[0]) - start.integers[0]) / delta.integers[0]);
  }
  if (!(count <= static_cast<long double>(largest_size))) throw fault{"limit", "too many numbers"};
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

}  // namespace ago::onnx
