// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of one operator.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "network.hpp"

namespace ago_test {

/// An operand of the operator.
struct operand {
  enum class kind { input, integer_input, floats, integers, none } what = kind::none;
  ints dims = {};
  floats reals = {};
  ints numbers = {};
};

inline operand in(ints dims) { return {.what = operand::kind::input, .dims = std::move(dims)}; }
inline operand integers_in(ints dims) { return {.what = operand::kind::integer_input, .dims = std::move(dims)}; }
inline operand list(ints numbers) {
  ints const dims{static_cast<std::int64_t>(numbers.size())};
  return {.what = operand::kind::integers, .dims = dims, .reals = {}, .numbers = std::move(numbers)};
}
inline operand scalar(std::int64_t x) {
  return {.what = operand::kind::integers, .dims = {}, .reals = {}, .numbers = {x}};
}
inline operand tensor(ints dims, ints numbers) {
  return {.what = operand::kind::integers, .dims = std::move(dims), .reals = {}, .numbers = std::move(numbers)};
}
inline operand reals(ints dims, floats numbers) {
  return {.what = operand::kind::floats, .dims = std::move(dims), .reals = std::move(numbers)};
}
inline operand reals(floats numbers) { return reals({static_cast<std::int64_t>(numbers.size())}, numbers); }
inline operand none() { return {}; }

using attributes = std::function<void(node&)>;

inline network single(std::int64_t opset, std::string const& type, std::vector<operand> const& operands,
                      attributes const& set = {}, int outputs = 1) {
  network net(opset);
  names inputs, results;
  for (operand const& o : operands) {
    std::string const name = o.what == operand::kind::none ? "" : "x" + std::to_string(inputs.size());
    inputs.push_back(name);
    if (o.what == operand::kind::input) net.input(name, o.dims);
    if (o.what == operand::kind::integer_input) net.input(name, o.dims, ::onnx::TensorProto::INT64);
    if (o.what == operand::kind::floats) net.constant(name, o.dims, o.reals);
    if (o.what == operand::kind::integers) net.constant(name, o.dims, o.numbers);
  }
  for (int i = 0; i < outputs; ++i) results.push_back("y" + std::to_string(i));
  node n = net.node(type, inputs, results);
  n.named("op");
  if (set) set(n);
  for (auto const& name : results) net.output(name);
  return net;
}

/// The shape of output 0.
inline ints shape_of(std::int64_t opset, std::string const& type, std::vector<operand> const& operands,
                     attributes const& set = {}) {
  return output(single(opset, type, operands, set).load()).dims;
}

/// The value of output 0, which must be known.
inline ago::onnx::constant value_of(std::int64_t opset, std::string const& type, std::vector<operand> const& operands,
                                    attributes const& set = {}) {
  auto const m = single(opset, type, operands, set).load();
  REQUIRE(output(m).known.has_value());
  CHECK(m.operations.empty());
  CHECK(output(m).known->dims == output(m).dims);
  return *output(m).known;
}

inline std::string complaint_of(std::int64_t opset, std::string const& type, std::vector<operand> const& operands,
                                attributes const& set = {}, int outputs = 1) {
  return single(opset, type, operands, set, outputs).complaint();
}

}  // namespace ago_test
