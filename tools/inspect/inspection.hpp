// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A policy's partition and plan of a network, as plain data: the only input of the writers.
#pragma once

#include <ago/ir/isa.hpp>
#include <ago/ir/op.hpp>
#include <ago/ir/shape.hpp>
#include <ago/partition/device.hpp>
#include <ago/partition/statistics.hpp>
#include <ago/partition/tiling.hpp>
#include <ago/plan/account.hpp>
#include <ago/plan/predicted_time.hpp>
#include <ago/plan/step.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ago::tools {

/// An operator, or an input of the network. Inputs do not belong to a subgraph.
struct inspected_node {
  op kind{};
  std::string function;  ///< of a map: the name of its function; may be empty
  std::string name;      ///< given by named(); may be empty
  std::string details;   ///< window, groups, bounds, ... if it has them: "3x3, stride 2, pads 1 1 1 1"
  shape out{};
  int layer{};  ///< that recorded it; the primitives of an operator that a policy opens share its number
  int line{};   ///< of the source; 0: unknown
  bool is_output{};
  long weight{};  ///< Eq. (1), in thousandths
  long multiply_adds{};
  int subgraph = -1, mini = -1;
  int step = -1;  ///< the first that computes it; -1: none, for inputs and views

  /// "relu6"; for a map, the name of its function.
  std::string label() const { return function.empty() ? name_of(kind) : function; }
};

/// The value of `from` is an operand of `to`.
struct inspected_edge {
  int from{}, to{};
  long bytes{};  ///< of the value
};

/// A kernel within a step.
struct inspected_part {
  plan::structure what{};
  plan::register_tile tile{};  ///< 1x1 if the kernel has none
  std::string epilogue;        ///< operators applied before the results are stored: "bias, relu6"; may be empty
  shape in{}, out{};
  std::vector<int> nodes;  ///< the operators that it computes
};

/// On this machine, by --measure.
struct measured_time {
  double median_us{}, least_us{};
};

/// A kernel, or a pipeline of several.
struct inspected_step {
  std::vector<inspected_part> parts;
  partition::chain_tiling tiles{};  ///< of a pipeline
  std::vector<int> nodes;           ///< the operators that it computes
  int subgraph{};
  plan::step_account account{};
  plan::moved_bytes moved{};  ///< in the caches of the device
  double cycles{};            ///< predicted on one core of the device (plan/predicted_time.hpp)
  std::optional<measured_time> measured{};

  /// "pointwise", "rows: pointwise, depthwise, pointwise", "elementwise (relu6)"
  std::string kernel() const;
  /// The extents that its first part reads and its last part writes: "14x14x64 > 14x14x96".
  std::string layers() const;
};

/// A value that a step reads and another one has written. Views are resolved: this is the value that has memory.
struct inspected_flow {
  int from{}, to{};  ///< steps; -1: the caller, who has the inputs and outputs of the network
  int value{};       ///< a node
  bool operator==(inspected_flow const&) const = default;
};

/// A range of the arena that is in use from step `first` to step `last`, inclusive.
struct inspected_value {
  int node{};  ///< whose value it holds; for a concatenation also the values written into it
  int first{}, last{};
  long offset{}, bytes{};
  bool scratch{};   ///< holds no value, but the scratch of the operator's kernel
  bool in_place{};  ///< it is written, at `first`, over a value that is read for the last time then
};

struct inspected_subgraph {
  int operators{}, complex{}, steps{};
  long weight{};  ///< Eq. (1), in thousandths
  double cycles{};
};

struct inspection {
  std::string network;  ///< the user's name for it
  int size = 0;         ///< of its input; 0: fixed
  std::string policy;   ///< its name
  isa target{};
  ago::device device{};

  std::vector<inspected_node> nodes;  ///< operands come before their readers
  std::vector<inspected_edge> edges;
  std::vector<inspected_step> steps;          ///< in execution order
  std::vector<inspected_subgraph> subgraphs;  ///< likewise
  std::vector<inspected_flow> flows;          ///< by reader, then those to the caller
  std::vector<inspected_value> values;        ///< in the order of the plan's buffers
  int inputs{}, minis{};
  std::vector<int> removed_rules;                ///< of policy apollo, by its feedback; numbers of its paper's tables
  partition::partition_statistics statistics{};  ///< of the subgraphs
  long arena_bytes{}, weight_bytes{};
  std::optional<measured_time> measured{};  ///< a whole inference; then all steps are measured, too

  int operators() const { return int(nodes.size()) - inputs; }
  /// The number of steps with several kernels.
  int pipelines() const;
  /// Whether the edge leads from one subgraph to another. An input of the network is in none.
  bool crosses(inspected_edge const& e) const;
  double cycles() const;
  /// Predicted, of so many cycles of the device.
  double microseconds(double cycles) const { return ago::microseconds(cycles, device); }
  /// The sums of the measured times of the steps, of one subgraph if it is given.
  measured_time measured_steps(int subgraph = -1) const;
  plan::step_account account() const;
  plan::moved_bytes moved() const;
};

/// The number of operators: "152 operators", or "86 and 140 operators" if policies differ.
std::string operators_in(std::span<inspection const> all);

/// At most `room` bytes of a text; unprintable characters are escaped.
std::string shortened(std::string const& text, std::size_t room);

/// "14x14x64"; the number of images comes first if there are several.
std::string to_string(shape const& s);

/// A hue in degrees for each subgraph; the hues of consecutive subgraphs are far apart.
double hue_of(int subgraph);

}  // namespace ago::tools
