// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes give a header and its weights, or error sentences. Built with libFuzzer and sanitizers.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../../tools/import/builder.hpp"
#include "../../tools/import/lowering.hpp"
#include "../../tools/import/write_header.hpp"
#include "load.hpp"

namespace {

namespace importer = ago::importer;
namespace onnx = ago::onnx;

void expect(bool holds) {
  if (!holds) std::abort();
}

/// Checks that ago traces the network again, with as many parameters as there are weights.
void expect_sound(importer::call_list const& network, std::size_t weights) {
  ago::tracing::recorder to;
  importer::record(network, to);
  expect(to.bad.what == ago::ir::fault::none);
  expect(to.floats == static_cast<long>(weights));
}

/// Checks that no name ends its comment: only the importer ends lines, and no line end is hidden by a backslash.
void expect_sound(std::string const& header) {
  for (char const c : header) expect(c == '\n' || (c >= ' ' && c <= '~' && c != '\\'));
  expect(header.ends_with("}  // namespace fuzzed\n"));
}

void import(std::string_view bytes) {
  static onnx::load_options const loading{.batch = 2, .largest_constant = 1 << 12, .all_constants = 1 << 14};
  onnx::model const model = onnx::load_bytes(bytes, "", loading);
  importer::lowered_model const lowered =
      importer::lower(model, {.trace = bytes.size() % 4 == 0, .most_weights = 1 << 18});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lowered.inputs.size(); ++i) names.push_back("in" + std::to_string(i + 1));
  importer::program_text text = importer::structured(lowered.network, names);
  importer::factor(text);
  std::ostringstream header;
  importer::write_header(header, text, {"fuzzed", model.name, lowered.inputs, lowered.outputs});
  expect_sound(lowered.network, text.weights.size());
  expect_sound(header.str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    import({reinterpret_cast<char const*>(data), size});
  } catch (onnx::import_error const& e) { expect(e.what()[0] != '\0' && !e.findings().empty()); }
  return 0;
}
