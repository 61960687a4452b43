// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as text: layers in sequences, branches, repeated blocks.
#pragma once

#include "layers.hpp"

#include <string>
#include <vector>

namespace ago::importer {

/// An argument of a layer or of a block, as C++ text.
struct argument {
  std::string field;  ///< ".stride", or the name of a block's parameter
  std::string value;
  std::string otherwise;  ///< its default; empty: it must be given
  std::string type;       ///< of a parameter that replaces it: "int"; empty: it cannot be replaced
  bool is_name = false;   ///< its value is a parameter of the enclosing block
};

enum class item_kind { layer, residual, sum, product, joined, block, repeated };

struct item;
using sequence = std::vector<item>;

/// An item between two `|`.
struct item {
  item_kind kind = item_kind::layer;
  std::string name{};  ///< of the layer or the block
  std::vector<argument> arguments{};
  bool positional = false;           ///< arguments without field names
  std::vector<sequence> branches{};  ///< of a residual, a sum, ...; an empty one: identity; the repeated one
  int times = 1;                     ///< of a repetition
  std::string origin{};              ///< name of its first node
};

/// tensor const <name> = <head> | items...;
struct statement {
  std::string name;  ///< or "[x3, x5]", of a function with several results
  std::string head;  ///< "x3", "x3 + x5", "matmul(x3, x5)"
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

/// A function of values and numbers, of several statements.
struct step_function {
  std::string name;
  std::vector<argument> parameters;  ///< `value` unused
  std::vector<statement> body;
  std::vector<std::string> results;
  int uses = 0;
};

/// The contents of a header.
struct program_text {
  std::vector<input> inputs;
  std::vector<std::string> input_names, output_names;  ///< variables of the body; empty: unread
  std::vector<statement> statements;
  std::vector<block> blocks;
  std::vector<step_function> steps;  ///< they call blocks, but not each other
  std::vector<float> weights;        ///< in the order in which the text declares them
  std::vector<int> order;            ///< the calls, in the order in which a compiler that reads the text records them
  std::vector<int> swapped;  ///< those whose two operands it then reverses: a residual adds its branch to its input
};

/// The text of a call with one operand.
item item_of(call const& c);
/// The text of a call with several operands.
std::string head_of(call const& c, std::vector<std::string> const& operands);

/// Arranges calls into named statements and sequences.
program_text structured(call_list const& network, std::vector<std::string> const& input_names);
/// The calls of such a text in its order, without those whose values it does not need.
call_list in_order_of(program_text const& text, call_list const& network);
/// Makes blocks of sequences that repeat except for numbers, and repetitions of items that repeat exactly.
void factor(program_text& text);
/// Makes functions of runs of statements that repeat one after another except for variables and numbers.
void factor_steps(program_text& text);

}  // namespace ago::importer
