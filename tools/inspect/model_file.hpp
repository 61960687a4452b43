// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks from ONNX files.
#pragma once

#include "inspection.hpp"

#include "../import/model_words.hpp"

#include <ago/plan/options.hpp>

#include <stdexcept>
#include <vector>

namespace ago::tools {

/// A model that cannot be imported; what() says why, a line for each thing that is wrong.
struct not_imported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What each of `ways` makes of a model. Throws `not_imported`, always where ago was built without its importer, and
/// std::length_error, see inspect_recorded().
std::vector<inspection> inspect_model(importer::model_words const& model, std::vector<options> const& ways);

}  // namespace ago::tools
