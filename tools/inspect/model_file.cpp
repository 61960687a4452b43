// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model_file.hpp"

#include "recorded.hpp"

#include "../import/import_model.hpp"
#include "../support/diagnostic.hpp"

namespace ago::tools {
namespace {

/// Only the layers: no figure depends on weights.
importer::call_list layers_of(importer::model_words const& model) try {
  importer::call_list network = importer::import_model(model).network;
  for (importer::call& c : network.calls) c.weights = {};
  return network;
} catch (onnx::import_error const& e) {
  throw not_imported(model.file.string() + " cannot be imported:\n" + e.what());
}

}  // namespace

std::vector<inspection> inspect_model(importer::model_words const& model, std::vector<options> const& ways) {
  importer::call_list const network = layers_of(model);
  ago::detail::recorder made;
  importer::record(network, made);
  if (made.bad.what != fault::none) throw std::logic_error(sentence_of(made.bad));
  auto all = inspect_recorded(made, ways);
  for (inspection& i : all) i.network = model.file.filename().string();
  return all;
}

}  // namespace ago::tools
