// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX Runtime as the npm package onnxruntime-node has it, in a process of its own. PyTorch writes the models of those
// networks that have none.
#pragma once

#include "peer.hpp"

#include <optional>

namespace bench {

struct onnxruntime {
  std::string packages;  ///< the folder that node_modules is in
  std::string version;
};

/// `folder`: where node_modules is; otherwise the environment says so by AGO_ONNXRUNTIME, or it is where scripts/setup
/// puts it. Throws `unsupported` that says what is missing.
onnxruntime find_onnxruntime(std::optional<std::string> const& folder);

/// A Python that has PyTorch and torchvision. Throws `unsupported` that says what is missing.
std::string find_exporter();

/// A network of examples/networks, with its values' memory.
struct example_network {
  std::string name;
  int size;
  std::span<float const> parameters, input;  ///< as ago takes them
  std::span<float> output;
};

/// A model in a file, with its values' memory, in the model's layout. Of several inputs or outputs, one lies behind the
/// other.
struct stored_model {
  std::string file;
  std::span<float const> input;
  std::span<float> output;
};

/// Both throw std::runtime_error that says what went wrong.
std::unique_ptr<peer> load_onnxruntime(onnxruntime const& where, std::string const& exporter,
                                       example_network const& what, int threads);
std::unique_ptr<peer> load_onnxruntime(onnxruntime const& where, stored_model const& what, int threads);

}  // namespace bench
