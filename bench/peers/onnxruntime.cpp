// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "onnxruntime.hpp"

#include "../child_process.hpp"
#include "../temporary_folder.hpp"

#include <cstdlib>
#include <fstream>

namespace bench {
namespace {

constexpr std::chrono::seconds patience(300);

std::string script(char const* name) { return std::string(AGO_BENCH_PEERS_FOLDER) + '/' + name; }

void read(std::string const& file, std::span<float> floats) {
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(floats.data()), std::streamsize(floats.size_bytes()));
  if (!in || in.peek() != std::ifstream::traits_type::eof())
    throw std::runtime_error(file + " does not have " + std::to_string(floats.size()) + " floats");
}

std::string write_model(std::string const& exporter, example_network const& what, temporary_folder const& folder) {
  std::string const parameters = folder.file("parameters"), model = folder.file("model.onnx");
  write_floats(parameters, what.parameters);
  ending const end = run_program_to_end(
      {exporter, "-B", script("export_onnx.py"), what.name, std::to_string(what.size), parameters, model}, patience);
  if (end.status != 0) throw std::runtime_error("PyTorch could not write " + what.name + " as ONNX: " + end.said);
  return model;
}

std::string write_input(std::span<float const> floats, temporary_folder const& folder) {
  write_floats(folder.file("input"), floats);
  return folder.file("input");
}

class onnxruntime_peer final : public peer {
 public:
  onnxruntime_peer(onnxruntime const& where, std::string const& exporter, example_network const& what, int threads)
      : output_{what.output},
        child_{{"node", script("onnxruntime.mjs"), where.packages, write_model(exporter, what, folder_),
                write_input(what.input, folder_), std::to_string(threads), "nhwc"}} {
    infer();
  }
  onnxruntime_peer(onnxruntime const& where, stored_model const& what, int threads)
      : output_{what.output}, child_{{"node", script("onnxruntime.mjs"), where.packages, what.file,
                                      write_input(what.input, folder_), std::to_string(threads), "nchw"}} {
    infer();
  }

  void run() override {
    infer();
    std::string const file = folder_.file("output");
    child_.ask("output " + file);
    read(file, output_);
  }
  std::function<double()> clock() override {
    return [this] { return infer(); };
  }

 private:
  double infer() { return std::stod(child_.ask("run")) * 1e-9; }

  temporary_folder folder_;
  std::span<float> output_;
  child_process child_;
};

/// How a program ended, or that it could not be started.
ending try_program(std::vector<std::string> const& words) try {
  return run_program_to_end(words, patience);
} catch (not_started const& why) { return {127, why.what()}; }

}  // namespace

onnxruntime find_onnxruntime(std::optional<std::string> const& folder) {
  char const* const variable = std::getenv("AGO_ONNXRUNTIME");
  std::string const packages = folder.value_or(variable ? variable : AGO_BENCH_PACKAGES_FOLDER);
  ending const package = try_program({"node", script("onnxruntime.mjs"), packages});
  if (package.status != 0) throw unsupported(package.said + " (scripts/setup --with peers installs it)");
  return {packages, package.said};
}

std::string find_exporter() {
  std::string why;
  for (char const* python : {"python3", "/usr/bin/python3"}) {
    ending const end = try_program({python, "-B", script("export_onnx.py"), "--check"});
    if (end.status == 0) return python;
    why = python + (": " + end.said);
  }
  throw unsupported("its models cannot be written, " + why + " (scripts/setup --with peers installs it)");
}

std::unique_ptr<peer> load_onnxruntime(onnxruntime const& where, std::string const& exporter,
                                       example_network const& what, int threads) {
  return std::make_unique<onnxruntime_peer>(where, exporter, what, threads);
}
std::unique_ptr<peer> load_onnxruntime(onnxruntime const& where, stored_model const& what, int threads) {
  return std::make_unique<onnxruntime_peer>(where, what, threads);
}

}  // namespace bench
