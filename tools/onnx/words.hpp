// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of names, as tables write them: separated by blanks.
#pragma once

#include <algorithm>
#include <string_view>

namespace ago::onnx {

/// Whether `name` is one of the words in `names`.
constexpr bool lists(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    std::size_t const end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace ago::onnx
