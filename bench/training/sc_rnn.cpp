// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recurrent.hpp"
#include "registry.hpp"

static constexpr auto sc_rnn = recurrent::rows | recurrent::sc_rnn(128, 40) | ago::linear{10};

static bool const entered[] = {
    bench::add_training<sc_rnn, 1>("sc_rnn"),
    bench::add_training<sc_rnn, 32>("sc_rnn"),
};
