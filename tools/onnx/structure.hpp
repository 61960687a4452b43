// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the nodes of a graph are connected, by names only: nothing is decoded yet.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "error.hpp"

namespace ago::onnx {

struct structure {
  std::vector<std::string> names;                           ///< of the values; first those of the enclosing graphs
  std::vector<::onnx::TensorProto*> initializers;           ///< per value, or null
  std::vector<int> inputs, outputs;                         ///< values; inputs without initialized ones
  std::vector<::onnx::ValueInfoProto const*> declared;      ///< per input
  std::vector<int> order;                                   ///< nodes that outputs need, operands first
  std::vector<std::vector<int>> node_inputs, node_outputs;  ///< per node; -1: omitted
  std::vector<bool> needed;                                 ///< per value
};

/// The node's name, or "#12" by its position.
std::string name_of(::onnx::GraphProto const& graph, int node);

/// The names that a nested graph reads from the enclosing graphs, in the order of reading.
std::vector<std::string> captures_of(::onnx::GraphProto const& graph);

/// Checks that every name is defined once, that what is read is defined, and that there are no cycles. Adds faults to
/// `findings`; the result is only meaningful if there are none. What the branches of an If read become inputs of the
/// If, after its condition. `around`: names that enclosing graphs define.
structure structure_of(::onnx::GraphProto& graph, std::vector<finding>& findings,
                       std::vector<std::string> const& around = {});

}  // namespace ago::onnx
