// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user-defined elementwise operator, carried through the graph as a value.
#pragma once

#include <ago/ir/isa.hpp>

namespace ago::ir {

/// Applies a user's lambda in place to one SIMD register: `ago::simd::vec<target>`, which for `isa::scalar` is one
/// float. `alpha`, `beta`: the numbers of its layer, if the lambda takes them.
struct user_function {
  void (*apply)(isa target, void* register_, float alpha, float beta);
};

// Clang warns if the lambda is in an unnamed namespace and the translation unit neither compiles nor needs a kernel.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
/// Defined in simd/map.hpp, because only kernels know the registers.
template <class F>
struct user_code {
  static void apply(isa target, void* register_, float alpha, float beta);
};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// The function that represents lambdas of type F. Its address is part of a kernel's key, so the compiler knows the
/// callee and inlines it: the lambda's type passes through the type-erased graph without the cost of a call.
/// (It is an object because g++ 12 does not accept function pointers inside a class-type template argument.)
template <class F>
inline constexpr user_function user_map{&user_code<F>::apply};

}  // namespace ago::ir
