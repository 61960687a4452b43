// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From protobuf to the importer's own model: shapes of inputs, initializers, attributes.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <vector>

#include "load.hpp"

namespace ago::onnx {

/// What `proto` says, shapes still missing but for inputs and initializers; only what outputs need. Takes the
/// initializers out of `proto` while it decodes them. Throws import_error if the graph does not hang together; what is
/// wrong with single inputs, initializers and nodes is added to `findings`.
model decode_model(::onnx::ModelProto& proto, std::filesystem::path const& folder, load_options const& options,
                   std::vector<finding>& findings);

}  // namespace ago::onnx
