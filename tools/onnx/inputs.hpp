// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of a network's inputs, symbolic dimensions set.
#pragma once

#include <onnx/onnx_pb.h>

#include <set>
#include <string>
#include <vector>

#include "load.hpp"

namespace ago::onnx {

class input_shapes {
 public:
  explicit input_shapes(load_options const& options) : options_(options) {}

  /// The input as a value. Adds what is missing or not supported to `findings`.
  value read(::onnx::ValueInfoProto const& input, std::vector<finding>& findings);

  /// Adds a finding for every size that was given for a dimension that no input has.
  void check_all_used(std::vector<finding>& findings) const;

 private:
  std::optional<std::int64_t> size(std::string const& input, int axis, std::string const& symbol);

  load_options const& options_;
  std::set<std::string> used_;
};

}  // namespace ago::onnx
