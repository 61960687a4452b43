// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recurrent.hpp"
#include "registry.hpp"

static constexpr auto sub_lstm = recurrent::rows | recurrent::sub_lstm(128) | ago::linear{10};

static bool const entered[] = {
    bench::add_training<sub_lstm, 1>("sub_lstm"),
    bench::add_training<sub_lstm, 32>("sub_lstm"),
};
