// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole network for the instruction set that this is compiled for, on Arm for a core that issues out of order; see
// kernels.cpp.
#include <ago/ago.hpp>
#include <networks/mobilenet_v2.hpp>

#if defined(__aarch64__)
constexpr ago::options options{.device = ago::cortex_a76};
#else
constexpr ago::options options;
#endif

void run(ago::plan::run_memory const& memory) {
  ago::program<networks::mobilenet_v2<224>, ago::untuned, options>::run(memory);
}
