// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "answers.hpp"

#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

using namespace networks_test;

TEST_CASE("larger networks of convolutions give torchvision's results") {
  agrees<networks::mobilenet_v2<224>>("mobilenet_v2", 224);
  agrees<networks::mnasnet<56>>("mnasnet", 56);
  agrees<networks::mnasnet<224>>("mnasnet", 224);
  agrees<networks::shufflenet_v2<224>>("shufflenet_v2", 224);
  agrees<networks::squeezenet<224>>("squeezenet", 224);
}

TEST_CASE("a network of convolutions and attention gives PyTorch's results") {
  agrees<networks::mobilevit_s<64>>("mobilevit_s", 64);
}

#ifdef AGO_TEST_FULL  // smallest.cpp has another size, too
TEST_CASE("networks of convolutions of a middle size give torchvision's results") {
  agrees<networks::mnasnet<112>>("mnasnet", 112);
  agrees<networks::shufflenet_v2<112>>("shufflenet_v2", 112);
}
#endif
