// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inputs.hpp"

#include "sizes.hpp"
#include "tensor_proto.hpp"

namespace ago::onnx {
namespace {

bool means_batch(std::string const& symbol, int axis) {
  return axis == 0 && (symbol.empty() || symbol == "N" || symbol == "batch" || symbol == "batch_size");
}

std::string how_to_set(std::string const& input, int axis, std::string const& symbol) {
  std::string const key = symbol.empty() ? input + ":" + std::to_string(axis) : symbol;
  std::string const called = symbol.empty() ? "" : " is called \"" + printable(symbol) + "\" and";
  return "the size of dimension " + std::to_string(axis) + called + " is not known; set it, for example with --dim " +
         printable(key) + "=1";
}

}  // namespace

std::optional<std::int64_t> input_shapes::size(std::string const& input, int axis, std::string const& symbol) {
  for (std::string const& key : {symbol, input + ":" + std::to_string(axis)}) {
    auto const found = options_.dims.find(key);
    if (found == options_.dims.end()) continue;
    used_.insert(key);
    return found->second;
  }
  return means_batch(symbol, axis) ? options_.batch : std::nullopt;
}

value input_shapes::read(::onnx::ValueInfoProto const& input, std::vector<finding>& findings) {
  value result{.name = input.name(), .type = element::real, .dims = {}, .known = {}};
  auto const report = [&](std::string reason) {
    findings.push_back({.attribute = "input \"" + printable(input.name()) + "\"", .reason = std::move(reason)});
  };
  if (!input.type().has_tensor_type()) {
    report("it is not a tensor");
    return result;
  }
  auto const& type = input.type().tensor_type();
  try {
    result.type = element_of(type.elem_type());
    if (!type.has_shape()) throw fault{"", "its shape is not given"};
    if (type.shape().dim_size() > static_cast<int>(largest_rank)) throw fault{"", "it has too many axes"};
    for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
      auto const& dim = type.shape().dim(axis);
      bool const given = dim.has_dim_value() && dim.dim_value() >= 0;  // some exporters write -1 for unknown
      auto const d = given ? dim.dim_value() : size(input.name(), axis, dim.dim_param());
      if (!d) report(how_to_set(input.name(), axis, dim.dim_param()));
      result.dims.push_back(d.value_or(0));
    }
    check_dims(result.dims);
  } catch (fault const& f) {
    report(f.reason);
  }
  return result;
}

void input_shapes::check_all_used(std::vector<finding>& findings) const {
  for (auto const& [key, size] : options_.dims) {
    if (used_.count(key)) continue;
    findings.push_back({.reason = "no input has an unknown dimension called \"" + printable(key) + "\""});
  }
}

}  // namespace ago::onnx
