// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diagnostic.hpp"

#include "spelling.hpp"

namespace ago::tools {
namespace {

std::string numbers(long expected, long actual) {
  if (!expected && !actual) return {};
  return " (expects " + std::to_string(expected) + ", gets " + std::to_string(actual) + ")";
}

std::string text_of(expression::diagnostic const& d) {
  std::string text = words_of(d.what);
  if (d.operand >= 0) text += ", operand " + std::to_string(d.operand);
  if (d.dimension >= 0) text += ", dimension " + std::to_string(d.dimension);
  return text + numbers(d.expected, d.actual);
}

}  // namespace

std::string text_of(ir::diagnostic const& d) {
  if (d.what == ir::fault::expression_does_not_fit) return words_of(d.what) + ": " + text_of(d.described);
  return words_of(d.what) + numbers(d.expected, d.actual);
}

}  // namespace ago::tools
