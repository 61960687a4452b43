// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole network for the instruction set that this is compiled for; see kernels.cpp.
#include <ago/ago.hpp>
#include <networks/mobilenet_v2.hpp>

void run(ago::run_memory const& memory) { ago::program<networks::mobilenet_v2<224>>::run(memory); }
