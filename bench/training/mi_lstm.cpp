// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recurrent.hpp"
#include "registry.hpp"

#include <train_sequence/network.hpp>

static constexpr auto mi_lstm = recurrent::rows | sequence::mi_lstm(128) | ago::linear{10};

static bool const entered[] = {
    bench::add_training<mi_lstm, 1>("mi_lstm"),
    bench::add_training<mi_lstm, 32>("mi_lstm"),
};
