// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A64 instructions for the tests of the models, checked against GNU as.
#pragma once

#include "bench/arm/model/decode.hpp"

#include <cstdint>
#include <vector>

namespace words {

using word = std::uint32_t;
using program = std::vector<word>;

constexpr word three(word base, int d, int n, int m) { return base | word(m) << 16 | word(n) << 5 | word(d); }

/// fmla vd.4s, vn.4s, vm.4s
constexpr word fmla(int d, int n = 30, int m = 31) { return three(0x4E20CC00, d, n, m); }
/// fmla vd.4s, vn.4s, vm.s[0]
constexpr word fmla_lane(int d, int n = 30, int m = 31) { return three(0x4F801000, d, n, m); }
/// fmla vd.2s, vn.2s, vm.2s
constexpr word fmla_half(int d, int n = 30, int m = 31) { return three(0x0E20CC00, d, n, m); }
/// fmla vd.8h, vn.8h, vm.h[0]; m up to 15
constexpr word fmla_halves_lane(int d, int n = 30, int m = 15) { return three(0x4F001000, d, n, m); }
/// fmadd sd, sn, sm, sa
constexpr word fmadd(int d, int n, int m, int a) { return three(0x1F000000, d, n, m) | word(a) << 10; }
/// fmul vd.4s, vn.4s, vm.4s
constexpr word fmul(int d, int n, int m) { return three(0x6E20DC00, d, n, m); }
/// ldr qt, [xn, #offset]
constexpr word ldr_q(int t, int n, int offset = 0) {
  return 0x3DC00000 | word(offset / 16) << 10 | word(n) << 5 | word(t);
}
/// ldr dt, [xn, #offset]
constexpr word ldr_d(int t, int n, int offset = 0) {
  return 0xFD400000 | word(offset / 8) << 10 | word(n) << 5 | word(t);
}
/// ldp qt, qu, [xn], #32
constexpr word ldp_q(int t, int u, int n) { return 0xACC10000 | word(u) << 10 | word(n) << 5 | word(t); }
/// ld1 {vt.4s, ... four registers}, [xn], #64
constexpr word ld1_four(int t, int n) { return 0x4CDF2800 | word(n) << 5 | word(t); }
/// str qt, [xn]
constexpr word str_q(int t, int n) { return 0x3D800000 | word(n) << 5 | word(t); }
/// st1 {vt.4s}, [xn]
constexpr word st1(int t, int n) { return 0x4C007800 | word(n) << 5 | word(t); }
/// ins vd.d[1], xn
constexpr word ins_x(int d, int n) { return 0x4E181C00 | word(n) << 5 | word(d); }
/// ldr xt, [xn, #offset]
constexpr word ldr_x(int t, int n, int offset = 0) {
  return 0xF9400000 | word(offset / 8) << 10 | word(n) << 5 | word(t);
}
/// add xd, xn, #value
constexpr word add(int d, int n, int value) { return 0x91000000 | word(value) << 10 | word(n) << 5 | word(d); }
/// add xd, xn, xm, lsl #shift
constexpr word add_x(int d, int n, int m, int shift) { return three(0x8B000000, d, n, m) | word(shift) << 10; }
/// mov xd, #value
constexpr word mov(int d, int value) { return 0xD2800000 | word(value) << 5 | word(d); }
/// mul xd, xn, xm
constexpr word mul(int d, int n, int m) { return three(0x9B007C00, d, n, m); }
/// lsl xd, xn, #shift
constexpr word lsl(int d, int n, int shift) {
  return 0xD3400000 | word(64 - shift) << 16 | word(63 - shift) << 10 | word(n) << 5 | word(d);
}
/// sub xd, xn, xm, lsl #shift
constexpr word sub_x(int d, int n, int m, int shift) { return three(0xCB000000, d, n, m) | word(shift) << 10; }
/// add xd, xn, wm, sxtw #shift
constexpr word add_sxtw(int d, int n, int m, int shift) { return three(0x8B20C000, d, n, m) | word(shift) << 10; }
/// sxtw xd, wn
constexpr word sxtw(int d, int n) { return 0x93407C00 | word(n) << 5 | word(d); }
/// bic xd, xn, xm
constexpr word bic(int d, int n, int m) { return three(0x8A200000, d, n, m); }
/// udiv xd, xn, xm
constexpr word udiv(int d, int n, int m) { return three(0x9AC00800, d, n, m); }
/// sdiv wd, wn, wm
constexpr word sdiv_w(int d, int n, int m) { return three(0x1AC00C00, d, n, m); }
/// lsl xd, xn, xm
constexpr word lsl_x(int d, int n, int m) { return three(0x9AC02000, d, n, m); }
/// asr wd, wn, wm
constexpr word asr_w(int d, int n, int m) { return three(0x1AC02800, d, n, m); }
/// and xd, xn, #constant, which N, `immr` and `imms` encode
constexpr word and_constant(int d, int n, int n_immr_imms) {
  return 0x92000000 | word(n_immr_imms) << 10 | word(n) << 5 | word(d);
}
/// cmp xn, #value
constexpr word cmp(int n, int value) { return 0xF100001F | word(value) << 10 | word(n) << 5; }
/// cmp wn, wm
constexpr word cmp_w(int n, int m) { return three(0x6B00001F, 0, n, m); }
/// csel xd, xn, xm, condition
constexpr word csel(int d, int n, int m, int condition) { return three(0x9A800000, d, n, m) | word(condition) << 12; }
/// csneg xd, xn, xm, condition
constexpr word csneg(int d, int n, int m, int condition) { return three(0xDA800400, d, n, m) | word(condition) << 12; }
/// ldp xt, xu, [xn]
constexpr word ldp_x(int t, int u, int n) { return 0xA9400000 | word(u) << 10 | word(n) << 5 | word(t); }
/// prfm pldl1keep, [xn, #offset]
constexpr word prfm(int n, int offset) { return 0xF9800000 | word(offset / 8) << 10 | word(n) << 5; }
/// prfm pldl2keep, [xn, xm]
constexpr word prfm_l2(int n, int m) { return three(0xF8A06802, 0, n, m); }
/// b.ne to itself
constexpr word b_ne = 0x54000001;
/// svc #0
constexpr word svc = 0xD4000001;

/// `count` copies of word(k), k from `first`.
template <class Word>
program several(int count, Word word, int first = 0) {
  program all;
  for (int k = 0; k < count; ++k) all.push_back(word(first + k));
  return all;
}
inline program operator+(program a, program const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace words
