// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models from elsewhere: whole networks load; operators get the recorded shapes and, if folded, the recorded values.
// Skipped if these files are missing.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "network.hpp"
#include "read_tensor.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ago::onnx;

fs::path reference() {
  char const* set = std::getenv("AGO_SHARED");
  return fs::path(set ? set : AGO_SHARED_DEFAULT) / "reference";
}

bool absent(fs::path const& folder) {
  if (fs::exists(folder)) return false;
  MESSAGE("skipped: no ", folder.string());
  return true;
}

std::vector<fs::path> models_below(fs::path const& folder) {
  std::vector<fs::path> found;
  for (auto const& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The names of inputs without initializers, in order, as read by protobuf.
std::vector<std::string> input_names(fs::path const& file) {
  ::onnx::ModelProto proto;
  std::ifstream stream(file, std::ios::binary);
  REQUIRE(proto.ParseFromIstream(&stream));
  std::set<std::string> initialized;
  for (auto const& t : proto.graph().initializer()) initialized.insert(t.name());
  std::vector<std::string> names;
  for (auto const& v : proto.graph().input()) {
    if (!initialized.count(v.name())) names.push_back(v.name());
  }
  return names;
}

std::int64_t opset_of(fs::path const& file) {
  ::onnx::ModelProto proto;
  std::ifstream stream(file, std::ios::binary);
  REQUIRE(proto.ParseFromIstream(&stream));
  for (auto const& set : proto.opset_import()) {
    if (set.domain().empty()) return set.version();
  }
  return 0;
}

bool close(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-5f + 1e-5f * std::fabs(b);
}

/// Loads with the recorded inputs as constants; compares shapes, and values where they are known.
/// Returns how many outputs were known.
int compare(fs::path const& file) {
  fs::path const data = file.parent_path() / "test_data_set_0";
  load_options options;
  auto const names = input_names(file);
  for (std::size_t i = 0; i < names.size(); ++i) {
    fs::path const input = data / ("input_" + std::to_string(i) + ".pb");
    if (fs::exists(input)) options.fixed[names[i]] = read_tensor(input);
  }
  model const m = load(file, options);
  int known = 0;
  for (std::size_t i = 0; i < m.outputs.size(); ++i) {
    fs::path const path = data / ("output_" + std::to_string(i) + ".pb");
    if (!fs::exists(path)) continue;
    constant const expected = read_tensor(path);
    value const& v = m.values[static_cast<std::size_t>(m.outputs[i])];
    CHECK(v.dims == expected.dims);
    CHECK(v.type == expected.type);
    if (!v.known) continue;
    ++known;
    CHECK(v.known->integers == expected.integers);
    CHECK(
        std::equal(v.known->reals.begin(), v.known->reals.end(), expected.reals.begin(), expected.reals.end(), close));
  }
  return known;
}

}  // namespace

TEST_CASE("whole networks load, with nothing left to fold") {
  if (absent(reference())) return;
  for (fs::path const& file : models_below(reference() / "models")) {
    CAPTURE(file.string());
    model const m = load(file, {.dims = {}, .batch = 1});
    CHECK(!m.operations.empty());
    for (operation const& op : m.operations) {
      CHECK(op.type != "Shape");
      CHECK(op.type != "Constant");
      CHECK(op.type != "ConstantOfShape");
      CHECK(op.type != "Dropout");
    }
    // The recorded outputs have the inferred shapes.
    fs::path const data = file.parent_path() / "test_data_set_0";
    for (std::size_t i = 0; i < m.outputs.size() && file.filename() == "model.onnx"; ++i) {
      fs::path const path = data / ("output_" + std::to_string(i) + ".pb");
      if (fs::exists(path)) CHECK(ago_test::output(m, i).dims == read_tensor(path).dims);
    }
  }
}

TEST_CASE("operators have the recorded shapes and, if folded, the recorded values") {
  if (absent(reference())) return;
  int files = 0, known = 0;
  for (char const* folder : {"onnx_node_tests", "peer_op_tests"}) {
    for (fs::path const& file : models_below(reference() / folder)) {
      if (opset_of(file) < oldest_opset || file.string().find("gradient") != std::string::npos) continue;
      CAPTURE(file.string());
      ++files;
      try {
        known += compare(file);
      } catch (import_error const& e) { FAIL_CHECK(e.what()); }
    }
  }
  MESSAGE(files, " files, ", known, " folded outputs");
  CHECK(known > 100);
}
