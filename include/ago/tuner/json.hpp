// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subset of JSON that logs use, and a reader for exactly this subset: fields in a fixed order, no whitespace.
#pragma once

#include <ago/tuner/text.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ago::tuner::json {

inline std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) result += print("\\u%04x", unsigned(c));
    else result += c;
  }
  return result += '"';
}

/// With enough digits to read back the same number.
inline std::string number(double x) { return print("%.17g", x); }

template <class Integers>
std::string list(Integers const& numbers) {
  std::string result = "[";
  for (auto const n : numbers) result += (result.size() > 1 ? "," : "") + std::to_string(n);
  return result += ']';
}

/// Reads from left to right. After the first mismatch, good() is false and nothing more is read.
class scanner {
 public:
  explicit scanner(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

  scanner& expect(std::string_view word) {
    if (good_ = good_ && rest_.starts_with(word); good_) rest_.remove_prefix(word.size());
    return *this;
  }
  scanner& read(std::string& text) {
    text.clear();
    expect("\"");
    while (good_ && !rest_.empty() && rest_.front() != '"') text += character();
    return expect("\"");
  }
  scanner& read(double& x) {
    // strtod() needs a terminated string; numbers are short.
    std::string const head(rest_.substr(0, 40));
    char* end = nullptr;
    x = std::strtod(head.c_str(), &end);
    return skip(std::size_t(end - head.c_str()), !head.empty() && !std::isspace(static_cast<unsigned char>(head[0])));
  }
  template <class Integer>
    requires std::is_integral_v<Integer>
  scanner& read(Integer& n) {
    auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
    return skip(std::size_t(end - rest_.data()), error == std::errc());
  }
  template <class Integer>
  scanner& read(std::vector<Integer>& numbers) {
    numbers.clear();
    expect("[");
    while (good_ && !rest_.starts_with("]")) {
      if (!numbers.empty()) expect(",");
      numbers.emplace_back();
      read(numbers.back());
    }
    return expect("]");
  }

 private:
  scanner& skip(std::size_t count, bool well) {
    if (good_ = good_ && well && count > 0; good_) rest_.remove_prefix(count);
    return *this;
  }
  char character() {
    char c = rest_.front();
    rest_.remove_prefix(1);
    if (c != '\\') return c;
    good_ = !rest_.empty();
    if (!good_) return c;
    c = rest_.front();
    rest_.remove_prefix(1);
    if (c != 'u') return c;
    unsigned code = 0;
    auto const [end, error] =
        std::from_chars(rest_.data(), rest_.data() + std::min<std::size_t>(4, rest_.size()), code, 16);
    skip(std::size_t(end - rest_.data()), error == std::errc());
    return char(code);
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace ago::tuner::json
