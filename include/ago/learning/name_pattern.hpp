// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of parameters, and patterns that select some of them.
#pragma once

#include <ago/ir/parameter.hpp>

namespace ago::learning {

/// A pattern of up to 63 characters for names of parameters, "features.3.weight": `*` stands for any characters, also
/// for dots; several patterns are separated by commas. As in PyTorch, a name is that of the layer (from named()), a
/// dot, and the parameter's role; without named() it is the role alone.
struct name_pattern {
  char text[64]{};

  constexpr name_pattern() = default;
  template <int N>
    requires(N <= 64)
  constexpr name_pattern(char const (&pattern)[N]) {
    for (int i = 0; i < N; ++i) text[i] = pattern[i];
  }
  bool operator==(name_pattern const&) const = default;

  constexpr bool matches(parameter const& p) const {
    for (char const* part = text; *part;) {
      if (matches(part, p.name, name_of(p.role), p.name != nullptr)) return true;
      while (*part && *part != ',') ++part;
      if (*part) ++part;
    }
    return false;
  }

 private:
  /// Does the pattern up to a comma match what is left of `name`, a dot if `dot`, and `then`?
  static constexpr bool matches(char const* pattern, char const* name, char const* then, bool dot) {
    while (name && *name == 0) name = nullptr;
    char const next = name ? *name : dot ? '.' : *then;
    if (*pattern == '*') {
      if (matches(pattern + 1, name, then, dot)) return true;
      return next != 0 && matches(pattern, name ? name + 1 : nullptr, name || dot ? then : then + 1, name && dot);
    }
    bool const ends = *pattern == 0 || *pattern == ',';
    if (ends || next == 0) return ends && next == 0;
    if (*pattern != next) return false;
    return matches(pattern + 1, name ? name + 1 : nullptr, name || dot ? then : then + 1, name && dot);
  }
};

}  // namespace ago::learning
