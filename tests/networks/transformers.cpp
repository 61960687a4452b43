// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "answers.hpp"

#include <networks/bert_tiny.hpp>
#include <networks/mobilevit.hpp>

using namespace networks_test;

TEST_CASE("larger networks with attention give PyTorch's results") {
  agrees<networks::mobilevit_s<224>>("mobilevit_s", 224);  // images of 7x7 are resized
  agrees<networks::mobilevit_s<256>>("mobilevit_s", 256);
#ifdef AGO_TEST_FULL  // otherwise behind its embedding only
  agrees<networks::bert_tiny<128>>("bert_tiny", 128);
#endif
  agrees<networks::bert_tiny_ids<128>>("bert_tiny_ids", 128, word);
}
