// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "builder.hpp"

#include "expression.hpp"

#include "../support/diagnostic.hpp"

#include <ago/network/lowering.hpp>
#include <ago/simd/map.hpp>  // defines the functions of activations, which graphs point to
#include <ago/simd/math.hpp>

namespace ago::importer {

namespace {

struct recorder_of_layer {
  std::vector<tensor> const& x;

  template <layer L>
  tensor operator()(L const& layer) const {
    return layer(x[0]);
  }
  tensor operator()(input const&) const { throw std::logic_error("an input is not applied"); }
  tensor operator()(map_of const& m) const {
    ir::node n{.kind = op::map, .function = &m.stands_for};
    n.function_name = m.expression.c_str();  // its label in drawings
    return tracing::record_elementwise(x[0], 0, n);
  }
  tensor operator()(binary const& b) const { return tracing::record_binary(b.kind, 0, x[0], x[1]); }
  tensor operator()(join const& j) const { return tracing::record_concat(0, x.data(), int(x.size()), j.along); }
  tensor operator()(product_of const& p) const { return matmul(x[0], x[1], p.transposed); }
  tensor operator()(view_as const& l) const {
    ago::view r(1);
    r.to = l.to;
    return r(x[0]);
  }
  template <class L>
    requires requires(L const& l, tensor a) { l(a, a); }
  tensor operator()(L const& l) const {
    return l(x[0], x[1]);
  }
  tensor operator()(attention const& a) const { return x.size() == 1 ? a(x[0]) : a(x[0], x[1], x[2]); }
};

}  // namespace

tensor record(layer_value const& layer, std::vector<tensor> const& operands) {
  return std::visit(recorder_of_layer{operands}, layer);
}

namespace {

/// Which calls the outputs depend on.
std::vector<bool> needed_calls(call_list const& network) {
  std::vector<bool> needed(network.calls.size());
  for (int v : network.outputs) needed[std::size_t(v)] = true;
  for (std::size_t i = needed.size(); i-- > 0;)
    if (needed[i])
      for (int v : network.calls[i].operands) needed[std::size_t(v)] = true;
  return needed;
}

/// Names the nodes recorded since there were `from` after their ONNX node.
void name_nodes(tracing::recorder& to, int from, std::string const& origin) {
  for (int v = from; v < to.nodes.size; ++v) {
    to.nodes[v].name = origin.empty() ? nullptr : origin.c_str();
    to.nodes[v].line = 0;
  }
}

}  // namespace

void record(call_list const& network, tracing::recorder& to) {
  std::vector<tensor> values(network.calls.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (auto const* in = std::get_if<input>(&network.calls[i].what)) {
      values[i] = lowering::record_input(to, *in);
      name_nodes(to, to.nodes.size - 1, network.calls[i].origin);
    }
  to.inputs = to.nodes.size;
  std::vector<bool> const needed = needed_calls(network);
  for (std::size_t i = 0; i < values.size(); ++i) {
    call const& c = network.calls[i];
    int const before = to.nodes.size;
    if (auto const* in = std::get_if<input>(&c.what)) values[i] = lowering::record_layout(values[i], *in);
    else if (needed[i]) {
      std::vector<tensor> operands;
      for (int v : c.operands) operands.push_back(values[std::size_t(v)]);
      values[i] = record(c.what, operands);
    }
    name_nodes(to, before, c.origin);
  }
  for (int v : network.outputs) lowering::record_output(to, values[std::size_t(v)]);
}

int builder::add_input(input in) {
  tensor x = lowering::record_input(recorder_, in);
  recorder_.inputs = recorder_.nodes.size;
  x = lowering::record_layout(x, in);
  tensors_.push_back(x);
  list_.calls.push_back({in, {}, x.dims(), {}, origin_});
  return size() - 1;
}

void builder::afford(std::vector<std::int64_t> const& extents) const {
  std::int64_t count = 1;
  for (std::int64_t const extent : extents) {
    if (extent != 0 && count > (most_weights_ - recorder_.floats) / extent)
      throw unsupported("the network would have more than " + std::to_string(most_weights_) + " weights");
    count *= extent;
  }
}

int builder::apply(layer_value layer, std::vector<int> operands, std::vector<float> weights) {
  afford({std::int64_t(weights.size())});
  std::vector<tensor> x;
  for (int v : operands) x.push_back(tensors_[std::size_t(v)]);
  long const before = recorder_.floats;
  tensor const y = record(layer, x);
  if (recorder_.bad.what != ir::fault::none) {
    ir::diagnostic const d = recorder_.bad;
    recorder_.bad = {};
    throw unsupported(std::string(name_of(d.where)) + ": " + tools::text_of(d));
  }
  if (recorder_.floats - before != long(weights.size()))
    throw std::logic_error("importer: " + origin_ + ": " + std::to_string(weights.size()) + " weights for a layer of " +
                           std::to_string(recorder_.floats - before));
  call made{std::move(layer), std::move(operands), y.dims(), std::move(weights), origin_};
  (void)item_of(made);  // refuses a number that cannot be written while the node is known
  tensors_.push_back(y);
  list_.calls.push_back(std::move(made));
  return size() - 1;
}

}  // namespace ago::importer
