// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as it is written down: layers in sequences, branches, blocks that repeat.
#pragma once

#include "layers.hpp"

#include <string>
#include <vector>

namespace ago::importer {

/// An argument of a layer or of a block, as C++ text.
struct argument {
  std::string field;      ///< ".stride", or the name of a block's parameter
  std::string value;
  std::string otherwise;  ///< its default; empty: must be given
  std::string type;       ///< of a parameter that stands for it: "int"; empty: nothing may
  bool is_name = false;   ///< its value is a parameter of the block around it
};

enum class item_kind { layer, residual, sum, product, joined, block, repeated };

struct item;
using sequence = std::vector<item>;

/// One thing between two `|`.
struct item {
  item_kind kind = item_kind::layer;
  std::string name{};               ///< of the layer or the block
  std::vector<argument> arguments{};
  bool positional = false;          ///< arguments without their fields
  std::vector<sequence> branches{}; ///< of a residual, a sum, ...; an empty one: identity; what is repeated
  int times = 1;                    ///< repeated
  std::string origin{};             ///< name of the first node in it
};

/// tensor const <name> = <head> | items...;
struct statement {
  std::string name;
  std::string head;      ///< "x3", "x3 + x5", "matmul(x3, x5)"
  sequence items;
  std::string origin;
};

/// A function that returns a layer.
struct block {
  std::string name;
  std::vector<argument> parameters;  ///< `value` unused
  sequence body;
  int uses = 0;
};

/// All that stands in a header.
struct program_text {
  std::vector<input> inputs;
  std::vector<std::string> input_names, output_names;  ///< variables of the body; empty: not read
  std::vector<statement> statements;
  std::vector<block> blocks;
  std::vector<float> weights;  ///< in the order in which the text declares them
};

/// The text of a call that has one operand.
item item_of(call const& c);
/// The text of a call of several operands.
std::string head_of(call const& c, std::vector<std::string> const& operands);

/// Calls ordered into statements and sequences, with names.
program_text structured(call_list const& network, std::vector<std::string> const& input_names);
/// Sequences that repeat, up to numbers, become blocks; items that repeat exactly, repetitions.
void factor(program_text& text);

}  // namespace ago::importer
