// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "variables.hpp"

#include "repetition.hpp"

#include <algorithm>
#include <cctype>

namespace ago::importer {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::size_t end_of_word(std::string const& text, std::size_t i) {
  while (i < text.size() && is_word(text[i])) ++i;
  return i;
}

}  // namespace

variable_uses::variable_uses(program_text const& text) {
  for (std::string const& name : text.input_names) add(name, -1);
  std::map<std::string, int> kinds;
  for (statement const& s : text.statements) {
    int const number = int(statements.size());
    parsed_statement p = parse(s);
    p.makes = add(s.name, number);
    for (int v : p.reads) variables[std::size_t(v)].readers.push_back(number);
    std::string key;
    for (std::string const& part : p.between) key += part + "#";
    for (item const& i : s.items) key += "|" + signature(i);
    bool const makes_one = is_word(s.name[0]);
    p.kind = makes_one ? kinds.emplace(key, int(kinds.size())).first->second : -1 - number;
    statements.push_back(std::move(p));
  }
  for (std::string const& name : text.output_names) variables[std::size_t(number_of_.at(name))].is_output = true;
}

int variable_uses::add(std::string const& names, int made_by) {
  int const first = int(variables.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t const end = end_of_word(names, i);
    if (end == i) continue;
    std::string const name = names.substr(i, end - i);
    number_of_.emplace(name, int(variables.size()));
    variables.push_back({.name = name, .made_by = made_by});
    i = end;
  }
  return first;
}

parsed_statement variable_uses::parse(statement const& s) const {
  parsed_statement r;
  for (std::size_t i = 0; i < s.head.size();) {
    std::string const word = s.head.substr(i, std::max(end_of_word(s.head, i) - i, std::size_t{1}));
    auto const found = number_of_.find(word);
    bool const is_field = i > 0 && s.head[i - 1] == '.';
    if (found == number_of_.end() || is_field) {
      r.between.back() += word;
    } else {
      r.reads.push_back(found->second);
      r.between.emplace_back();
    }
    i += word.size();
  }
  return r;
}

}  // namespace ago::importer
