// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// So that a table or a switch which has forgotten a new enumerator does not compile.
#pragma once

#include <ago/graph/requirements.hpp>

namespace ago::detail {

/// Is `E` one of the enumerators of its type? Compilers print one by its name, other values as a number behind a cast.
template <auto E>
constexpr bool is_enumerator() {
  char const* p = __PRETTY_FUNCTION__;
  while (*p != '[') ++p;
  while (*p != '=') ++p;
  return p[2] != '(';
}

/// Are 0 ... N - 1 the enumerators of `Enum`, and no more? N: the lines of a table, which is indexed by them.
template <class Enum, int N>
constexpr bool has_enumerators() {
  return is_enumerator<Enum(N - 1)>() && !is_enumerator<Enum(N)>();
}

template <class T, int N>
constexpr int lines_of(T const (&)[N]) { return N; }

/// Stands behind a switch without a default: not constexpr, so that a value without a case ends a constant evaluation,
/// and the program does not compile. At run time it ends the program.
[[noreturn]] inline void no_case_for_this_value() { __builtin_abort(); }

}  // namespace ago::detail
