// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a policy makes of a network, as plain data: all that the writers know.
#pragma once

#include <ago/graph/isa.hpp>
#include <ago/graph/op.hpp>
#include <ago/graph/shape.hpp>
#include <ago/partition/policy.hpp>
#include <ago/partition/statistics.hpp>
#include <ago/partition/tiling.hpp>
#include <ago/plan/account.hpp>
#include <ago/plan/step.hpp>

#include <span>
#include <string>
#include <vector>

namespace ago::tools {

/// An operator, or an input of the network. Inputs are in no subgraph.
struct inspected_node {
  op kind{};
  std::string function; ///< of a map: the name of what it computes; empty: none
  std::string name;     ///< given by named(); empty: none
  std::string details;  ///< window, groups, bounds, ... as far as it has them: "3x3, stride 2, pads 1 1 1 1"
  shape out{};
  int layer{};          ///< that recorded it; the primitives of an operator that a policy opens have its number
  int line{};           ///< of the source that recorded it; 0: unknown
  bool is_output{};
  long weight{};        ///< Eq. (1), in thousandths
  long multiply_adds{};
  int subgraph = -1, mini = -1;
  int step = -1;        ///< the first that computes it; -1: none does, as its value is a view of others or an input

  /// "relu6", or of a map the name of its function.
  std::string label() const { return function.empty() ? name_of(kind) : function; }
};

/// The value of `from` is an operand of `to`.
struct inspected_edge {
  int from{}, to{};
  long bytes{};         ///< of the value
};

/// A kernel inside a step.
struct inspected_part {
  structure what{};
  register_tile tile{};     ///< 1x1 where the kernel has none
  std::string epilogue;     ///< operators that it applies before it stores: "bias, relu6"; empty: none
  shape in{}, out{};
};

/// What runs as one: a kernel, or a pipeline of several.
struct inspected_step {
  std::vector<inspected_part> parts;
  chain_tiling tiles{};     ///< of a pipeline
  std::vector<int> nodes;   ///< the operators that it computes
  int subgraph{};
  step_account account{};
  double cycles{};          ///< see predicted_cycles()

  /// "pointwise", "rows: pointwise, depthwise, pointwise", "elementwise (relu6)"
  std::string kernel() const;
  /// The same extents as its first part reads and its last part writes: "14x14x64 > 14x14x96".
  std::string layers() const;
};

struct inspected_subgraph {
  int operators{}, complex{}, steps{};
  long weight{};            ///< Eq. (1), in thousandths
  double cycles{};
};

struct inspection {
  std::string network;      ///< as the user calls it
  int size = 0;             ///< of its input; 0: it has none to choose
  ago::policy policy{};
  isa target{};
  ago::device device{};

  std::vector<inspected_node> nodes;  ///< operands before those who read them
  std::vector<inspected_edge> edges;
  std::vector<inspected_step> steps;  ///< in execution order
  std::vector<inspected_subgraph> subgraphs;  ///< likewise
  int inputs{}, minis{};
  partition_statistics statistics{};  ///< of the subgraphs
  long arena_bytes{}, weight_bytes{};

  int operators() const { return int(nodes.size()) - inputs; }
  /// Steps of several kernels.
  int pipelines() const;
  /// Does the edge lead from one subgraph to another? An input of the network is in none.
  bool crosses(inspected_edge const& e) const;
  /// Have both the same operators? Policies differ in what they open and merge.
  bool has_graph_of(inspection const& other) const;
  double cycles() const;
  step_account account() const;
};

/// How many operators there are: "152 operators", or where policies differ "86 and 140 operators".
std::string operators_in(std::span<inspection const> all);

/// As much of a text as has `room`, in bytes; what would not show is written out.
std::string shortened(std::string const& text, std::size_t room);

/// "14x14x64", with the images in front if there are several.
std::string to_string(shape const& s);

/// A hue in degrees for each subgraph, far apart for those that follow one another.
double hue_of(int subgraph);

}  // namespace ago::tools
