// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../registry.hpp"

#include <networks/bert_tiny.hpp>

static bool const entered[] = {
    bench::add_gains<networks::bert_tiny<128>>("bert_tiny", 128),
};
