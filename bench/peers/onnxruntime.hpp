// ONNX Runtime as the npm package onnxruntime-node has it, in a process of its own; PyTorch writes its models.
#pragma once

#include "peer.hpp"

#include <optional>

namespace bench {

/// What it takes, found once for all networks.
struct onnxruntime {
  std::string packages;  ///< the folder that node_modules is in
  std::string python;    ///< has PyTorch and torchvision
  std::string version;
};

/// `folder`: where node_modules is; otherwise the environment says so by AGO_ONNXRUNTIME, or it is where scripts/setup
/// puts it. Throws `unsupported` that says what is missing.
onnxruntime find_onnxruntime(std::optional<std::string> const& folder);

/// A network of examples/networks, with its values' memory.
struct example_network {
  std::string name;
  int size;
  std::span<float const> parameters, input;  ///< as ago takes them
  std::span<float> output;
};

/// Throws std::runtime_error that says what went wrong.
std::unique_ptr<peer> load_onnxruntime(onnxruntime const& where, example_network const& what, int threads);

}  // namespace bench
