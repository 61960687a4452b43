// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the timing models know about an A64 instruction.
#pragma once

#include <cstdint>

namespace ruler {

/// What an instruction occupies in a core. The names of loads and stores end in what each register is filled with or
/// emptied of: a general register, at most 64 bits of a vector register, or 128.
enum class unit : std::uint8_t {
  integer,
  integer_multiply,
  branch,
  load_general,
  load_half,
  load_whole,
  store_general,
  store_half,
  store_whole,            ///< by str or stp
  store_whole_structure,  ///< by st1 to st4
  multiply_add,
  multiply,
  add,  ///< also minima, comparisons and conversions
  move,
  divide,
  general_to_vector,
  vector_to_general,
  nothing,
};

/// What reports count. Multiply-adds are of four floats (or eight halves), of two, and of one.
enum class kind : std::uint8_t {
  multiply_add,
  multiply_add_half,
  multiply_add_scalar,
  vector,
  vector_load,
  general_load,
  vector_store,
  general_store,
  prefetch,
  branch,
  integer,
};
inline constexpr int kinds = int(kind::integer) + 1;
inline constexpr char const* kind_names[kinds] = {
    "multiply_adds", "half_multiply_adds", "scalar_multiply_adds", "vector",   "vector_loads", "general_loads",
    "vector_stores", "general_stores",     "prefetches",           "branches", "integer"};

/// Registers are numbered 0 to 30 (general), 31 (the stack pointer), 32 (the flags), 33 to 64 (vector registers).
inline constexpr int registers = 65, flags = 32, first_vector = 33;
inline constexpr std::uint8_t no_register = 255;

/// What an integer instruction does to a register, as far as addresses of prefetches need it.
enum class arithmetic : std::uint8_t {
  unknown,
  constant,
  add_constant,
  add,       ///< base + operand
  subtract,  ///< base - operand
  multiply_add,
  multiply_subtract,
  extract,      ///< ubfm, sbfm: shifts, extensions and fields
  logical_and,  ///< of base and operand, or constant
  logical_or,
  exclusive_or,
  divide,
  divide_signed,
  shift_left,
  shift_right,
  shift_right_signed,
  select,  ///< base if the condition holds, else the operand, inverted or not, + constant
};
/// How an operand is extended before it is shifted.
enum class extension : std::uint8_t { none, zero_32, sign_32 };

struct instruction {
  ruler::unit unit = ruler::unit::nothing;
  ruler::kind kind = ruler::kind::integer;
  std::uint8_t source_count = 0, result_count = 0;
  std::uint8_t sources[8]{}, results[6]{};
  std::uint8_t accumulator = no_register;  ///< the source that is needed late
  std::uint8_t moved = 1;                  ///< registers that a load or store moves
  bool whole = false;                      ///< arithmetic on 128 bits
  bool is_conditional = false;             ///< branch

  /// Loads, stores and prefetches: the address is base + offset (+ index << shift); then `step` is added to the base.
  std::uint8_t base = no_register, index = no_register, shift = 0;
  bool writes_base = false, knows_step = true;
  std::int64_t offset = 0, step = 0;
  bool into_l2 = false;  ///< a prefetch that stops there

  /// Integer arithmetic: results[0] from constant, base, the operand index << shift (logical, without one: the
  /// constant), and addend.
  ruler::arithmetic arithmetic = ruler::arithmetic::unknown;
  std::int64_t constant = 0;
  std::uint8_t addend = no_register;
  ruler::extension extends = extension::none;
  bool inverts = false;              ///< the operand, as in bic
  bool compares = false;             ///< sets the flags as base - operand, or base + constant, does
  std::uint8_t condition = 0;        ///< select
  std::uint8_t first = 0, last = 0;  ///< extract: `immr` and `imms`
  bool is_signed = false;            ///< extract; loads: extends the sign
  bool is_wide = true;               ///< the result has 64 bits, not 32

  constexpr bool reads_or_writes() const {
    return kind >= ruler::kind::vector_load && kind <= ruler::kind::general_store;
  }
};

}  // namespace ruler
