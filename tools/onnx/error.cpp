// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "error.hpp"

#include <utility>

namespace ago::onnx {
namespace {

std::string lines(std::vector<finding> const& all) {
  std::string text;
  for (finding const& f : all) text += (text.empty() ? "" : "\n") + sentence(f);
  return text;
}

}  // namespace

std::string printable(std::string const& text) {
  constexpr std::size_t longest = 120;
  std::string shown = text.substr(0, longest);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text.size() > longest ? shown + "..." : shown;
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
