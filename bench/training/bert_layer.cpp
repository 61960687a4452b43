// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An encoder layer of BERT-base (Devlin et al., 2019: 768 channels, 12 heads) for 128 tokens.
#include "registry.hpp"

#include "networks/bert_tiny.hpp"

static constexpr auto bert_layer = ago::input{.w = 128, .c = 768} | networks::bert::encoder(12, 3072);

static bool const entered = bench::add_training<bert_layer, AGO_TRAINING_BATCH, ago::mean_squared_error>("bert_layer");
