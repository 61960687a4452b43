// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "npy.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "encodings.hpp"
#include "sizes.hpp"
#include "view.hpp"

namespace ago::onnx {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void damaged(std::string const& what) { throw fault{"", "NumPy array: " + what}; }

/// What follows `'key':` in the header, a Python dictionary, without leading blanks.
std::string_view entry(std::string_view header, std::string const& key) {
  std::size_t const at = header.find("'" + key + "'");
  if (at == std::string_view::npos) damaged("its header has no " + key);
  std::string_view rest = header.substr(at + key.size() + 2);
  std::size_t const colon = rest.find_first_not_of(" ");
  if (colon == std::string_view::npos || rest[colon] != ':') damaged("its header has no " + key);
  rest.remove_prefix(colon + 1);
  return rest.substr(std::min(rest.find_first_not_of(" "), rest.size()));
}

extents shape_of(std::string_view text) {
  std::size_t const end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) damaged("its shape is not a tuple");
  text = text.substr(1, end - 1);
  extents dims;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) return dims;
    std::int64_t d = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), d);
    if (error != std::errc{}) damaged("its shape is not a tuple of integers");
    dims.push_back(d);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
}

struct layout {
  bool big = false;
  std::string_view type;  ///< "f4"
  bool by_columns = false;
  extents dims;
};

layout layout_of(std::string_view header) {
  std::string_view const descr = entry(header, "descr");
  std::size_t const end = descr.size() < 2 ? std::string_view::npos : descr.find('\'', 1);
  if (end == std::string_view::npos || descr[0] != '\'' || end < 3) damaged("a data type that is not supported");
  std::string_view const order = entry(header, "fortran_order");
  layout l{.big = descr[1] == '>',
           .type = descr.substr(2, end - 2),
           .by_columns = order.starts_with("True"),
           .dims = shape_of(entry(header, "shape"))};
  if (std::string_view("<>|=").find(descr[1]) == std::string_view::npos) damaged("a byte order that is not supported");
  if (!l.by_columns && !order.starts_with("False")) damaged("its header has no fortran_order");
  check_dims(l.dims);
  return l;
}

template <class T, class To, class Convert>
void fill(std::string_view data, layout const& l, std::vector<To>& to, Convert convert) {
  auto const count = static_cast<std::size_t>(volume(l.dims));
  if (data.size() != count * sizeof(T)) {
    damaged(std::to_string(data.size()) + " bytes of data, expected " + std::to_string(count * sizeof(T)));
  }
  to.reserve(count);
  for (std::size_t i = 0; i < count; ++i) to.push_back(convert(from_bytes<T>(data.data() + i * sizeof(T), l.big)));
}

template <class T>
constant integers(layout const& l, std::string_view data) {
  constant c{.type = element::integer, .dims = l.dims};
  fill<T>(data, l, c.integers, [](T x) { return static_cast<std::int64_t>(x); });
  return c;
}

template <class T, class Convert>
constant reals(layout const& l, std::string_view data, Convert convert) {
  constant c{.type = element::real, .dims = l.dims};
  fill<T>(data, l, c.reals, convert);
  return c;
}

constant numbers(layout const& l, std::string_view data) {
  if (l.type == "f4") return reals<float>(l, data, [](float x) { return x; });
  if (l.type == "f8") return reals<double>(l, data, narrow);
  if (l.type == "f2") return reals<std::uint16_t>(l, data, [](std::uint16_t x) { return widen(half, x); });
  if (l.type == "i1") return integers<std::int8_t>(l, data);
  if (l.type == "i2") return integers<std::int16_t>(l, data);
  if (l.type == "i4") return integers<std::int32_t>(l, data);
  if (l.type == "i8") return integers<std::int64_t>(l, data);
  if (l.type == "u1" || l.type == "b1") return integers<std::uint8_t>(l, data);
  if (l.type == "u2") return integers<std::uint16_t>(l, data);
  if (l.type == "u4") return integers<std::uint32_t>(l, data);
  damaged("data type " + std::string(l.type.substr(0, 20)) + " is not supported");
}

/// The same array in row-major order.
constant by_rows(constant c) {
  extents const dims = c.dims;
  std::reverse(c.dims.begin(), c.dims.end());
  extents strides = strides_of(c.dims);
  std::reverse(strides.begin(), strides.end());
  return view(c, dims, 0, strides);
}

}  // namespace

bool is_npy(std::string const& bytes) { return bytes.starts_with(magic); }

constant decode_npy(std::string const& bytes) {
  constexpr std::size_t versions_at = magic.size(), length_at = versions_at + 2;
  if (bytes.size() < length_at + 4) damaged("it is cut off");
  int const version = bytes[versions_at];
  if (version < 1 || version > 3) damaged("format " + std::to_string(version) + " is not supported");
  std::size_t const length = version == 1 ? from_bytes<std::uint16_t>(bytes.data() + length_at)
                                          : from_bytes<std::uint32_t>(bytes.data() + length_at);
  std::size_t const begin = length_at + (version == 1 ? 2 : 4);
  if (length > bytes.size() - begin) damaged("it is cut off");
  std::string_view const all(bytes);
  layout const l = layout_of(all.substr(begin, length));
  constant c = numbers(l, all.substr(begin + length));
  return l.by_columns ? by_rows(std::move(c)) : c;
}

}  // namespace ago::onnx
