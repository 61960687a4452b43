// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inputs.hpp"

#include "sizes.hpp"
#include "tensor_proto.hpp"

namespace ago::onnx {
namespace {

using dimension = ::onnx::TensorShapeProto::Dimension;

/// Some exporters write -1 for an unknown size, and 0 for an unknown batch size.
bool is_open(dimension const& d, int axis, bool has_batch) {
  return !d.has_dim_value() || d.dim_value() < 0 || (axis == 0 && has_batch && d.dim_value() == 0);
}

std::string key_of(std::string const& input, int axis) { return input + ":" + std::to_string(axis); }

std::string name_of(int axis, std::string const& symbol) {
  return "dimension " + std::to_string(axis) + (symbol.empty() ? "" : ", called \"" + printable(symbol) + "\",");
}

std::string how_to_set(std::string const& input, int axis, std::string const& symbol) {
  // A name that a terminal does not show verbatim cannot be copied and pasted.
  bool const can_be_pasted = !symbol.empty() && printable(symbol) == symbol;
  std::string const key = can_be_pasted ? symbol : key_of(input, axis);
  return "the size of " + name_of(axis, symbol) + " is not known; set it, for example with --dim " +
         printable(shell_word(key + "=1"));
}

}  // namespace

input_shapes::input_shapes(load_options const& options, std::vector<::onnx::ValueInfoProto const*> const& inputs)
    : options_(options) {
  if (!options.batch) return;
  for (auto const* input : inputs) {
    auto const& shape = input->type().tensor_type().shape();
    if (options.fixed.count(input->name()) || shape.dim_size() == 0 || !is_open(shape.dim(0), 0, true)) continue;
    std::string const& symbol = shape.dim(0).dim_param();
    if (options.dims.count(symbol) || options.dims.count(key_of(input->name(), 0))) continue;
    if (!symbol.empty()) batch_symbols_.insert(symbol);
    notes_.push_back("--batch sets " + name_of(0, symbol) + " of input \"" + printable(input->name()) + "\" to " +
                     std::to_string(*options.batch));
  }
  if (notes_.empty()) notes_.push_back("--batch has no effect: the first dimension of every input is known without it");
}

std::optional<std::int64_t> input_shapes::size(std::string const& input, int axis, std::string const& symbol) {
  for (std::string const& key : {symbol, key_of(input, axis)}) {
    auto const found = options_.dims.find(key);
    if (found == options_.dims.end()) continue;
    used_.insert(key);
    return found->second;
  }
  return axis == 0 || batch_symbols_.count(symbol) ? options_.batch : std::nullopt;
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
      bool const open = is_open(dim, axis, options_.batch.has_value());
      auto const d = open ? size(input.name(), axis, dim.dim_param()) : dim.dim_value();
      if (!d) report(how_to_set(input.name(), axis, dim.dim_param()));
      result.dims.push_back(d.value_or(0));
    }
    check_dims(result.dims);
  } catch (fault const& f) { report(f.reason); }
  return result;
}

void input_shapes::check_all_used(std::vector<finding>& findings) const {
  for (auto const& [key, size] : options_.dims) {
    if (used_.count(key)) continue;
    findings.push_back({.reason = "no input has an unknown dimension called \"" + printable(key) + "\""});
  }
}

}  // namespace ago::onnx
