// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The activations of RNN, GRU and LSTM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expand.hpp"

namespace ago::onnx::expansion {

/// A name in lower case, and its numbers if the operator gives them.
struct activation {
  std::string name;
  std::optional<float> alpha, beta;
};

/// Those of all directions, one after another; `usual`: of one direction, if the operator names none. Throws a fault if
/// their number, or that of their numbers, is wrong.
std::vector<activation> activations_of(parts_of_operation const& p, std::vector<std::string> const& usual,
                                       std::size_t directions);

/// The activation of a value. Throws a fault if there is no such activation.
int apply(parts_of_operation& p, activation const& f, int x);

}  // namespace ago::onnx::expansion
