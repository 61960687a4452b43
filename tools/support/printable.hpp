// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts from elsewhere, such as the names in a model file, on their way to a terminal or a drawing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ago::tools {

/// `text` with whatever would not show as a character, or would change how other characters show, written out: control
/// characters (\n, \x1b), marks of direction and invisible characters (\u202e), and bytes that are not UTF-8 (\xff).
std::string printable(std::string_view text);

/// Likewise a message of several lines: the ends of its lines stay.
std::string printable_lines(std::string_view text);

/// The first `bytes` of a longer text, or up to four fewer, so that no character is cut in two.
std::string_view whole_characters(std::string_view text, std::size_t bytes);

}  // namespace ago::tools
