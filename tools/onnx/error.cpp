// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "error.hpp"

#include "../support/printable.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace ago::onnx {
namespace {

bool blames_the_operator(finding const& f) {
  return !f.op.empty() && f.attribute.empty() && f.reason.starts_with(unsupported_operator);
}

std::string lines(std::vector<finding> const& all) {
  std::map<std::string, int> nodes;  // by operator
  for (finding const& f : all)
    if (blames_the_operator(f)) ++nodes[f.op];
  std::string operators, others;
  for (finding const& f : all) {
    if (!blames_the_operator(f)) {
      others += sentence(f) + '\n';
    } else if (int const count = std::exchange(nodes[f.op], 0); count > 0) {
      finding kind = f;
      if (count > 1)
        kind.reason += "; " + std::to_string(count) + " nodes are " + printable(f.op) + ", this is the first";
      operators += sentence(kind) + '\n';
    }
  }
  std::string text = operators + others;
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

std::string printable(std::string const& text) {
  constexpr std::size_t longest = 120;
  if (text.size() <= longest) return tools::printable(text);
  return tools::printable(tools::whole_characters(text, longest)) + "...";
}

std::string shell_word(std::string const& text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,@%+-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (char const c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string sentence(finding const& f) {
  std::string text;
  if (!f.node.empty()) text = "node \"" + printable(f.node) + "\"";
  if (!f.op.empty()) text += (text.empty() ? "" : " ") + ("(" + printable(f.op) + ")");
  if (!f.attribute.empty()) text += (text.empty() ? "" : ", ") + printable(f.attribute);
  return text + (text.empty() ? "" : ": ") + f.reason;
}

import_error::import_error(std::vector<finding> all)
    : std::runtime_error(lines(all)), findings_(std::make_shared<std::vector<finding> const>(std::move(all))) {}

import_error::import_error(std::string reason) : import_error(std::vector<finding>{{.reason = std::move(reason)}}) {}

}  // namespace ago::onnx
