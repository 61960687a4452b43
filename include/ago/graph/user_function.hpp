// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's own elementwise operator, carried through the graph as a value.
#pragma once

#include <ago/graph/isa.hpp>

namespace ago {

/// Applies a user's lambda in place to one SIMD register: `ago::vec<target>`, which for `isa::scalar` is one float.
/// `alpha`, `beta`: the numbers of its layer, if it takes them.
struct user_function {
  void (*apply)(isa target, void* register_, float alpha, float beta);
};

// Clang warns where the lambda is in an unnamed namespace and the translation unit compiles no kernel, nor needs it.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
/// Declared here, defined in kernel/map.hpp, which alone knows the registers.
template <class F>
struct user_code {
  static void apply(isa target, void* register_, float alpha, float beta);
};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// The function that stands for lambdas of type F. Its address is part of a kernel's key, so the compiler knows the
/// callee and inlines it: the type of the lambda passes through the type-erased graph without costing a call.
/// (An object, as g++ 12 takes no function pointer inside a class-type template argument.)
template <class F>
inline constexpr user_function user_map{&user_code<F>::apply};

}  // namespace ago
