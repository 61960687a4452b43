// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "repetition.hpp"

#include <algorithm>

namespace ago::importer {

std::string signature(item const& i) {
  std::string r = std::to_string(int(i.kind)) + i.name + "{";
  for (argument const& a : i.arguments) r += a.field + (a.type.empty() ? "=" + a.value : "") + ";";
  for (sequence const& b : i.branches) {
    r += "(";
    for (item const& k : b) r += signature(k) + "|";
    r += ")";
  }
  return r + "}" + std::to_string(i.times);
}

void visit_arguments(item& i, std::function<void(argument&)> const& f) {
  for (argument& a : i.arguments)
    if (!a.type.empty()) f(a);
  for (sequence& b : i.branches)
    for (item& k : b) visit_arguments(k, f);
}

std::vector<argument> numbers_of(sequence const& run) {
  std::vector<argument> r;
  for (item const& i : run) visit_arguments(const_cast<item&>(i), [&](argument const& a) { r.push_back(a); });
  return r;
}

void collect_layers(sequence const& s, std::set<std::string>& names) {
  for (item const& i : s) {
    names.insert(i.name);
    for (sequence const& b : i.branches) collect_layers(b, names);
  }
}

std::string parameter_name(argument const& a, std::set<std::string>& used) {
  std::string const base = a.field[0] == '.' ? a.field.substr(1) : a.field;
  std::string stem = base;
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.pop_back();
  std::string name = stem;
  for (int i = 2; !used.insert(name).second; ++i) name = stem + std::to_string(i);
  return name;
}

std::string parameter_type(std::string const& type, std::vector<std::string> const& values) {
  bool const numbers = std::all_of(values.begin(), values.end(), [](std::string const& text) {
    return text.find_first_not_of("0123456789") == std::string::npos;
  });
  return (type == "extent2" || type == "padding") && numbers ? "int" : type;
}

}  // namespace ago::importer
