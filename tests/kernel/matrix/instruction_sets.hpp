// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction sets for which the tests compile kernels of matrix products.
#pragma once

#include <support/instruction_sets.hpp>

namespace matrix_test {

using ago::isa;

/// Calls f.operator()<I>() for every tested instruction set that is not emulated.
template <class F>
void on_every_machine(F f) {
  using enum isa;
  auto const call = [&]<isa I>() {
    if constexpr (test::is_tested(I)) f.template operator()<I>();
  };
  call.template operator()<scalar>();
  call.template operator()<sse2>();
  call.template operator()<sse42>();
  call.template operator()<avx2>();
  call.template operator()<avx512>();
  call.template operator()<neon>();
}

/// Also for the emulated ones, which take long to compile.
template <class F>
void on_every_isa(F f) {
  on_every_machine(f);
  if constexpr (test::is_tested(isa::emulated128)) f.template operator()<isa::emulated128>();
  if constexpr (test::is_tested(isa::emulated512)) f.template operator()<isa::emulated512>();
}

/// For those machines that have this turn; with sanitizers, for this machine if it is even.
template <long Turn, class F>
void on_machines_in_turn(F f) {
  on_every_machine([&]<isa I>() {
    if constexpr (test::is_sanitized ? Turn % 2 == 0 : test::has_share(I, Turn)) f.template operator()<I>();
  });
}
/// For those instruction sets that have this turn.
template <long Turn, class F>
void on_isas_in_turn(F f) {
  on_every_isa([&]<isa I>() {
    if constexpr (test::has_turn(I, Turn)) f.template operator()<I>();
  });
}

/// For instruction sets that have loops for cores that issue in order.
template <class F>
void on_every_in_order(F f) {
  if constexpr (test::is_tested(isa::neon)) f.template operator()<isa::neon>();
  if constexpr (test::is_tested(isa::emulated128)) f.template operator()<isa::emulated128>();
}

}  // namespace matrix_test
