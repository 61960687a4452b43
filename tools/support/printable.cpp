// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "printable.hpp"

#include <cstdint>
#include <cstdio>

namespace ago::tools {
namespace {

struct character {
  std::uint32_t code;
  std::size_t bytes;  ///< its length; 0: the first byte does not begin a UTF-8 character
};

/// The first character of a non-empty text. Overlong encodings, surrogates, and codes beyond Unicode are not
/// characters.
character first_of(std::string_view text) {
  auto const at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (at(0) < 0x80) return {at(0), 1};
  std::size_t const bytes = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  if (at(0) < 0xc2 || at(0) > 0xf4 || text.size() < bytes) return {at(0), 0};
  std::uint32_t code = at(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {at(0), 0};
    code = code << 6 | (at(i) & 0x3fu);
  }
  bool const longer_than_needed = code < (bytes == 4 ? 0x10000u : bytes == 3 ? 0x800u : 0x80u);
  bool const surrogate = code >= 0xd800 && code < 0xe000;
  if (longer_than_needed || surrogate || code > 0x10ffff) return {at(0), 0};
  return {code, bytes};
}

/// Whether it is visible and does not change how its neighbours show.
bool shows(std::uint32_t code) {
  struct range {
    std::uint32_t first, last;
  };
  constexpr range hidden[] = {
      {0, 0x1f},           // control characters, including ESC and BEL
      {0x7f, 0x9f},        // DEL and further ones, including CSI
      {0xad, 0xad},        // soft hyphen
      {0x61c, 0x61c},      // Arabic letter mark
      {0x180e, 0x180e},    // Mongolian vowel separator
      {0x200b, 0x200f},    // zero-width characters, marks of direction
      {0x2028, 0x202e},    // separators of lines and paragraphs, embeddings and overrides of direction
      {0x2060, 0x206f},    // invisible operators, isolates of direction
      {0xfeff, 0xfeff},    // byte-order mark
      {0xfff9, 0xfffb},    // annotations
      {0xe0000, 0xe0fff},  // tags
  };
  for (range const& r : hidden)
    if (code >= r.first && code <= r.last) return false;
  return true;
}

std::string written_out(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  char text[16];
  std::snprintf(text, sizeof text, code < 0x80 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", unsigned(code));
  return text;
}

std::string printable(std::string_view text, bool keeps_lines) {
  std::string shown;
  while (!text.empty()) {
    auto const [code, bytes] = first_of(text);
    if (bytes == 0) {
      char byte[8];
      std::snprintf(byte, sizeof byte, "\\x%02x", unsigned(code));
      shown += byte;
    } else if (shows(code) || (keeps_lines && code == '\n')) {
      shown += text.substr(0, bytes);
    } else {
      shown += written_out(code);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) { return printable(text, false); }

std::string printable_lines(std::string_view text) { return printable(text, true); }

std::string_view whole_characters(std::string_view text, std::size_t bytes) {
  auto const continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  std::size_t end = bytes;
  while (end > 0 && end + 4 > bytes && continues(end)) --end;
  return text.substr(0, end);
}

}  // namespace ago::tools
