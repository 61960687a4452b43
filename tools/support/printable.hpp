// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes foreign text, such as names from a model file, safe for terminals and drawings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ago::tools {

/// `text` with escapes for all characters that would not show, or would change how others show: control characters
/// (\n, \x1b), direction marks and invisible characters (\u202e), and bytes that are not UTF-8 (\xff).
std::string printable(std::string_view text);

/// The same for a message of several lines, whose line ends remain.
std::string printable_lines(std::string_view text);

/// The first `bytes` of a longer text, or up to four fewer, so that no character is split.
std::string_view whole_characters(std::string_view text, std::size_t bytes);

}  // namespace ago::tools
