// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX Runtime from the npm package onnxruntime-node, in a process of its own. PyTorch writes the models of networks
// that have none.
#pragma once

#include "peer.hpp"

#include <optional>

namespace bench {

struct onnxruntime {
  std::string packages;  ///< the folder that contains node_modules
  std::string version;
};

/// `folder` contains node_modules; the default is the environment variable AGO_ONNXRUNTIME, or else the folder of
/// scripts/setup. Throws `unsupported` that says what is missing.
onnxruntime find_onnxruntime(std::optional<std::string> const& folder);

/// A Python that has PyTorch and torchvision. Throws `unsupported` that says what is missing.
std::string find_exporter();

/// A network of examples/networks, with the memory of its values.
struct example_network {
  std::string name;
  int size;
  std::span<float const> parameters, input;  ///< in ago's order and layout
  std::span<float> output;
};

/// A model in a file, with the memory of its values in the model's layout. Several inputs or outputs are concatenated.
struct stored_model {
  std::string file;
  std::span<float const> input;
  std::span<float> output;
};

/// Both throw std::runtime_error on failure.
std::unique_ptr<peer> load_onnxruntime(onnxruntime const& where, std::string const& exporter,
                                       example_network const& what, int threads);
std::unique_ptr<peer> load_onnxruntime(onnxruntime const& where, stored_model const& what, int threads);

}  // namespace bench
