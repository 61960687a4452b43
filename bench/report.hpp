// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results as JSON lines or as a table.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// One field of a result: a name and a value that is text, a number or nothing.
struct field {
  enum class kind { text, number, none };
  std::string name;
  kind what;
  std::string text{};  ///< numbers are printed already
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

/// Columns as wide as their widest cell; a field that a record lacks is empty. All records name the same fields.
inline std::string to_table(std::vector<record> const& records) {
  if (records.empty()) return {};
  std::vector<std::size_t> widths;
  for (field const& f : records.front()) widths.push_back(f.name.size());
  for (record const& r : records)
    for (std::size_t k = 0; k < r.size(); ++k) widths[k] = std::max(widths[k], r[k].text.size());
  std::string out;
  auto const cell = [&](std::string const& text, std::size_t k, bool left) {
    std::string const gap(widths[k] - text.size(), ' ');
    out += left ? text + gap : gap + text;
    out += k + 1 == widths.size() ? "\n" : "  ";
  };
  for (std::size_t k = 0; k < widths.size(); ++k)
    cell(records.front()[k].name, k, records.front()[k].what == field::kind::text);
  for (record const& r : records)
    for (std::size_t k = 0; k < r.size(); ++k) cell(r[k].text, k, r[k].what == field::kind::text);
  return out;
}

/// Prints results to the standard output: a line of JSON as each comes, or a table of all at the end.
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
