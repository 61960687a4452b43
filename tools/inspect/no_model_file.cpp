// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces model_file.cpp if the importer is not built.
#include "model_file.hpp"

namespace ago::tools {
namespace {

[[noreturn]] void refuse(importer::model_words const& model) {
  throw not_imported(model.file.string() + " cannot be imported: this ago-inspect was built without ONNX's protobuf " +
                     "definition (scripts/setup --with tools installs it)");
}

}  // namespace

std::vector<inspection> inspect_model(importer::model_words const& model, std::vector<options> const&) {
  refuse(model);
}

std::string header_of_model(importer::model_words const& model, std::string const&) { refuse(model); }

}  // namespace ago::tools
