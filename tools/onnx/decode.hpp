// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From protobuf to the importer's own model: input shapes, initializers, attributes.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <vector>

#include "load.hpp"

namespace ago::onnx {

/// The graphs within nodes; the nodes' attributes are indices into them.
using subgraphs = std::vector<::onnx::GraphProto>;

/// Decodes what the outputs of `proto` need. Only inputs and initializers have shapes yet. Takes the initializers out
/// of `proto` while it decodes them. Throws import_error if the graph is inconsistent; faults of single inputs,
/// initializers and nodes are added to `findings`. Branches of an If go to `within`.
model decode_model(::onnx::ModelProto& proto, std::filesystem::path const& folder, load_options const& options,
                   std::vector<finding>& findings, subgraphs& within);

/// A branch of an If within the graph around it.
struct branch {
  std::vector<operation> operations;
  std::vector<int> outputs;
};

/// Decodes a branch of `op`, whose operands are what the branch reads from the enclosing graphs; adds its values to
/// `m`.
branch decode_branch(::onnx::GraphProto graph, operation const& op, model& m, std::filesystem::path const& folder,
                     std::vector<finding>& findings, subgraphs& within);

}  // namespace ago::onnx
