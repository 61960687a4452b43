// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares imported networks with stored outputs.
#include "subject.hpp"

#include "../onnx/error.hpp"
#include "../onnx/read_tensor.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace ago::importer {

namespace {

namespace fs = std::filesystem;

struct tolerance {
  bool same_place = false;  ///< require the same place of the largest element
  double absolute = 0, of_largest = 1e-4, relative = 1e-3;
};

/// One run: a network, its weights, its inputs and the expected outputs.
struct test_case {
  std::string name;
  fs::path weights;
  std::vector<fs::path> inputs, outputs;
};

struct alignas(64) line {
  float of[16];
};

std::vector<float> floats_of(fs::path const& file) {
  onnx::constant const k = onnx::read_tensor(file);
  if (k.type == onnx::element::real) return k.reals;
  return {k.integers.begin(), k.integers.end()};
}

std::vector<float> read_weights(fs::path const& file, std::size_t count) {
  std::ifstream in(file, std::ios::binary);
  std::vector<float> r(count);
  in.read(reinterpret_cast<char*>(r.data()), std::streamsize(count * sizeof(float)));
  if (!in || in.peek() != std::ifstream::traits_type::eof())
    throw onnx::import_error(file.string() + " does not hold " + std::to_string(count) + " floats");
  return r;
}

/// input_0.pb, input_1.pb, ... of a folder, or .npy.
std::vector<fs::path> numbered(fs::path const& folder, std::string const& stem) {
  std::vector<fs::path> r;
  for (int i = 0;; ++i) {
    fs::path const name = folder / (stem + "_" + std::to_string(i));
    fs::path const pb = name.string() + ".pb", npy = name.string() + ".npy";
    if (fs::exists(pb)) r.push_back(pb);
    else if (fs::exists(npy)) r.push_back(npy);
    else return r;
  }
}

bool equal_or_close(double y, double reference, double bound) {
  if (std::isnan(reference)) return std::isnan(y);
  if (std::isinf(reference)) return y == reference;
  return std::fabs(y - reference) <= bound;
}

double largest_of(std::vector<float> const& values) {
  double r = 0;
  for (float v : values)
    if (std::isfinite(v)) r = std::max(r, std::fabs(double(v)));
  return r;
}

/// Prints a line about an output; returns whether it agrees. `largest`: of all outputs.
bool report(std::string const& name, int k, std::vector<float> const& y, std::vector<float> const& reference,
            double largest, tolerance const& t) {
  double difference = 0;
  bool good = y.size() == reference.size();
  for (std::size_t i = 0; i < std::min(y.size(), reference.size()); ++i) {
    double const r = reference[i];
    good = equal_or_close(y[i], r, t.absolute + t.of_largest * largest + t.relative * std::fabs(r)) && good;
    if (std::isfinite(r)) difference = std::max(difference, std::fabs(double(y[i]) - r));
  }
  auto const place = [](std::vector<float> const& v) { return std::max_element(v.begin(), v.end()) - v.begin(); };
  bool const same_place = !reference.empty() && y.size() == reference.size() && place(y) == place(reference);
  good = good && (same_place || !t.same_place);
  std::printf("%-8s %s, output %d: largest difference %.2e, %.1e of the largest; largest element %s\n",
              good ? "agrees" : "DIFFERS", name.c_str(), k, difference, largest > 0 ? difference / largest : 0.,
              same_place ? "the same" : "another");
  return good;
}

bool run_case(runtime::any_program const& p, test_case const& c, tolerance const& t) {
  auto const weights = read_weights(c.weights, p.parameter_count);
  if (c.inputs.size() != p.inputs.size() || c.outputs.empty() || c.outputs.size() > p.outputs.size())
    throw onnx::import_error(c.name + ": " + std::to_string(c.inputs.size()) + " inputs and " +
                             std::to_string(c.outputs.size()) + " outputs are stored, the network has " +
                             std::to_string(p.inputs.size()) + " and " + std::to_string(p.outputs.size()));
  std::vector<line> packed(p.packed_floats / 16 + 1), arena(p.arena_floats / 16 + 1);
  p.pack(weights.data(), packed[0].of);
  std::vector<std::vector<float>> in, out;
  std::vector<float const*> in_data;
  std::vector<float*> out_data;
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    in.push_back(floats_of(c.inputs[i]));
    if (in.back().size() != p.inputs[i]) throw onnx::import_error(c.inputs[i].string() + " has the wrong size");
  }
  for (std::size_t const floats : p.outputs) out.emplace_back(floats);
  for (auto const& v : in) in_data.push_back(v.data());
  for (auto& v : out) out_data.push_back(v.data());
  p.run({packed[0].of, arena[0].of, in_data.data(), out_data.data()});
  std::vector<std::vector<float>> references;
  double largest = 0;
  for (fs::path const& file : c.outputs) {
    references.push_back(floats_of(file));
    largest = std::max(largest, largest_of(references.back()));
  }
  bool good = true;
  for (std::size_t i = 0; i < references.size(); ++i)
    good = report(c.name, int(i), out[i], references[i], largest, t) && good;
  return good;
}

/// name, weights, inputs and outputs, separated by tabs; several files are separated by semicolons.
std::vector<test_case> read_cases(fs::path const& file) {
  std::ifstream in(file);
  if (!in) throw onnx::import_error("cannot read " + file.string());
  auto const list = [](std::string const& text) {
    std::vector<fs::path> r;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ';');) r.push_back(part);
    return r;
  };
  std::vector<test_case> r;
  for (std::string line; std::getline(in, line);) {
    std::istringstream columns(line);
    std::string name, weights, inputs, outputs;
    std::getline(columns, name, '\t'), std::getline(columns, weights, '\t');
    std::getline(columns, inputs, '\t'), std::getline(columns, outputs, '\t');
    r.push_back({name, weights, list(inputs), list(outputs)});
  }
  return r;
}

}  // namespace

int compare(subject const* subjects, int count, int argc, char** argv) {
  tolerance t;
  std::string weights, cases;
  std::vector<std::string> folders;
  CLI::App app{"Compares networks with stored outputs."};
  app.add_option("--weights", weights, "the weights of the network");
  app.add_option("--data", folders, "folders with input_0.pb, output_0.pb, ..., or .npy");
  app.add_option("--cases", cases, "file of cases: name, weights, inputs and outputs, separated by tabs");
  app.add_option("--absolute", t.absolute, "tolerance")->capture_default_str();
  app.add_option("--of-largest", t.of_largest, "tolerance, times the largest element of all outputs")
      ->capture_default_str();
  app.add_option("--relative", t.relative, "tolerance, times each element")->capture_default_str();
  app.add_flag("--same-place", t.same_place, "the largest element must have the expected place, as for classifiers");
  CLI11_PARSE(app, argc, argv);
  int failures = 0;
  try {
    std::vector<test_case> all;
    if (!cases.empty()) all = read_cases(cases);
    for (std::string const& f : folders)
      all.push_back({subjects[0].name, weights, numbered(f, "input"), numbered(f, "output")});
    if (all.empty()) throw onnx::import_error("nothing to compare: --data or --cases is missing");
    for (test_case const& c : all) {
      auto const s = std::find_if(subjects, subjects + count, [&](subject const& x) { return x.name == c.name; });
      if (s == subjects + count) throw onnx::import_error("no network is called " + c.name);
      failures += !run_case(s->code, c, t);
    }
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace ago::importer
