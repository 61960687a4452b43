// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built-in networks of the inspector.
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
  std::string measure;  ///< the unit of its size: "pixels a side"
  int usual_size;
  std::string variable;     ///< that defines it: "networks::mobilenet_v2", a template of its size
  std::string_view header;  ///< the text of the header with this variable
  /// The graph for inputs of a given size; throws std::invalid_argument if its layers do not fit.
  std::function<std::unique_ptr<roomy_graph const>(int size)> trace;
};

std::vector<known_network> const& known_networks();

/// Null if there is no network of that name.
known_network const* find_network(std::string_view name);

}  // namespace ago::tools
