// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The networks that the inspector knows by name.
#pragma once

#include "trace.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ago::tools {

struct known_network {
  std::string name;
  std::string measure;  ///< what its size counts: "pixels a side"
  int usual_size;
  /// Its graph for inputs of a size; throws std::invalid_argument where layers do not fit such inputs.
  std::function<std::unique_ptr<roomy_graph const>(int size)> trace;
};

std::vector<known_network> const& known_networks();

/// Null: there is none of that name.
known_network const* find_network(std::string_view name);

}  // namespace ago::tools
