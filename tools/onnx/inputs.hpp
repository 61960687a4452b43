// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of a network's inputs, with symbolic dimensions set.
#pragma once

#include <onnx/onnx_pb.h>

#include <set>
#include <string>
#include <vector>

#include "load.hpp"

namespace ago::onnx {

class input_shapes {
 public:
  /// `inputs`: those that are not fixed.
  input_shapes(load_options const& options, std::vector<::onnx::ValueInfoProto const*> const& inputs);

  /// The input as a value. Adds missing or unsupported information to `findings`.
  value read(::onnx::ValueInfoProto const& input, std::vector<finding>& findings);

  /// Which dimensions the batch size was used for.
  std::vector<std::string> const& notes() const { return notes_; }

  /// Adds a finding for every given size of a dimension that no input has.
  void check_all_used(std::vector<finding>& findings) const;

 private:
  std::optional<std::int64_t> size(std::string const& input, int axis, std::string const& symbol);

  load_options const& options_;
  std::set<std::string> used_, batch_symbols_;
  std::vector<std::string> notes_;
};

}  // namespace ago::onnx
