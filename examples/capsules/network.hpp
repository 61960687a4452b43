// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A capsule network for the digits; train_capsules.py defines the same network in PyTorch.
#pragma once

#include "operators.hpp"

#include <ago/ago.hpp>
#include <ago/expressions.hpp>

namespace capsules {

// [routing]
/// Routing by agreement: the capsules vote for the poses of classes, and the logits of their weights grow where a vote
/// agrees with the pose.
constexpr auto class_capsules(int classes, int routings) {
  return [=](ago::tensor x) {
    ago::tensor const vote = votes(classes)(x);
    ago::tensor pose = squash(average(vote));
    ago::tensor logit;
    for (int routing = 1; routing < routings; ++routing) {
      ago::tensor const agreed = agreement(vote, pose);
      logit = routing == 1 ? agreed : logit + agreed;
      pose = squash(route(vote, logit));
    }
    return lengths(pose);
  };
}
// [/routing]

// [network]
inline constexpr auto network =
    ago::input{.h = 8, .w = 8, .c = 1} | ago::conv2d{.out = 32, .kernel = 3, .pad = 1, .bias = true} | ago::relu{} |
    poses | capsule_convolution(8, 3, 1) | squash | capsule_convolution(8, 3, 2) | squash | class_capsules(10, 3);
// [/network]

}  // namespace capsules
