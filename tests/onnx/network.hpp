// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX models built by hand, and their import.
#pragma once

#include <doctest/doctest.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "load.hpp"

namespace ago_test {

using ints = std::vector<std::int64_t>;
using floats = std::vector<float>;
using names = std::vector<std::string>;

/// A node; attributes are set by chained calls.
class node {
 public:
  explicit node(::onnx::NodeProto& proto) : proto_(proto) {}

  node& named(std::string const& name) { return proto_.set_name(name), *this; }
  node& set(std::string const& name, std::int64_t x) { return add(name, ::onnx::AttributeProto::INT).set_i(x), *this; }
  node& set(std::string const& name, int x) { return set(name, std::int64_t{x}); }
  node& set(std::string const& name, float x) { return add(name, ::onnx::AttributeProto::FLOAT).set_f(x), *this; }
  node& set(std::string const& name, char const* x) {
    return add(name, ::onnx::AttributeProto::STRING).set_s(x), *this;
  }
  node& set(std::string const& name, ints const& list) {
    auto& a = add(name, ::onnx::AttributeProto::INTS);
    for (std::int64_t const x : list) a.add_ints(x);
    return *this;
  }
  node& set(std::string const& name, floats const& list) {
    auto& a = add(name, ::onnx::AttributeProto::FLOATS);
    for (float const x : list) a.add_floats(x);
    return *this;
  }
  node& set(std::string const& name, names const& list) {
    auto& a = add(name, ::onnx::AttributeProto::STRINGS);
    for (std::string const& x : list) a.add_strings(x);
    return *this;
  }
  ::onnx::TensorProto& tensor(std::string const& name) {
    return *add(name, ::onnx::AttributeProto::TENSOR).mutable_t();
  }
  ::onnx::NodeProto& proto() { return proto_; }

 private:
  ::onnx::AttributeProto& add(std::string const& name, ::onnx::AttributeProto::AttributeType type) {
    auto& a = *proto_.add_attribute();
    a.set_name(name);
    a.set_type(type);
    return a;
  }

  ::onnx::NodeProto& proto_;
};

inline void fill(::onnx::TensorProto& t, ints const& dims, floats const& numbers) {
  t.set_data_type(::onnx::TensorProto::FLOAT);
  for (std::int64_t const d : dims) t.add_dims(d);
  for (float const x : numbers) t.add_float_data(x);
}

inline void fill(::onnx::TensorProto& t, ints const& dims, ints const& numbers) {
  t.set_data_type(::onnx::TensorProto::INT64);
  for (std::int64_t const d : dims) t.add_dims(d);
  for (std::int64_t const x : numbers) t.add_int64_data(x);
}

class network {
 public:
  explicit network(std::int64_t opset = 13) {
    proto_.set_ir_version(8);
    proto_.add_opset_import()->set_version(opset);
    graph().set_name("test");
  }

  ::onnx::ModelProto& proto() { return proto_; }
  ::onnx::GraphProto& graph() { return *proto_.mutable_graph(); }

  network& input(std::string const& name, ints const& dims, int type = ::onnx::TensorProto::FLOAT) {
    auto& tensor = *declare(name, type).mutable_shape();
    for (std::int64_t const d : dims) tensor.add_dim()->set_dim_value(d);
    return *this;
  }
  /// An axis with this name, or without one if it is empty.
  network& symbolic(std::string const& name, names const& dims) {
    auto& shape = *declare(name, ::onnx::TensorProto::FLOAT).mutable_shape();
    for (std::string const& d : dims) {
      auto& dim = *shape.add_dim();
      if (!d.empty() && d.find_first_not_of("0123456789") == std::string::npos) {
        dim.set_dim_value(std::stoll(d));
      } else if (!d.empty()) {
        dim.set_dim_param(d);
      }
    }
    return *this;
  }
  template <class Numbers>
  network& constant(std::string const& name, ints const& dims, Numbers const& numbers) {
    auto& t = *graph().add_initializer();
    t.set_name(name);
    fill(t, dims, numbers);
    return *this;
  }
  network& list(std::string const& name, ints const& numbers) {
    return constant(name, {static_cast<std::int64_t>(numbers.size())}, numbers);
  }

  ago_test::node node(std::string const& type, names const& inputs, names const& outputs) {
    auto& n = *graph().add_node();
    n.set_op_type(type);
    for (auto const& name : inputs) n.add_input(name);
    for (auto const& name : outputs) n.add_output(name);
    return ago_test::node(n);
  }
  network& output(std::string const& name) { return graph().add_output()->set_name(name), *this; }

  std::string bytes() const { return proto_.SerializeAsString(); }
  ago::onnx::model load(ago::onnx::load_options const& options = {}) const {
    return ago::onnx::load_bytes(bytes(), "", options);
  }

  /// The sentences of the error when loading; fails if there is no error.
  std::string complaint(ago::onnx::load_options const& options = {}) const {
    try {
      load(options);
    } catch (ago::onnx::import_error const& e) { return e.what(); }
    FAIL("no error");
    return "";
  }

 private:
  ::onnx::TypeProto::Tensor& declare(std::string const& name, int type) {
    auto& v = *graph().add_input();
    v.set_name(name);
    auto& tensor = *v.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    return tensor;
  }

  ::onnx::ModelProto proto_;
};

inline ago::onnx::value const& output(ago::onnx::model const& m, std::size_t i = 0) {
  return m.values[static_cast<std::size_t>(m.outputs.at(i))];
}

/// Checks that the text contains the part; shows both if it does not.
inline bool contains(std::string const& text, std::string const& part) {
  INFO(text);
  CHECK_MESSAGE(text.find(part) != std::string::npos, "expected \"", part, "\" in \"", text, "\"");
  return text.find(part) != std::string::npos;
}

}  // namespace ago_test
