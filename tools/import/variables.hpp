// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which statements of a text make and read which variables.
#pragma once

#include "expression.hpp"

#include <map>
#include <string>
#include <vector>

namespace ago::importer {

/// A statement whose variables are numbers: `between` is the text around those that its head reads.
struct parsed_statement {
  std::vector<std::string> between{std::string()};
  std::vector<int> reads;
  int makes = -1;  ///< its variable, or the first one
  int kind = -1;   ///< equal for statements that differ only in variables and numbers; negative: like no other
};

/// A variable and where it is used; `made_by` is -1 for the network's inputs.
struct variable {
  std::string name;
  int made_by = -1;
  std::vector<int> readers{};
  bool is_output = false;
};

struct variable_uses {
  explicit variable_uses(program_text const& text);

  std::vector<variable> variables;
  std::vector<parsed_statement> statements;

 private:
  /// The variables that a statement defines; returns the first one's number.
  int add(std::string const& names, int made_by);
  parsed_statement parse(statement const& s) const;

  std::map<std::string, int> number_of_;
};

}  // namespace ago::importer
