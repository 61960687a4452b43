// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of training steps.
#pragma once

#include <ago/graph/requirements.hpp>

namespace ago {

/// Outcome of a step. If it is not `ok`, parameters and states are as before.
enum class training_status {
  ok,
  label_out_of_range,
  loss_is_not_finite,
  gradient_is_not_finite,
};

constexpr char const* name_of(training_status s) {
  switch (s) {
    case training_status::ok: return "ok";
    case training_status::label_out_of_range: return "a label is not the number of a class";
    case training_status::loss_is_not_finite: return "the loss is infinite or not a number";
    case training_status::gradient_is_not_finite: return "a gradient is infinite or not a number";
  }
  return "?";
}

}  // namespace ago
