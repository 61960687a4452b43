// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks from ONNX files.
#pragma once

#include "inspection.hpp"

#include "../import/model_words.hpp"

#include <ago/plan/options.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace ago::tools {

/// A model that cannot be imported; what() has a line for each finding.
struct not_imported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The inspections of a model in each of `ways`. Throws std::length_error, see inspect_recorded(), and `not_imported`,
/// which it always does if ago was built without its importer.
std::vector<inspection> inspect_model(importer::model_words const& model, std::vector<options> const& ways);

/// The header that ago-import would write for it, with the network `name`::network. Throws the same.
std::string header_of_model(importer::model_words const& model, std::string const& name);

}  // namespace ago::tools
