// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that make tables and switches without an entry for a new enumerator fail to compile.
#pragma once

#include <ago/requirements.hpp>

namespace ago::ir {

/// Is `E` an enumerator of its type? Compilers print enumerators by name, and other values as a cast number.
template <auto E>
constexpr bool is_enumerator() {
  char const* p = __PRETTY_FUNCTION__;
  while (*p != '[') ++p;
  while (*p != '=') ++p;
  return p[2] != '(';
}

/// Are 0 ... N - 1 all enumerators of `Enum`? N: the number of lines of a table indexed by them.
template <class Enum, int N>
constexpr bool has_enumerators() {
  return is_enumerator<Enum(N - 1)>() && !is_enumerator<Enum(N)>();
}

template <class T, int N>
constexpr int lines_of(T const (&)[N]) {
  return N;
}

/// Is line i of a table that of enumerator i, which its member `which` names?
template <class T, int N, class Enum>
constexpr bool in_order(T const (&lines)[N], Enum T::* which) {
  for (int i = 0; i < N; ++i)
    if (lines[i].*which != Enum(i)) return false;
  return true;
}

/// Follows a switch without a default. It is not constexpr, so a value without a case stops a constant evaluation with
/// an error. At run time it aborts the program.
[[noreturn]] inline void no_case_for_this_value() { __builtin_abort(); }

}  // namespace ago::ir
