// The program ago-import: what it writes, and that it writes nothing if something is wrong.
#include "onnx/network.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;
using ago_test::floats;

namespace {

/// A folder of its own, gone at the end.
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

int import(folder const& in, ago_test::network const& net, std::string const& more = "") {
  std::ofstream(in.path / "model.onnx", std::ios::binary) << net.bytes();
  std::string const command = std::string(AGO_IMPORT) + " " + (in.path / "model.onnx").string() + " --out " +
                              (in.path / "out").string() + " " + more + " 2> " + (in.path / "errors").string();
  int const status = std::system(command.c_str());
  return status < 0 ? status : status / 256;
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

TEST_CASE("what is not supported is named, all of it, and nothing is written") {
  folder const f;
  ago_test::network net;
  net.input("x", {1, 2});
  net.node("Hardmax", {"x"}, {"a"}).named("one");
  net.node("NonZero", {"x"}, {"b"}).named("two");
  net.output("a").output("b");
  CHECK(import(f, net) == 2);
  std::string const errors = text_of(f.path / "errors");
  CAPTURE(errors);
  for (char const* what : {"one", "Hardmax", "two", "NonZero"}) CHECK(errors.find(what) != std::string::npos);
  CHECK(!fs::exists(f.path / "out"));
}

TEST_CASE("both files are written or none") {
  folder const f;
  fs::create_directories(f.path / "out/model.hpp");
  CHECK(import(f, linear_network()) == 2);
  CHECK(text_of(f.path / "errors").find("model.hpp: it is a directory") != std::string::npos);
  CHECK(!fs::exists(f.path / "out/model.weights"));
}

TEST_CASE("options that make no sense are refused") {
  folder const f;
  CHECK(import(f, linear_network(), "--dim N") == 2);
  CHECK(import(f, linear_network(), "--dim N=x") == 2);
  CHECK(import(f, linear_network(), "--no-such-option") != 0);
}

TEST_CASE("a file that is no model is refused") {
  folder const f;
  std::ofstream(f.path / "model.onnx") << "not a model";
  std::string const command = std::string(AGO_IMPORT) + " " + (f.path / "model.onnx").string() + " 2> /dev/null";
  CHECK(std::system(command.c_str()) / 256 == 2);
}

TEST_CASE("a trace makes outputs of all intermediate values") {
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
