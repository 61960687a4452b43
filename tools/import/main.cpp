// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ago-import: converts an ONNX model to a network of ago's layers, and its weights.
#include "import_model.hpp"
#include "names.hpp"
#include "write_header.hpp"

#include "../support/output_file.hpp"
#include "../support/printable.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using namespace ago;

struct options {
  importer::model_words model;
  fs::path folder = ".";
  std::string name;
  bool trace = false;
};

/// Writes both files or none.
void write_files(options const& o, std::string const& header, std::vector<float> const& weights) {
  fs::create_directories(o.folder);
  auto const write_weights = [&](std::ostream& out) {
    out.write(reinterpret_cast<char const*>(weights.data()), std::streamsize(weights.size() * sizeof(float)));
  };
  auto const write_header = [&](std::ostream& out) { out << header; };
  tools::write_files({{o.folder / (o.name + ".weights"), write_weights}, {o.folder / (o.name + ".hpp"), write_header}});
}

/// Refuses a bad name given by the user; replaces one that comes from the file name.
void choose_name(options& o) {
  bool const asked_for = !o.name.empty();
  o.name = importer::identifier(asked_for ? o.name : o.model.file.stem().string());
  char const* const owner = importer::owner_of(o.name);
  if (!owner) return;
  std::string const other = importer::free_name(o.name);
  std::string const taken = "the name \"" + o.name + "\" belongs to " + owner;
  if (asked_for)
    throw std::runtime_error(taken + ", so no namespace can use it; try --name " + other + " (in ago_import: NAME " +
                             other + ")");
  std::cerr << "ago-import: " << taken << "; the network is named " << other << " (--name sets another name)\n";
  o.name = other;
}

void import(options const& o) {
  importer::lowered_model const lowered = importer::import_model(o.model, o.trace);
  for (std::string const& note : lowered.notes) std::cerr << "ago-import: " << note << '\n';
  importer::program_text const text = importer::written_text(lowered);
  std::ostringstream header;
  importer::write_header(header, text, {o.name, o.model.file.filename().string(), lowered.inputs, lowered.outputs});
  write_files(o, header.str(), text.weights);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app{"Converts an ONNX model to a network of ago's layers: NAME.hpp and NAME.weights."};
  app.add_option("model", o.model.file, "the ONNX file")->required();
  app.add_option("--name", o.name, "name of the files and the namespace (default: from the model's file name)");
  app.add_option("--out", o.folder, "folder for the files")->capture_default_str();
  app.add_option("--dim", o.model.dims, "NAME=NUMBER: the size of a symbolic dimension");
  app.add_option("--fix", o.model.fixed, "NAME=FILE: the value of a constant input, a tensor in .pb or .npy");
  app.add_option("--batch", o.model.batch, "size of the first dimensions that the model leaves open")
      ->check(CLI::PositiveNumber);
  app.add_flag("--channels-last", o.model.channels_last,
               "image inputs and outputs are [n, h, w, c] in memory, not [n, c, h, w] as in ONNX");
  app.add_flag("--trace", o.trace, "make all intermediate values outputs");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) { return app.exit(e) == 0 ? 0 : 2; }
  try {
    choose_name(o);
    import(o);
  } catch (onnx::import_error const& e) {
    std::cerr << "ago-import: " << tools::printable(o.model.file.string()) << " cannot be imported:\n"
              << tools::printable_lines(e.what()) << '\n';
    return 2;
  } catch (std::bad_alloc const&) {
    std::cerr << "ago-import: there is not enough memory for " << tools::printable(o.model.file.string()) << '\n';
    return 2;
  } catch (std::exception const& e) {
    std::cerr << "ago-import: " << tools::printable_lines(e.what()) << '\n';
    return 2;
  }
}
