// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerators in words, as their declaration spells them, so that no table of names can lack one.
#pragma once

#include <ago/ir/enumerators.hpp>

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ago::tools {
namespace detail {

/// "not_a_network" for fault::not_a_network; empty for a value that is no enumerator.
template <auto Enumerator>
constexpr std::string_view spelling() {
  if (!ir::is_enumerator<Enumerator>()) return {};
  std::string_view const function =
      __PRETTY_FUNCTION__;  // ... [with auto Enumerator = ago::ir::fault::not_a_network; ...
  std::string_view const from = function.substr(function.find("Enumerator = "));
  std::string_view const qualified = from.substr(0, from.find_first_of(";]"));
  return qualified.substr(qualified.rfind(':') + 1);
}

template <class Enum>
inline constexpr auto spellings = []<int... I>(std::integer_sequence<int, I...>) {
  return std::array{spelling<Enum(I)>()...};
}(std::make_integer_sequence<int, std::numeric_limits<std::underlying_type_t<Enum>>::max() + 1>{});

}  // namespace detail

/// "not a network" for fault::not_a_network; "?" for a value that is no enumerator.
template <class Enum>
  requires(sizeof(Enum) == 1 && std::is_unsigned_v<std::underlying_type_t<Enum>>)
std::string words_of(Enum value) {
  std::string words(detail::spellings<Enum>[std::size_t(value)]);
  for (char& c : words)
    if (c == '_') c = ' ';
  return words.empty() ? "?" : words;
}

}  // namespace ago::tools
