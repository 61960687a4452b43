// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of checked calls, which take spans of run-time size.
#pragma once

#include <ago/requirements.hpp>

namespace ago::runtime {

/// Outcome of a checked call. If it is not `ok`, nothing was read or written.
enum class [[nodiscard]] status {
  ok,
  wrong_weight_count,
  wrong_input_size,
  wrong_output_size,
  no_weights,
  wrong_packed_weights,
  buffers_overlap
};

constexpr char const* name_of(status s) {
  switch (s) {
    case status::ok: return "ok";
    case status::wrong_weight_count: return "the number of weights is not the network's parameter_count";
    case status::wrong_input_size: return "an input does not have input_size floats";
    case status::wrong_output_size: return "an output does not have output_size floats";
    case status::no_weights: return "the model was constructed with the wrong weights";
    case status::wrong_packed_weights:
      return "the packed weights belong to another network, instruction set, schedule table or version of ago";
    case status::buffers_overlap:
      return "an output shares memory with an input, another output, the workspace or the model, or an input with the "
             "workspace";
  }
  return "?";
}

}  // namespace ago::runtime

namespace ago {
using runtime::name_of;
using runtime::status;
}  // namespace ago
