// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "subject.hpp"

#include "networks/squeezenet.hpp"

static bool const entered = bench::add_live_inference<networks::squeezenet<56>>("squeezenet 56");
