// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The machine and compiler of a measurement.
#pragma once

#include "processor.hpp"

#include <ago/ir/isa.hpp>
#include <ago/tuner/claim_core.hpp>

#include <cstdio>
#include <optional>
#include <string>

namespace bench {

/// Prints processor, compiler and instruction set to standard error; claims `core` if one is given.
inline void print_circumstances(std::optional<int> core) {
  std::string cpu = cpuinfo("model name");
  if (cpu.empty()) cpu = "unknown processor";
#if defined(__clang__)
  char const* const compiler = __VERSION__;
#else
  char const* const compiler = "g++ " __VERSION__;
#endif
  std::fprintf(stderr, "%s, compiled by %s for %s\n", cpu.c_str(), compiler, name_of(ago::native_isa));
#if !defined(__OPTIMIZE__)
  std::fprintf(stderr, "compiled without optimisation: the times are meaningless\n");
#endif
  if (core) std::fprintf(stderr, "%s\n", ago::tuner::claim_core(*core).c_str());
}

}  // namespace bench
