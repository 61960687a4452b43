// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results as JSON lines or as a table.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// One field of a result: a name, and a value that is text, a number or missing.
struct field {
  enum class kind { text, number, none };
  std::string name;
  kind what;
  std::string text{};  ///< numbers are already formatted
  field(std::string n) : name{std::move(n)}, what{kind::none} {}
  field(std::string n, std::string value) : name{std::move(n)}, what{kind::text}, text{std::move(value)} {}
  field(std::string n, long value) : name{std::move(n)}, what{kind::number}, text{std::to_string(value)} {}
  field(std::string n, double value, char const* format) : name{std::move(n)}, what{kind::number} {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, value);
    text = buffer;
  }
};

using record = std::vector<field>;

inline std::string quoted(std::string const& text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

inline std::string to_json(record const& r) {
  std::string out;
  for (field const& f : r) {
    if (f.what == field::kind::none) continue;
    out += (out.empty() ? "{" : ", ") + quoted(f.name) + ": " + (f.what == field::kind::text ? quoted(f.text) : f.text);
  }
  return out + "}";
}

/// The words of a field's name. Headers stack them, so that columns stay as narrow as their cells.
inline std::vector<std::string> words_of(std::string const& name) {
  std::vector<std::string> words(1);
  for (char const c : name)
    if (c == '_') words.emplace_back();
    else words.back() += c;
  return words;
}

/// Columns as wide as their widest cell; a missing value gives an empty cell. All records have the same fields.
inline std::string to_table(std::vector<record> const& records) {
  if (records.empty()) return {};
  std::vector<std::vector<std::string>> names;
  std::vector<std::size_t> widths;
  std::size_t height = 0;
  for (field const& f : records.front()) {
    names.push_back(words_of(f.name));
    height = std::max(height, names.back().size());
    std::size_t width = 0;
    for (std::string const& word : names.back()) width = std::max(width, word.size());
    widths.push_back(width);
  }
  for (record const& r : records)
    for (std::size_t k = 0; k < r.size(); ++k) widths[k] = std::max(widths[k], r[k].text.size());
  std::string out;
  auto const cell = [&](std::string const& text, std::size_t k) {
    std::string const gap(widths[k] - text.size(), ' ');
    bool const left = records.front()[k].what == field::kind::text;
    out += left ? text + gap : gap + text;
    if (k + 1 < widths.size()) {
      out += "  ";
      return;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  for (std::size_t line = 0; line < height; ++line)
    for (std::size_t k = 0; k < widths.size(); ++k) {
      std::size_t const above = height - names[k].size();  // names are aligned at the bottom
      cell(line < above ? "" : names[k][line - above], k);
    }
  for (record const& r : records)
    for (std::size_t k = 0; k < r.size(); ++k) cell(r[k].text, k);
  return out;
}

/// Prints results to standard output: a line of JSON as each arrives, or a table of all at the end.
class printer {
 public:
  explicit printer(bool json) : json_{json} {}
  void add(record r) {
    if (json_) std::printf("%s\n", to_json(r).c_str());
    std::fflush(stdout);
    all_.push_back(std::move(r));
  }
  void finish() const {
    if (!json_) std::fputs(to_table(all_).c_str(), stdout);
  }

 private:
  bool json_;
  std::vector<record> all_;
};

}  // namespace bench
