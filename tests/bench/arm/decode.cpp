// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the models read from instruction words.
#include "words.hpp"

#include <doctest/doctest.h>

using namespace words;
using ruler::arithmetic;
using ruler::decode;
using ruler::first_vector;
using ruler::instruction;
using ruler::kind;
using ruler::unit;

TEST_CASE("multiply-adds are told by the number of floats, and their accumulator is not an early operand") {
  for (word const w : {fmla(3), fmla_lane(3), fmla_halves_lane(3)}) {
    instruction const i = decode(w);
    CHECK(i.kind == kind::multiply_add);
    CHECK(i.unit == unit::multiply_add);
    CHECK(i.whole);
    CHECK(i.accumulator == first_vector + 3);
    CHECK(i.source_count == 2);
  }
  CHECK(decode(fmla_half(1)).kind == kind::multiply_add_half);
  CHECK_FALSE(decode(fmla_half(1)).whole);
  CHECK(decode(fmadd(1, 2, 3, 4)).kind == kind::multiply_add_scalar);
  CHECK(decode(fmadd(1, 2, 3, 4)).accumulator == first_vector + 4);
  CHECK(decode(fmul(1, 2, 3)).kind == kind::vector);
  CHECK(decode(fmul(1, 2, 3)).unit == unit::multiply);
}

TEST_CASE("lanes of halves are in the first 16 registers: the fifth bit of the register is part of the lane") {
  instruction const i = decode(fmla_halves_lane(0, 1, 2) | 1u << 20);  // v2.h[1]
  CHECK(i.sources[1] == first_vector + 2);
}

TEST_CASE("loads and stores are told by width, registers and the change of their base") {
  CHECK(decode(ldr_q(0, 1)).unit == unit::load_whole);
  CHECK(decode(ldr_q(0, 1, 48)).offset == 48);
  CHECK(decode(ldr_d(0, 1)).unit == unit::load_half);
  CHECK(decode(ldr_x(0, 1)).unit == unit::load_general);
  CHECK(decode(str_q(0, 1)).unit == unit::store_whole);
  CHECK(decode(st1(0, 1)).unit == unit::store_whole_structure);
  instruction const pair = decode(ldp_q(4, 5, 6));
  CHECK(pair.moved == 2);
  CHECK(pair.result_count == 2);
  CHECK(pair.writes_base);
  CHECK(pair.base == 6);
  CHECK(pair.offset == 0);
  CHECK(pair.step == 32);
  instruction const four = decode(ld1_four(30, 6));
  CHECK(four.moved == 4);
  CHECK(four.step == 64);
  CHECK(four.results[3] == first_vector + 1);  // after v31 comes v0
}

TEST_CASE("a prefetch accesses nothing and names its level") {
  CHECK(decode(prfm(3, 256)).kind == kind::prefetch);
  CHECK_FALSE(decode(prfm(3, 256)).reads_or_writes());
  CHECK(decode(prfm(3, 256)).offset == 256);
  CHECK_FALSE(decode(prfm(3, 256)).into_l2);
  CHECK(decode(prfm_l2(3, 4)).into_l2);
  CHECK(decode(prfm_l2(3, 4)).index == 4);
}

TEST_CASE("integer arithmetic that addresses are made of is understood") {
  CHECK(decode(add(1, 2, 24)).arithmetic == arithmetic::add_constant);
  CHECK(decode(add(1, 2, 24)).constant == 24);
  CHECK(decode(add_x(1, 2, 3, 4)).arithmetic == arithmetic::add);
  CHECK(decode(add_x(1, 2, 3, 4)).shift == 4);
  CHECK(decode(mov(1, 77)).constant == 77);
  CHECK(decode(mul(1, 2, 3)).arithmetic == arithmetic::multiply_add);
  CHECK(decode(udiv(1, 2, 3)).arithmetic == arithmetic::divide);
  CHECK(decode(0x9AC34041).arithmetic == arithmetic::unknown);  // crc32b
  CHECK(decode(mul(1, 2, 3)).unit == unit::integer_multiply);
  CHECK(decode(b_ne).is_conditional);
  CHECK(decode(b_ne).sources[0] == ruler::flags);
}

TEST_CASE("the constants of logical instructions are understood") {
  auto const constant = [](int n_immr_imms) { return std::uint64_t(decode(and_constant(1, 2, n_immr_imms)).constant); };
  CHECK(constant(0x1000) == 1);
  CHECK(constant(0x1F3B) == 0xffff'ffff'ffff'fff0);
  CHECK(constant(0x0027) == 0x00ff'00ff'00ff'00ff);
  CHECK(constant(0x1041) == 0x8000'0000'0000'0001);
  CHECK(constant(0x00F9) == 0x6666'6666'6666'6666);
  CHECK(constant(0x1F21) == 0x3f'ffff'fff0);
}
