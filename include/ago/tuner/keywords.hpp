// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words that must not be names in a generated header. scripts/on-board also reads them: everything in quotes in this
// file.
#pragma once

#include <ago/requirements.hpp>

#include <string_view>

namespace ago::tuner {

/// C++ keywords, separated by blanks.
inline constexpr std::string_view keywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t "
    "class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto "
    "if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected "
    "public register reinterpret_cast requires return short signed sizeof static static_assert static_cast "
    "struct switch template this thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq ";

/// Common macros, separated by blanks.
inline constexpr std::string_view common_macros = " linux unix errno assert NULL EOF stdin stdout stderr ";

}  // namespace ago::tuner
