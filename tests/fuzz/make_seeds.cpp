// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the fuzzers' seeds into a folder: small models that together use every kind of rule.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "../onnx/single.hpp"
#include "import_seeds.hpp"

using namespace ago_test;

namespace {

network convolutions() {
  network net;
  net.symbolic("x", {"N", "2", "8", "8"})
      .constant("a", {2, 1, 3, 3}, floats(18, 0.5f))
      .constant("b", {2}, floats{1, 2});
  net.node("Conv", {"x", "a", "b"}, {"c"}).set("group", 2).set("pads", ints{1, 1, 1, 1}).set("strides", ints{2, 2});
  net.node("MaxPool", {"c"}, {"d"}).set("kernel_shape", ints{2, 2}).set("ceil_mode", 1);
  net.node("ConvTranspose", {"d", "a"}, {"e"})
      .set("group", 2)
      .set("output_padding", ints{1, 1})
      .set("strides", ints{2, 2});
  net.node("BatchNormalization", {"e", "b", "b", "b", "b"}, {"f"});
  net.node("GlobalAveragePool", {"f"}, {"y"});
  return net.output("y");
}

network shape_arithmetic() {
  network net;
  net.input("x", {2, 3, 4}).list("zero", {0}).list("one", {1}).list("two", {2}).list("minus", {-1});
  net.node("Shape", {"x"}, {"a"});
  net.node("Gather", {"a", "zero"}, {"b"});
  net.node("Slice", {"a", "one", "two"}, {"c"});
  net.node("Mul", {"b", "c"}, {"d"});
  net.node("Concat", {"d", "minus"}, {"e"}).set("axis", 0);
  net.node("Reshape", {"x", "e"}, {"f"});
  net.node("Expand", {"f", "a"}, {"g"}).named("dead");
  net.node("Unsqueeze", {"f", "zero"}, {"h"});
  net.node("Squeeze", {"h", "zero"}, {"i"});
  net.node("Transpose", {"i"}, {"y"}).set("perm", ints{1, 0});
  return net.output("y");
}

network constants() {
  network net(18);
  net.list("a", {2, 3}).list("pads", {1, 0, 0, 1}).list("k", {1, 0});
  net.node("ConstantOfShape", {"a"}, {"b"});
  fill(net.node("Constant", {}, {"c"}).tensor("value"), {2, 1}, floats{1, 2});
  net.node("Add", {"b", "c"}, {"d"});
  net.node("Pad", {"d", "pads"}, {"e"});
  net.node("Gather", {"e", "k"}, {"f"}).set("axis", 1);
  net.node("ReduceSum", {"f", "k"}, {"g"});
  net.node("Cast", {"g"}, {"h"}).set("to", ::onnx::TensorProto::INT64);
  net.node("Where", {"h", "g", "d"}, {"i"});
  net.node("Split", {"i"}, {"j", "l"}).set("num_outputs", 2);
  net.node("Tile", {"l", "a"}, {"m"});
  return net.output("j").output("m");
}

std::string raw_half() {
  network net;
  auto& t = *net.graph().add_initializer();
  t.set_name("x");
  t.set_data_type(::onnx::TensorProto::FLOAT16);
  t.add_dims(2);
  t.set_raw_data(std::string("\0\x3c\0\xc0", 4));
  net.node("Identity", {"x"}, {"y"});
  return net.output("y").bytes();
}

std::string npy() {
  std::string const header = "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }\n";
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + '\0' + header + "12345678";
}

/// Shapes without elements whose other extents are as large as possible.
network nothing() {
  constexpr std::int64_t many = 1 << 30;
  network net;
  net.input("x", {1}).constant("a", {many, 1, 0}, floats{}).constant("b", {many, 0}, floats{}).list("zero", {0});
  net.constant("i", {many, 0}, ints{}).constant("u", {many, 0}, floats{}).constant("c", {0}, floats{});
  for (int k = 0; k < 8; ++k) {
    net.node("Gather", {"a", "zero"}, {"d" + std::to_string(k)}).set("axis", 1);
    net.node("ScatterND", {"c", "i", "u"}, {"e" + std::to_string(k)});
    net.node("EyeLike", {"b"}, {"f" + std::to_string(k)});
    net.output("d" + std::to_string(k)).output("e" + std::to_string(k)).output("f" + std::to_string(k));
  }
  return net;
}

void write(std::filesystem::path const& file, std::string const& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: make_seeds <folder>\n";
    return 2;
  }
  std::filesystem::path const all = arguments[1], folder = all / "onnx_load";
  for (auto const& [name, net] : import_seeds()) write(all / "import" / (name + ".onnx"), net.bytes());
  write(folder / "convolutions.onnx", convolutions().bytes());
  write(folder / "shape_arithmetic.onnx", shape_arithmetic().bytes());
  write(folder / "constants.onnx", constants().bytes());
  write(folder / "nothing.onnx", nothing().bytes());
  write(folder / "half.onnx", raw_half());
  write(folder / "columns.npy", npy());
  write(folder / "resize.onnx", single(18, "Resize", {in({1, 1, 2, 4}), none(), none(), list({7, 8})}, [](node& n) {
                                  n.set("axes", ints{2, 3}).set("keep_aspect_ratio_policy", "not_larger");
                                }).bytes());
  write(folder / "attention.onnx",
        single(23, "Attention", {in({1, 5, 32}), in({1, 7, 16}), in({1, 7, 12})}, [](node& n) {
          n.set("q_num_heads", 4).set("kv_num_heads", 2);
        }).bytes());
  write(folder / "gemm.onnx",
        single(11, "Gemm", {in({3, 2}), reals({4, 3}, floats(12, 1)), reals({1, 2, 3, 4})}, [](node& n) {
          n.set("transA", 1).set("transB", 1);
        }).bytes());
  write(folder / "scatter.onnx",
        single(16, "ScatterND", {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), tensor({2, 2}, {0, 2, 1, 0}), list({7, 8})})
            .bytes());
  write(folder / "pool.onnx", single(10, "AveragePool", {in({1, 2, 5, 5})}, [](node& n) {
                                n.set("kernel_shape", ints{3, 3}).set("auto_pad", "SAME_LOWER");
                              }).bytes());
  return 0;
}
