// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "import_model.hpp"

#include "../onnx/load.hpp"
#include "../onnx/read_tensor.hpp"

namespace ago::importer {
namespace {

std::pair<std::string, std::string> pair_of(char const* option, char const* form, std::string const& text) {
  auto const at = text.rfind('=');
  if (at == std::string::npos) throw onnx::import_error(std::string(option) + " takes " + form + ", not " + text);
  return {text.substr(0, at), text.substr(at + 1)};
}

onnx::load_options load_options_of(model_words const& words) {
  onnx::load_options r;
  for (std::string const& d : words.dims) {
    auto const [name, size] = pair_of("--dim", "NAME=NUMBER", d);
    if (size.empty() || size.size() > 9 || size.find_first_not_of("0123456789") != std::string::npos)
      throw onnx::import_error("--dim takes NAME=NUMBER, not " + d);
    r.dims[name] = std::stoll(size);
  }
  for (std::string const& f : words.fixed) {
    auto const [name, file] = pair_of("--fix", "NAME=FILE", f);
    r.fixed[name] = onnx::read_tensor(file);
  }
  if (words.batch > 0) r.batch = words.batch;
  return r;
}

/// Unsupported operators are left for lower(), which also reports the faults of other nodes. If the model cannot be
/// loaded anyway, they are reported with the reason.
onnx::model load(model_words const& words) {
  onnx::load_options options = load_options_of(words);
  try {
    return onnx::load(words.file, options);
  } catch (onnx::import_error const&) {
    for (auto const& [type, rule] : rules()) options.operators.insert(type);
    return onnx::load(words.file, options);
  }
}

}  // namespace

lowered_model import_model(model_words const& words, bool trace) {
  return lower(load(words), {.trace = trace, .channels_last = words.channels_last});
}

}  // namespace ago::importer
