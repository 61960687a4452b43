// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "subject.hpp"

#include <train_sequence/network.hpp>

static bool const entered = bench::add_live_training<sequence::network, 32>("mi_lstm training");
