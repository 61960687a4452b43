// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model_file.hpp"

#include "recorded.hpp"

#include "../import/import_model.hpp"
#include "../import/write_header.hpp"
#include "../support/diagnostic.hpp"

#include <sstream>

namespace ago::tools {
namespace {

importer::lowered_model lowered(importer::model_words const& model) try {
  return importer::import_model(model);
} catch (onnx::import_error const& e) { throw not_imported(model.file.string() + " cannot be imported:\n" + e.what()); }

}  // namespace

std::vector<inspection> inspect_model(importer::model_words const& model, std::vector<options> const& ways) {
  importer::lowered_model from = lowered(model);
  for (importer::call& c : from.network.calls) c.weights = {};    // no figure depends on them
  std::vector<std::string> const names(from.inputs.size(), "x");  // nothing is written
  importer::call_list const network = in_order_of(structured(from.network, names), from.network);
  ago::tracing::recorder made;
  importer::record(network, made);
  if (made.bad.what != ir::fault::none) throw std::logic_error(text_of(made.bad));
  auto all = inspect_recorded(made, ways);
  for (inspection& i : all) i.network = model.file.filename().string();
  return all;
}

std::string header_of_model(importer::model_words const& model, std::string const& name) {
  importer::lowered_model const from = lowered(model);
  std::ostringstream text;
  importer::write_header(text, importer::written_text(from),
                         {name, model.file.filename().string(), from.inputs, from.outputs});
  return std::move(text).str();
}

}  // namespace ago::tools
