// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks traced at run time, so that their inputs may have any size.
#pragma once

#include "written_order.hpp"

#include <ago/network/lowering.hpp>
#include <ago/passes/passes.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ago::tools {

/// A graph with room for networks of every usual size, and the names that its nodes refer to.
struct roomy_graph {
  ir::graph<1024, 3072, 64> value;
  std::vector<std::string> names;
};

/// The sentence that describes the fault of a layer.
std::string to_string(ir::diagnostic const& d);

namespace detail {

/// Names are only known after a trace, see ago::tracing::naming.
template <class Network>
std::vector<std::string> names_of(Network const& net) {
  auto const size = ago::lowering::measure(net);
  std::vector<std::string> names(std::size_t(size.names), std::string(std::size_t(size.longest_name), '\0'));
  std::vector<char*> rows;
  for (std::string& name : names) rows.push_back(name.data());
  ago::tracing::recorder r;
  r.names = ago::tracing::naming(rows.data());
  record(r, net);
  return names;
}

/// Throws std::length_error if `made` exceeds the capacities.
void check_room(ago::tracing::recorder const& made, int nodes, int edges, int outputs);

/// A network recorded without a fault, as a graph.
template <int V, int E, int O>
void copy_with_room(ir::graph<V, E, O>& g, ago::tracing::recorder const& made) {
  check_room(made, V, E, O);
  ago::lowering::copy_to(g, made);
}

}  // namespace detail

/// The graph of `sized` after all passes; `sized` is the network `Net`, perhaps with another size or layout of its
/// inputs. Throws std::invalid_argument with a sentence if a layer does not fit its input, std::length_error if the
/// network is too large.
template <auto const& Net>
std::unique_ptr<roomy_graph const> trace_now(std::remove_cvref_t<decltype(Net)> const& sized) {
  auto r = std::make_unique<roomy_graph>();
  r->names = detail::names_of(sized);
  std::vector<char const*> names;
  for (std::string const& name : r->names) names.push_back(name.c_str());
  ago::tracing::recorder made;
  made.names = ago::tracing::naming(names.data());
  record(made, sized);
  if (made.bad.what != ir::fault::none) throw std::invalid_argument(to_string(made.bad));
  auto const& written = lowering::lowered<Net>::value;
  auto const ordered = in_written_order(made, {{written.nodes, std::size_t(written.node_count)},
                                               {written.edges, std::size_t(written.edge_count)},
                                               {written.outputs, std::size_t(written.output_count)}});
  detail::copy_with_room(r->value, ordered ? *ordered : made);
  r->value = passes::optimize(r->value);
  return r;
}
template <auto const& Net>
std::unique_ptr<roomy_graph const> trace_now() {
  return trace_now<Net>(Net);
}

}  // namespace ago::tools
