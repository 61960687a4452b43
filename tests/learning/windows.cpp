// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of an image that few windows of many weights read, as in capsules: products in the order of the weights,
// which a nest turns in scratch memory. Compared with the executor in double precision.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include "drawn/check.hpp"

namespace {

using namespace ago;

constexpr auto net = input{.h = 11, .w = 11, .c = 2} | pointwise{.out = 37} | relu{} |
                     conv2d{.out = 40, .kernel = 9, .stride = 2, .bias = true};
using net_trainer = trainer<net, mean_squared_error, sgd, training{.batch = 1}>;

}  // namespace

TEST_CASE("gradients of images that few windows of many weights read are turned in scratch memory of their own") {
  using program = net_trainer::program;
  int turning = 0;
  for (int i = 0; i < program::first_part(program::steps); ++i) {
    plan::planned_step const& p = program::plan.steps[i];
    turning += p.key.what == plan::structure::nest && kernel::scratch_floats(p.key, p.data) > 0;
  }
  CHECK(turning == (lanes(native_isa) > 1));
  CHECK(drawn::check<net_trainer>() == 0);
}
