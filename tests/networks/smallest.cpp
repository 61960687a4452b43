// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks at their smallest size, also for programs that run in an emulator. (MnasNet has the layers of MobileNet-V2.)
#include "answers.hpp"

#include <networks/bert_tiny.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

using namespace networks_test;

TEST_CASE("networks of convolutions give torchvision's results") {
  agrees<networks::mobilenet_v2<56>>("mobilenet_v2", 56);
  agrees<networks::shufflenet_v2<56>>("shufflenet_v2", 56);
  agrees<networks::squeezenet<56>>("squeezenet", 56);
}

TEST_CASE("a network with attention gives PyTorch's results") { agrees<networks::bert_tiny<16>>("bert_tiny", 16); }
