// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorial 2: prints the table of parameters by which tools/weights.py sorts those of PyTorch.
#include "ring.hpp"

#include <ago/network/write_parameters.hpp>

#include <iostream>

// [main]
int main() { ago::write_parameters<tutorial::ring>(std::cout, "ring"); }
// [/main]
