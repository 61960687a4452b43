// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "names.hpp"

#include "expression.hpp"
#include "library_names.hpp"

#include <ago/tuner/keywords.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace ago::importer {

namespace {

using name_set = std::set<std::string, std::less<>>;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

name_set words_of(std::string_view list) {
  std::istringstream words{std::string(list)};
  name_set r;
  for (std::string word; words >> word;) r.insert(word);
  return r;
}

bool is_of_the_language(std::string const& name) {
  static name_set const words = words_of(tuner::keywords),
                        others = words_of("contract_assert import main module std typeof");
  return words.count(name) != 0 || others.count(name) != 0;
}

/// The names of layers that a header may use, taken from the list of their types.
template <std::size_t... I>
name_set layer_names(std::index_sequence<I...>) {
  name_set r;
  (r.insert(item_of({std::variant_alternative_t<I, any_layer>{}, {}, {}, {}, {}}).name), ...);
  return r;
}

bool is_of_ago(std::string const& name) {
  static name_set const layers = layer_names(std::make_index_sequence<std::variant_size_v<any_layer>>());
  static name_set const others = words_of(
      "ago axes axis extent2 layout math maximum minimum outputs pad_mode padding pads power repeat residual rounding "
      "same sampling tensor trace");
  return layers.count(name) != 0 || others.count(name) != 0;
}

bool is_of_a_library(std::string const& name) {
  static name_set const names = words_of(names_of_libraries), ends = words_of(names_of_libraries_end),
                        begins = words_of(macros_of_libraries_begin);
  if (names.count(name)) return true;
  for (std::string const& end : ends)
    if (name.ends_with(end) && names.count(name.substr(0, name.size() - end.size()))) return true;
  bool const capitals = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  std::size_t const first = name.find('_');
  if (capitals && first != std::string::npos && begins.count(name.substr(0, first))) return true;
  return name.starts_with("pthread_") || name.starts_with("posix_");
}

}  // namespace

std::string identifier(std::string const& name) {
  auto const fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  if (!name.empty() && !is_digit(name[0]) && std::all_of(name.begin(), name.end(), fits)) return name;
  std::string r;
  for (char c : name)
    if (is_letter(c) || is_digit(c)) r += c;
    else if (!r.empty() && r.back() != '_') r += '_';
  while (!r.empty() && r.back() == '_') r.pop_back();
  if (r.empty()) return "network";
  return is_digit(r[0]) ? "x" + r : r;
}

char const* owner_of(std::string const& name) {
  if (is_of_the_language(name)) return "C++";
  if (name.starts_with('_') || name.find("__") != std::string::npos) return "C++, which reserves such underscores";
  if (is_of_ago(name)) return "ago";
  if (is_of_a_library(name)) return "the libraries of C and POSIX";
  return nullptr;
}

std::string free_name(std::string const& name) {
  std::string r;
  for (char c : identifier(name))
    if (c != '_' || (!r.empty() && r.back() != '_')) r += c;
  if (r.empty()) r = "network";
  if (is_digit(r[0])) r.insert(0, "x");
  for (std::string const& candidate : {r, r + (r.ends_with('_') ? "net" : "_net")})
    if (!owner_of(candidate)) return candidate;
  return "net_" + r;
}

}  // namespace ago::importer
