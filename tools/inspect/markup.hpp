// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text inside HTML and SVG.
#pragma once

#include "../support/printable.hpp"

#include <string>
#include <string_view>

namespace ago::tools {

/// `text` escaped for HTML content and quoted attributes; unprintable characters are written as escapes.
inline std::string escaped(std::string_view text) {
  std::string r;
  for (char const c : printable(text)) switch (c) {
      case '&': r += "&amp;"; break;
      case '<': r += "&lt;"; break;
      case '>': r += "&gt;"; break;
      case '"': r += "&quot;"; break;
      case '\'': r += "&#39;"; break;
      default: r += c;
    }
  return r;
}

}  // namespace ago::tools
