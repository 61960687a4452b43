// ago-import: writes an ONNX model as a network of ago's layers, and its weights.
#include "lowering.hpp"
#include "write_header.hpp"

#include "../onnx/load.hpp"
#include "../onnx/read_tensor.hpp"
#include "../support/output_file.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>

namespace {

namespace fs = std::filesystem;
using namespace ago;

struct options {
  fs::path model, folder = ".";
  std::string name;
  std::vector<std::string> dims, fixed;
  std::int64_t batch = 0;
  bool trace = false;
};

std::pair<std::string, std::string> pair_of(char const* option, char const* form, std::string const& text) {
  auto const at = text.rfind('=');
  if (at == std::string::npos) throw onnx::import_error(std::string(option) + " takes " + form + ", not " + text);
  return {text.substr(0, at), text.substr(at + 1)};
}

onnx::load_options load_options_of(options const& o) {
  onnx::load_options r;
  for (std::string const& d : o.dims) {
    auto const [name, size] = pair_of("--dim", "NAME=NUMBER", d);
    if (size.empty() || size.size() > 9 || size.find_first_not_of("0123456789") != std::string::npos)
      throw onnx::import_error("--dim takes NAME=NUMBER, not " + d);
    r.dims[name] = std::stoll(size);
  }
  for (std::string const& f : o.fixed) {
    auto const [name, file] = pair_of("--fix", "NAME=FILE", f);
    r.fixed[name] = onnx::read_tensor(file);
  }
  if (o.batch > 0) r.batch = o.batch;
  for (auto const& [type, rule] : importer::rules()) r.operators.insert(type);
  return r;
}

/// Both files or none.
void write_files(options const& o, importer::program_text const& text, importer::header_of const& about) {
  fs::create_directories(o.folder);
  auto const write_weights = [&](std::ostream& out) {
    out.write(reinterpret_cast<char const*>(text.weights.data()), std::streamsize(text.weights.size() * sizeof(float)));
  };
  auto const write_header = [&](std::ostream& out) { importer::write_header(out, text, about); };
  tools::write_files({{o.folder / (o.name + ".weights"), write_weights}, {o.folder / (o.name + ".hpp"), write_header}});
}

void import(options const& o) {
  onnx::model const model = onnx::load(o.model, load_options_of(o));
  importer::lowered_model const lowered = importer::lower(model, {.trace = o.trace});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lowered.inputs.size(); ++i)
    names.push_back(lowered.inputs.size() == 1 ? "x" : "in" + std::to_string(i + 1));
  importer::program_text text = importer::structured(lowered.network, names);
  importer::factor(text);
  write_files(o, text, {o.name, o.model.filename().string(), lowered.inputs, lowered.outputs});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app{"Writes an ONNX model as a network of ago's layers: NAME.hpp, and NAME.weights."};
  app.add_option("model", o.model, "the ONNX file")->required();
  app.add_option("--name", o.name, "of the files and of the namespace; the file's own if not given");
  app.add_option("--out", o.folder, "folder for the files")->capture_default_str();
  app.add_option("--dim", o.dims, "NAME=NUMBER: the size of a symbolic dimension");
  app.add_option("--fix", o.fixed, "NAME=FILE: an input that is known now; a tensor in .pb or .npy");
  app.add_option("--batch", o.batch, "size of first dimensions without a number");
  app.add_flag("--trace", o.trace, "all intermediate values become outputs too");
  CLI11_PARSE(app, argc, argv);
  if (o.name.empty()) o.name = o.model.stem().string();
  o.name = importer::identifier(o.name);
  try {
    import(o);
  } catch (onnx::import_error const& e) {
    std::cerr << "ago-import: " << o.model.string() << " cannot be imported:\n" << e.what() << '\n';
    return 2;
  } catch (std::exception const& e) {
    std::cerr << "ago-import: " << e.what() << '\n';
    return 2;
  }
}
