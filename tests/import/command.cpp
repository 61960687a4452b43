// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program ago-import: its output files, and that it writes nothing on errors.
#include "onnx/network.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;
using ago_test::floats;

namespace {

/// A temporary folder, removed on destruction.
struct folder {
  fs::path path = fs::temp_directory_path() / ("ago_import_" + std::to_string(std::rand()));
  folder() { fs::create_directories(path); }
  ~folder() { fs::remove_all(path); }
};

std::string text_of(fs::path const& file) {
  std::ostringstream r;
  r << std::ifstream(file).rdbuf();
  return r.str();
}

int import(folder const& in, std::string const& bytes, std::string const& more = "", std::string const& out = "out") {
  std::ofstream(in.path / "model.onnx", std::ios::binary) << bytes;
  std::string const command = std::string(AGO_IMPORT) + " " + (in.path / "model.onnx").string() + " --out " +
                              (in.path / out).string() + " " + more + " 2> " + (in.path / "errors").string();
  int const status = std::system(command.c_str());
  return status < 0 || status % 256 != 0 ? -1 : status / 256;
}
int import(folder const& in, ago_test::network const& net, std::string const& more = "") {
  return import(in, net.bytes(), more);
}

/// Checks for exit code 2, a sentence, and no files.
void check_refused(folder const& in, int status, std::string const& part) {
  std::string const errors = text_of(in.path / "errors");
  CAPTURE(errors);
  CHECK(status == 2);
  CHECK(errors.rfind("ago-import: ", 0) == 0);
  CHECK(errors.find(part) != std::string::npos);
  CHECK(!fs::exists(in.path / "out"));
}

ago_test::network linear_network() {
  ago_test::network net;
  net.input("x", {1, 2}).constant("w", {2, 3}, floats{1, 2, 3, 4, 5, 6});
  net.node("MatMul", {"x", "w"}, {"y"});
  net.output("y");
  return net;
}

}  // namespace

TEST_CASE("a header and its weights") {
  std::srand(1);
  folder const f;
  REQUIRE(import(f, linear_network(), "--name tiny") == 0);
  CHECK(text_of(f.path / "out/tiny.hpp").find("linear{.out = 3, .bias = false}") != std::string::npos);
  REQUIRE(fs::file_size(f.path / "out/tiny.weights") == 6 * sizeof(float));
  float weights[6];
  std::ifstream(f.path / "out/tiny.weights", std::ios::binary).read(reinterpret_cast<char*>(weights), sizeof weights);
  CHECK(weights[1] == 4);  // [out][in]
}

TEST_CASE("the same model gives the same files") {
  folder const f, g;
  REQUIRE(import(f, linear_network()) == 0);
  REQUIRE(import(g, linear_network()) == 0);
  CHECK(text_of(f.path / "out/model.hpp") == text_of(g.path / "out/model.hpp"));
}

TEST_CASE("everything that is not supported is named, and nothing is written") {
  folder const f;
  ago_test::network net;
  net.input("x", {1, 2});
  net.node("Unique", {"x"}, {"a"}).named("one");
  net.node("NonZero", {"x"}, {"b"}).named("two");
  net.output("a").output("b");
  CHECK(import(f, net) == 2);
  std::string const errors = text_of(f.path / "errors");
  CAPTURE(errors);
  for (char const* what : {"one", "Unique", "two", "NonZero"}) CHECK(errors.find(what) != std::string::npos);
  CHECK(!fs::exists(f.path / "out"));
}

TEST_CASE("operators and arguments that are not supported are named together") {
  folder const f;
  ago_test::network net;
  net.input("x", {1, 2, 4, 4}).input("w", {3, 2, 1, 1}).constant("s", {}, floats{1});
  net.node("QuantizeLinear", {"x", "s"}, {"a"}).named("one");
  net.node("Conv", {"x", "w"}, {"b"}).named("two");
  net.output("a").output("b");
  CHECK(import(f, net) == 2);
  std::string const errors = text_of(f.path / "errors");
  CAPTURE(errors);
  CHECK(errors.find("node \"one\" (QuantizeLinear): the operator is not supported: it works on quantised numbers") !=
        std::string::npos);
  CHECK(errors.find("node \"two\" (Conv): its weights must be constant") != std::string::npos);
}

TEST_CASE("unsupported operators are listed first, those of a kind together, before sizes that are not given") {
  folder const f;
  ago_test::network net;
  net.symbolic("x", {"my batch", "2"});
  net.node("Relu", {"x"}, {"a"}).named("zero");
  net.node("Unheard", {"a"}, {"b"}).named("one");
  net.node("TfIdfVectorizer", {"b"}, {"c"}).named("two").set("mode", "TF");
  auto& words = *net.node("TfIdfVectorizer", {"c"}, {"d"}).named("three").proto().add_attribute();
  words.set_name("pool_sparse");
  words.set_type(::onnx::AttributeProto::SPARSE_TENSOR);
  CHECK(import(f, net.output("d")) == 2);
  std::string const errors = text_of(f.path / "errors");
  CAPTURE(errors);
  auto const size = errors.find(
      "\ninput \"x\": the size of dimension 0, called \"my batch\", is not known; set it, "
      "for example with --dim 'my batch=1'\n");
  REQUIRE(size != std::string::npos);
  CHECK(errors.find("\nnode \"one\" (Unheard): the operator is not supported\n") < size);
  CHECK(errors.find("\nnode \"two\" (TfIdfVectorizer): the operator is not supported: it works on text; "
                    "2 nodes are TfIdfVectorizer, this is the first\n") < size);
  CHECK(std::count(errors.begin(), errors.end(), '\n') == 4);
}

TEST_CASE("--batch sets first dimensions however they are spelt, and reports it") {
  auto const sizes = [](ago_test::network& net, std::string const& more) {
    folder const f;
    net.node("Relu", {"x"}, {"y"});
    REQUIRE(import(f, net.output("y"), more) == 0);
    std::string const header = text_of(f.path / "out/model.hpp");
    auto const at = header.find("// Inputs: ");
    return header.substr(at, header.find('\n', at) - at) + "; " + text_of(f.path / "errors");
  };
  for (char const* symbol : {"unk__12", "BatchSize", "", "N"}) {
    ago_test::network net;
    std::string const r = sizes(net.symbolic("x", {symbol, "2"}), "--batch 3");
    CHECK(r.find("x [3, 2].") != std::string::npos);
    CHECK(r.find("ago-import: --batch sets dimension 0") != std::string::npos);
  }
  for (int const written : {-1, 0}) {
    ago_test::network net;
    CHECK(sizes(net.input("x", {written, 2}), "--batch 3").find("x [3, 2].") != std::string::npos);
  }
  ago_test::network both, known, told;
  CHECK(sizes(both.symbolic("x", {"b", "b"}), "--batch 3").find("x [3, 3].") != std::string::npos);
  CHECK(sizes(known.input("x", {4, 2}), "--batch 3").find("--batch has no effect") != std::string::npos);
  std::string const dim = sizes(told.symbolic("x", {"n", "2"}), "--batch 3 --dim n=5");
  CHECK(dim.find("x [5, 2].") != std::string::npos);
  CHECK(dim.find("--batch has no effect") != std::string::npos);
}

TEST_CASE("names are printed without control characters") {
  folder const f;
  ago_test::network net;
  net.symbolic("in\xe2\x80\xaeput", {"a\x1b[2J"});
  net.node("Unheard", {"in\xe2\x80\xaeput"}, {"b"}).named("one\a\nago-import: fine");
  CHECK(import(f, net.output("b")) == 2);
  std::string const errors = text_of(f.path / "errors");
  CAPTURE(errors);
  CHECK(errors.find("node \"one\\x07\\nago-import: fine\" (Unheard)") != std::string::npos);
  CHECK(errors.find("called \"a\\x1b[2J\"") != std::string::npos);
  CHECK(errors.find("input \"in\\u202eput\"") != std::string::npos);
  CHECK(errors.find_first_of("\x1b\a\xe2") == std::string::npos);
}

TEST_CASE("both files are written, or none") {
  folder const f;
  fs::create_directories(f.path / "out/model.hpp");
  CHECK(import(f, linear_network()) == 2);
  CHECK(text_of(f.path / "errors").find("model.hpp: it is a directory") != std::string::npos);
  CHECK(!fs::exists(f.path / "out/model.weights"));
}

TEST_CASE("invalid options are refused") {
  folder const f;
  CHECK(import(f, linear_network(), "--dim N") == 2);
  CHECK(import(f, linear_network(), "--dim N=x") == 2);
  CHECK(import(f, linear_network(), "--dim N=-1") == 2);
  CHECK(import(f, linear_network(), "--dim N=99999999999999999999") == 2);
  CHECK(import(f, linear_network(), "--dim M=2") == 2);
  CHECK(import(f, linear_network(), "--fix x") == 2);
  CHECK(import(f, linear_network(), "--fix x=nowhere.npy") == 2);
  CHECK(import(f, linear_network(), "--batch 0") == 2);
  CHECK(import(f, linear_network(), "--batch -3") == 2);
  CHECK(import(f, linear_network(), "--no-such-option") == 2);
  CHECK(!fs::exists(f.path / "out"));
}

TEST_CASE("a file that is not a model is refused") {
  folder const f;
  check_refused(f, import(f, "\x01not a model"), "is damaged, or not an ONNX model");
  check_refused(f, import(f, ""), "has no graph");
  std::string const whole = linear_network().bytes();
  for (std::size_t size : {1, 7, 40, int(whole.size()) - 20, int(whole.size()) - 1})
    CHECK(import(f, whole.substr(0, size)) == 2);
  check_refused(f, import(f, whole.substr(0, whole.size() - 1)), "is damaged");
  fs::remove(f.path / "model.onnx");
  fs::create_directories(f.path / "model.onnx");
  check_refused(f, import(f, whole), "is not a regular file");
}

TEST_CASE("models and files of other kinds are recognised") {
  using namespace std::string_literals;
  folder const f;
  auto const check = [&](std::string const& bytes, std::string const& what) {
    check_refused(f, import(f, bytes), what);
  };
  check("\x1c\0\0\0TFL3\x14\0 \0"s, "is a TensorFlow Lite model; convert it with: python -m tf2onnx.convert --tflite");
  check("PK\x03\x04....archive/data.pklPK\x01\x02", "is a PyTorch file; load it in Python and export the model with");
  check("PK\x03\x04....m/data.pkl...m/code/__torch__.py", "is a TorchScript model");
  check("PK\x03\x04....model.weights.h5", "is a Keras model");
  check("PK\x03\x04....model.onnx", "is a zip archive");
  check("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 ", "is a Python pickle, such as PyTorch writes");
  check("\x89HDF\r\n\x1a\n\0\0\0"s, "is an HDF5 file, such as Keras writes");
  check("\x0a\0\0\0\0\0\0\0{\"a\":\"b\"}...."s, "is a safetensors file of weights");
  check("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "fetch the file with: git lfs pull");
  check("\n<!DOCTYPE html><html>", "is a web page");
  check("import onnx\n", "is a text file");
  fs::remove(f.path / "model.onnx");
  fs::create_directories(f.path / "model.onnx");
  std::ofstream(f.path / "model.onnx/saved_model.pb") << "graph";
  check("", "is a TensorFlow SavedModel; convert it with: python -m tf2onnx.convert --saved-model");
}

TEST_CASE("invalid graphs are refused") {
  folder const f;
  ago_test::network cycle;
  cycle.input("x", {1, 2});
  cycle.node("Add", {"x", "b"}, {"a"}).named("left");
  cycle.node("Relu", {"a"}, {"b"}).named("right");
  check_refused(f, import(f, cycle.output("b")), "it is on a cycle");
  ago_test::network none;
  none.input("x", {1, 2});
  none.node("Relu", {"x"}, {"y"});
  check_refused(f, import(f, none), "the graph has no outputs");
  ago_test::network twice;
  twice.input("x", {1, 2});
  twice.node("Relu", {"x"}, {"y"}).named("first");
  twice.node("Abs", {"x"}, {"y"}).named("second");
  check_refused(f, import(f, twice.output("y")), "is already defined");
  ago_test::network constant;
  constant.constant("k", {2}, floats{1, 2});
  constant.node("Relu", {"k"}, {"y"});
  check_refused(f, import(f, constant.output("y")), "the model has no input");
}

TEST_CASE("sizes that exceed any memory are refused") {
  folder const f;
  ago_test::network huge;
  huge.input("x", {std::int64_t{1} << 40, 1 << 20});
  huge.node("Relu", {"x"}, {"y"});
  check_refused(f, import(f, huge.output("y")), "has more than 2147483647 elements");
  ago_test::network table;
  table.input("x", {1 << 20}).constant("axis", {}, ago_test::ints{0});
  table.node("CumSum", {"x", "axis"}, {"y"}).named("wide");
  check_refused(f, import(f, table.output("y")), "node \"wide\" (CumSum): the network would have more than");
}

TEST_CASE("external data is read only from the model's folder") {
  folder const f;
  std::ofstream(f.path / "secret", std::ios::binary) << "12345678";
  fs::create_directories(f.path / "models");
  for (std::string const location : {"../secret", "/etc/passwd", "a/../../secret", ""}) {
    ago_test::network net;
    net.input("x", {1, 2});
    auto& t = *net.graph().add_initializer();
    t.set_name("k");
    t.set_data_type(::onnx::TensorProto::FLOAT);
    t.add_dims(2);
    t.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& entry = *t.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
    net.node("Add", {"x", "k"}, {"y"});
    std::ofstream(f.path / "models/m.onnx", std::ios::binary) << net.output("y").bytes();
    std::string const command = std::string(AGO_IMPORT) + " " + (f.path / "models/m.onnx").string() + " --out " +
                                (f.path / "out").string() + " 2> " + (f.path / "errors").string();
    check_refused(f, std::system(command.c_str()) / 256, "external");
  }
}

TEST_CASE("an output that is an input, and two outputs with one value") {
  folder const f;
  ago_test::network net;
  net.input("x", {1, 2});
  net.node("Relu", {"x"}, {"y"});
  REQUIRE(import(f, net.output("y").output("x").output("y")) == 0);
  CHECK(text_of(f.path / "out/model.hpp").find("return outputs(x1, x, x1);") != std::string::npos);
}

TEST_CASE("names of files and nodes do not get into the code") {
  folder const f;
  ago_test::network net;
  net.input("x\nint injected;", {1, 2});
  net.node("Relu", {"x\nint injected;"}, {"a"}).named("*/ int injected; //\\");
  net.node("Abs", {"a"}, {"y\"\?\?/"}).named("\r\nint injected;");
  REQUIRE(import(f, net.output("y\"\?\?/"), "--name 'a b'") == 0);
  std::string const header = text_of(f.path / "out/a_b.hpp");
  CAPTURE(header);
  CHECK(header.find("namespace a_b {") != std::string::npos);
  CHECK(header.find('\\') == std::string::npos);
  CHECK(header.find('\r') == std::string::npos);
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);)
    if (auto const at = line.find("injected"); at != std::string::npos) CHECK(line.find("//") < at);
  REQUIRE(import(f, net, "--name '../a b;'") == 0);
  CHECK(fs::exists(f.path / "out" / "a_b.hpp"));
}

TEST_CASE("a reserved name is refused with a suggestion; the name of a model's file is made free") {
  folder const f;
  check_refused(f, import(f, linear_network(), "--name class"), "the name \"class\" belongs to C++");
  check_refused(f, import(f, linear_network(), "--name relu"), "the name \"relu\" belongs to ago");
  check_refused(f, import(f, linear_network(), "--name time"), "try --name time_net (in ago_import: NAME ");
  check_refused(f, import(f, linear_network(), "--name my__net"), "try --name my_net");
  std::ofstream(f.path / "time.onnx", std::ios::binary) << linear_network().bytes();
  std::string const command = std::string(AGO_IMPORT) + " " + (f.path / "time.onnx").string() + " --out " +
                              (f.path / "out").string() + " 2> " + (f.path / "errors").string();
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(text_of(f.path / "errors").find("the network is named time_net") != std::string::npos);
  CHECK(text_of(f.path / "out/time_net.hpp").find("namespace time_net {") != std::string::npos);
  CHECK(fs::exists(f.path / "out/time_net.weights"));
}

TEST_CASE("if one file cannot be written, none is") {
  folder const f;
  std::ofstream(f.path / "file") << "in the way";
  for (char const* out : {"file", "file/below"}) {
    CHECK(import(f, linear_network().bytes(), "", out) == 2);
    CHECK(text_of(f.path / "errors").rfind("ago-import: ", 0) == 0);
  }
  CHECK(text_of(f.path / "file") == "in the way");
  for (char const* name : {"model.hpp", "model.weights"}) {
    folder const g;
    fs::create_directories(g.path / "out" / name);
    CHECK(import(g, linear_network()) == 2);
    CHECK(std::distance(fs::directory_iterator(g.path / "out"), fs::directory_iterator()) == 1);
  }
}

TEST_CASE("a trace makes all intermediate values outputs") {
  folder const f;
  ago_test::network net;
  net.input("x", {1, 2});
  net.node("Relu", {"x"}, {"a"});
  net.node("Sigmoid", {"a"}, {"b"});
  net.node("Tanh", {"b"}, {"y"});
  net.output("y");
  REQUIRE(import(f, net, "--trace") == 0);
  std::string const header = text_of(f.path / "out/model.hpp");
  CAPTURE(header);
  CHECK(header.find("// Outputs: y [1, 2], a [1, 2], b [1, 2].") != std::string::npos);
  CHECK(header.find("outputs(") != std::string::npos);
}
