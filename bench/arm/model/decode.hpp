// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes A64 instructions, by the encodings in the Arm Architecture Reference Manual (DDI 0487), C4.1: those that
// compilers generate for floating-point and integer code. Any other counts as an addition of vectors or integers.
#pragma once

#include "instruction.hpp"
#include "word.hpp"

namespace ruler {

class decoder : word {
 public:
  using word::word;

  constexpr instruction run() {
    if (matches(0x0A000000, 0x08000000)) {
      memory();
    } else if (matches(0x1C000000, 0x14000000)) {
      branch();
    } else if (matches(0x0E000000, 0x0E000000)) {
      i_.kind = kind::vector;
      i_.whole = bit(30) && !bit(28);  // bit 28: scalar
      if (matches(0x5F000000, 0x1E000000)) {
        scalar();
      } else {
        vector();
      }
    } else if (matches(0x1C000000, 0x10000000)) {
      immediate();
    } else {
      integer();
    }
    return i_;
  }

 private:
  static constexpr unsigned v(unsigned r) { return first_vector + r; }

  constexpr void read(unsigned r) {
    if (i_.source_count < 8) i_.sources[i_.source_count++] = std::uint8_t(r);
  }
  constexpr void write(unsigned r) {
    if (i_.result_count < 6) i_.results[i_.result_count++] = std::uint8_t(r);
  }
  /// General registers; number 31 is the zero register.
  constexpr void read_general(unsigned r) {
    if (r != 31) read(r);
  }
  constexpr void write_general(unsigned r) {
    if (r != 31) write(r);
  }

  constexpr void is(unit u, kind k) { i_.unit = u, i_.kind = k; }

  /// A load or store of `moved` registers, 128 bits wide or not.
  constexpr void transfer(bool load, bool is_vector, bool is_whole) {
    if (!is_vector)
      is(load ? unit::load_general : unit::store_general, load ? kind::general_load : kind::general_store);
    else if (load) is(is_whole ? unit::load_whole : unit::load_half, kind::vector_load);
    else is(is_whole ? unit::store_whole : unit::store_half, kind::vector_store);
  }
  constexpr void transferred(bool load, bool is_vector, unsigned r) {
    if (is_vector) {
      load ? write(v(r)) : read(v(r));
    } else {
      load ? write_general(r) : read_general(r);
    }
  }
  constexpr void addressed_by(unsigned base) {
    read(base);
    i_.base = std::uint8_t(base);
  }
  constexpr void add_to_base(std::int64_t step) { i_.writes_base = true, i_.step = step; }

  constexpr void memory() {
    if (matches(0x3A000000, 0x28000000)) {
      pair();
    } else if (matches(0x3B000000, 0x18000000)) {
      literal();
    } else if (matches(0x3A000000, 0x38000000)) {
      single();
    } else if (bit(26)) {
      structure();
    } else {  // exclusive, acquire, release
      addressed_by(rn());
      transfer(bit(22), false, false);
      transferred(bit(22), false, rd());
    }
  }

  constexpr void pair() {
    bool const load = bit(22), is_vector = bit(26);
    unsigned const mode = bits(23, 2), size = bits(30, 2);
    int const bytes = is_vector ? 4 << size : size == 2 ? 8 : 4;
    addressed_by(rn());
    i_.moved = 2;
    if (mode != 1) i_.offset = number(15, 7) * bytes;
    if (mode == 1 || mode == 3) add_to_base(number(15, 7) * bytes);
    transfer(load, is_vector, size == 2);
    transferred(load, is_vector, rd());
    transferred(load, is_vector, ra());
    i_.is_signed = !is_vector && size == 1;  // ldpsw
  }

  constexpr void literal() {
    bool const is_vector = bit(26);
    if (!is_vector && bits(30, 2) == 3) return is(unit::load_general, kind::prefetch);
    transfer(true, is_vector, bits(30, 2) == 2);
    transferred(true, is_vector, rd());
  }

  constexpr void single() {
    bool const is_vector = bit(26);
    unsigned const size = bits(30, 2), opcode = bits(22, 2);
    unsigned const scale = is_vector && (opcode & 2) ? 4 : size;
    addressed_by(rn());
    if (bit(24)) {
      i_.offset = std::int64_t(bits(10, 12)) << scale;
    } else if (bit(21)) {
      if (bits(10, 2) == 2) {
        read_general(rm());
        i_.index = rm() == 31 ? no_register : std::uint8_t(rm());
        i_.shift = std::uint8_t(bit(12) ? scale : 0);
      }
    } else {
      unsigned const mode = bits(10, 2);
      if (mode != 1) i_.offset = number(12, 9);
      if (mode == 1 || mode == 3) add_to_base(number(12, 9));
    }
    if (!is_vector && size == 3 && opcode == 2) {
      i_.into_l2 = bits(1, 2) != 0;
      return is(unit::load_general, kind::prefetch);
    }
    bool const load = is_vector ? opcode & 1 : opcode != 0;
    transfer(load, is_vector, is_vector && (opcode & 2));
    transferred(load, is_vector, rd());
    i_.is_signed = opcode >= 2;
    i_.is_wide = opcode < 3;
  }

  /// ld1 to ld4, st1 to st4.
  constexpr void structure() {
    bool const load = bit(22), one_lane = bit(24), is_whole = bit(30);
    addressed_by(rn());
    if (one_lane) {
      i_.moved = std::uint8_t(1 + bits(21, 1) + 2 * bits(13, 1));
    } else {
      unsigned const opcode = bits(12, 4);
      i_.moved = opcode == 7 ? 1 : opcode == 10 || opcode == 8 ? 2 : opcode == 6 || opcode == 4 ? 3 : 4;
    }
    bool const replicates = one_lane && bits(14, 2) == 3;
    if (bit(23)) {
      int const size = int(replicates ? bits(10, 2) : bits(14, 2) == 0 ? 0 : bits(14, 2) == 1 ? 1 : bit(10) ? 3 : 2);
      add_to_base(i_.moved * (one_lane ? 1 << size : is_whole ? 16 : 8));
      if (rm() != 31) {
        read(rm());
        i_.knows_step = false;
      }
    }
    transfer(load, true, is_whole && !one_lane);
    if (i_.unit == unit::store_whole) i_.unit = unit::store_whole_structure;
    for (unsigned k = 0; k < i_.moved; ++k) {
      unsigned const r = (rd() + k) & 31;
      transferred(load, true, r);
      if (load && one_lane && !replicates) read(v(r));
    }
  }

  constexpr void branch() {
    if (matches(0xFF000000, 0xD5000000)) {  // system
      i_.kind = kind::integer;
      if (!matches(0xFFF00000, 0xD5300000)) return;
      i_.unit = unit::integer;
      return write_general(rd());
    }
    is(unit::branch, kind::branch);
    if (matches(0xFF000000, 0x54000000)) {
      read(flags);
      i_.is_conditional = true;
    } else if (matches(0x7C000000, 0x34000000)) {  // cbz, tbz
      read_general(rd());
      i_.is_conditional = true;
    } else if (matches(0xFE000000, 0xD6000000)) {
      read_general(rn());
    }
    if (matches(0xFC000000, 0x94000000) || matches(0xFFFFFC1F, 0xD63F0000)) write(30);
  }

  /// Floating point on one number, and moves from and to general registers.
  constexpr void scalar() {
    if (matches(0x0020FC00, 0x00200000)) {
      unsigned const opcode = bits(16, 5), low = opcode & 7;
      if (low == 7 || low == 2 || low == 3) {
        i_.unit = unit::general_to_vector;
        read_general(rn());
        write(v(rd()));
        if (opcode == 15) read(v(rd()));
      } else {
        i_.unit = unit::vector_to_general;
        read(v(rn()));
        write_general(rd());
      }
    } else if (matches(0x00201C00, 0x00201000)) {  // fmov of a constant
      i_.unit = unit::move;
      write(v(rd()));
    } else {
      read(v(rn()));
      if (matches(0x00203C00, 0x00202000)) {  // fcmp
        i_.unit = unit::add;
        read(v(rm()));
        return write(flags);
      }
      write(v(rd()));
      if (matches(0x00200C00, 0x00200C00)) {  // fcsel
        i_.unit = unit::move;
        read(v(rm()));
        read(flags);
      } else if (matches(0x00207C00, 0x00204000)) {  // one operand
        i_.unit = unit::add;
      } else {
        unsigned const opcode = bits(12, 4);
        read(v(rm()));
        i_.unit = opcode == 0 ? unit::multiply : opcode == 1 ? unit::divide : unit::add;
      }
    }
  }

  constexpr void vector() {
    bool const half_lane = matches(0xBFC0B400, 0x0F001000);  // fmla, fmls
    bool const one_lane = matches(0xFF80B400, 0x5F801000);   // the same on one float
    bool const accumulates = matches(0xBF20FC00, 0x0E20CC00) || matches(0xBF60FC00, 0x0E400C00) ||
                             matches(0xBF80B400, 0x0F801000) || half_lane || one_lane;
    if (accumulates || matches(0x5F000000, 0x1F000000)) {
      i_.unit = unit::multiply_add;
      i_.kind = !accumulates || one_lane ? kind::multiply_add_scalar
                : i_.whole               ? kind::multiply_add
                                         : kind::multiply_add_half;
      read(v(rn()));
      read(v(half_lane ? bits(16, 4) : rm()));
      i_.accumulator = std::uint8_t(v(accumulates ? rd() : ra()));
      return write(v(rd()));
    }
    if (matches(0xBFA0FC00, 0x2E20DC00) || matches(0xBFE0FC00, 0x2E401C00) || matches(0xBF80F400, 0x0F809000) ||
        matches(0xBFC0F400, 0x0F009000))
      return three_operands(unit::multiply);
    if (matches(0xBFA0FC00, 0x2E20FC00)) return three_operands(unit::divide);
    bool const inserts = matches(0xFFE0FC00, 0x4E001C00);
    if (inserts || matches(0xBFE0FC00, 0x0E000C00)) {  // ins, dup from a general register
      i_.unit = unit::general_to_vector;
      read_general(rn());
      if (inserts) {
        i_.whole = false;
        read(v(rd()));
      }
      return write(v(rd()));
    }
    if (matches(0xBFE0FC00, 0x0E003C00) || matches(0xBFE0FC00, 0x0E002C00)) {  // umov, smov
      i_.unit = unit::vector_to_general;
      i_.whole = false;
      read(v(rn()));
      return write_general(rd());
    }
    if (matches(0x9FF80400, 0x0F000400)) {  // movi
      i_.unit = unit::move;
      return write(v(rd()));
    }
    bool const inserts_element = matches(0xFFE08400, 0x6E000400);
    if (inserts_element || matches(0xBFE0FC00, 0x0E000400)) {  // ins, dup of an element
      i_.unit = unit::move;
      read(v(rn()));
      if (inserts_element) read(v(rd()));
      return write(v(rd()));
    }
    if (matches(0x9F60C400, 0x0E400400)) return three_operands(unit::add);  // three of the same type: halves
    if (matches(0x9F200400, 0x0E200400)) {                                  // three of the same type; 3: logic
      three_operands(bits(11, 5) == 3 ? unit::move : unit::add);
      if (bits(11, 5) == 3 && bit(29)) read(v(rd()));  // bsl, bit, bif
      return;
    }
    if (matches(0xBF208C00, 0x0E000800) || matches(0xBFE08400, 0x2E000000) || matches(0xBF208C00, 0x0E000000))
      return three_operands(unit::move);  // zip, uzp, trn; ext; tbl
    i_.unit = unit::add;
    read(v(rn()));
    write(v(rd()));
  }

  constexpr void three_operands(unit u) {
    i_.unit = u;
    read(v(rn()));
    read(v(rm()));
    write(v(rd()));
  }

  constexpr void immediate() {
    i_.unit = unit::integer;
    unsigned const group = bits(23, 3), opcode = bits(29, 2);
    if (group < 2) return write_general(rd());  // adr
    if (group == 5) {                           // movn, movz, movk
      write_general(rd());
      if (opcode == 3) read_general(rd());
      if (opcode == 2)
        i_.arithmetic = arithmetic::constant, i_.constant = std::int64_t(bits(5, 16)) << (16 * bits(21, 2));
      return;
    }
    bool const adds = group == 2;  // sp may be operand and result
    adds ? read(rn()) : read_general(rn());
    adds && !bit(29) ? write(rd()) : write_general(rd());
    i_.is_wide = bit(31);
    if (adds) {
      std::int64_t const value = std::int64_t(bits(10, 12)) << (bit(22) ? 12 : 0);
      i_.arithmetic = arithmetic::add_constant, i_.base = std::uint8_t(rn());
      i_.constant = bit(30) ? -value : value;
      i_.compares = bits(29, 2) == 3;
    }
    if (group == 6 && opcode != 1 && i_.result_count > 0) {
      i_.arithmetic = arithmetic::extract, i_.base = std::uint8_t(rn());
      i_.first = std::uint8_t(bits(16, 6)), i_.last = std::uint8_t(bits(10, 6));
      i_.is_signed = opcode == 0;
    }
    if (group == 4 && i_.result_count > 0) {
      i_.arithmetic = logic(opcode), i_.base = std::uint8_t(rn());
      i_.constant = std::int64_t(logical_constant());
    }
    if (adds && bit(29)) write(flags);
    if (group == 4 && opcode == 3) write(flags);        // ands
    if (group == 6 && opcode == 1) read_general(rd());  // bfm
  }

  constexpr void integer() {
    i_.unit = unit::integer;
    read_general(rn());
    if (matches(0x1FE00000, 0x1A400000)) {  // ccmp
      read(flags);
      if (!bit(11)) read_general(rm());
      return write(flags);
    }
    read_general(rm());
    write_general(rd());
    if (matches(0x1F000000, 0x1B000000)) {  // madd
      read_general(ra());
      i_.unit = unit::integer_multiply;
      unsigned const form = bits(21, 3);
      if ((form == 0 || form == 1 || form == 5) && i_.result_count > 0) {
        i_.arithmetic = bit(15) ? arithmetic::multiply_subtract : arithmetic::multiply_add;
        i_.addend = std::uint8_t(ra());
        i_.extends = form == 0 ? extension::none : form == 1 ? extension::sign_32 : extension::zero_32;
        operands();
      }
    } else if (matches(0x1FE00000, 0x1A000000)) {  // adc
      read(flags);
    } else if (matches(0x1FE00000, 0x1A800000)) {  // csel, csinc, csinv, csneg
      read(flags);
      i_.arithmetic = arithmetic::select, i_.condition = std::uint8_t(bits(12, 4));
      i_.inverts = bit(30), i_.constant = bits(10, 1);
      operands();
    } else if (matches(0x1F000000, 0x0B000000) || matches(0x1F000000, 0x0A000000)) {  // add, sub; and, orr
      bool const adds = bit(24);
      if (adds ? bit(29) : bits(29, 2) == 3) write(flags);
      bool const is_extended = adds && bit(21), is_plain = is_extended ? bits(13, 2) >= 2 : bits(22, 2) == 0;
      if (!is_plain || i_.result_count == 0) return;
      i_.arithmetic = !adds ? logic(bits(29, 2)) : bit(30) ? arithmetic::subtract : arithmetic::add;
      i_.inverts = !adds && bit(21);
      i_.compares = adds && bits(29, 2) == 3;
      operands();
      i_.shift = std::uint8_t(is_extended ? bits(10, 3) : bits(10, 6));
      if (is_extended && bits(13, 2) == 2) i_.extends = bit(15) ? extension::sign_32 : extension::zero_32;
    } else if (matches(0x5FE00000, 0x1AC00000)) {  // two operands: divisions and shifts
      unsigned const opcode = bits(10, 6);
      if (opcode / 2 == 1) i_.unit = unit::integer_multiply;
      i_.arithmetic = opcode == 2    ? arithmetic::divide
                      : opcode == 3  ? arithmetic::divide_signed
                      : opcode == 8  ? arithmetic::shift_left
                      : opcode == 9  ? arithmetic::shift_right
                      : opcode == 10 ? arithmetic::shift_right_signed
                                     : arithmetic::unknown;
      operands();
    }
  }

  /// and, orr, eor, ands
  static constexpr arithmetic logic(unsigned opcode) {
    return opcode == 1 ? arithmetic::logical_or : opcode == 2 ? arithmetic::exclusive_or : arithmetic::logical_and;
  }
  constexpr void operands() {
    i_.is_wide = bit(31);
    i_.base = std::uint8_t(rn());
    i_.index = std::uint8_t(rm());
  }

  instruction i_{};
};

constexpr instruction decode(std::uint32_t word) { return decoder(word).run(); }

}  // namespace ruler
