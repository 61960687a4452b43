// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See large.cpp.
#pragma once

#include "subject.hpp"

namespace differential {

void add_large_networks(std::vector<subject>&);

}  // namespace differential
