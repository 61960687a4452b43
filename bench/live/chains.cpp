// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small network of which the tuner finds faster schedules on most machines.
#include "subject.hpp"

#include "tuner/networks.hpp"

static bool const entered = bench::add_live_inference<tune_test::chains>("chains");
