// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorial 4: the network with schedules found by a tuner, compared with the default ones.
// [program]
#include "ring.hpp"
#include "this_machine.hpp"  // written by the tuner

#include <cmath>
#include <cstdio>

using by_default = ago::model<tutorial::ring>;
using by_table = ago::model<tutorial::ring, tuned::this_machine>;
extern "C" float const ring_weights[by_default::parameter_count];

int main() {
  static by_default plain{ring_weights};
  static by_table fast{ring_weights};
  float const point[] = {.6f, .5f};
  float expected[1], result[1];
  plain(point, expected);
  fast(point, result);
  bool const equal = std::fabs(expected[0] - result[0]) <= 1e-5f * std::fabs(expected[0]);
  std::printf("%s\n", equal ? "the tuned network gives the same answer" : "the answers differ");
  return equal ? 0 : 1;
}
// [/program]
