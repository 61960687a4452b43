// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What plan and tuner know of every structure, in units, equals what they knew when every question was a switch over
// structures: the table below was printed before the units. (A change of the cost models changes its cycles and bytes.)
#include <ago/expression/notation.hpp>
#include <ago/plan/predicted_time.hpp>
#include <ago/plan/regions.hpp>
#include <ago/plan/split_along.hpp>
#include <ago/tuner/tile_options.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <type_traits>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

inline constexpr auto product = expression::compute("product", [](expression::operand a, expression::operand b) {
  expression::var i, j, k;
  return expression::result(i, j) = expression::sum(k)(a(i, k) * b(k, j));
})(expression::extents(40, 24), expression::extents(24, 32));

bool is_any_of(structure what, auto... others) { return ((what == others) || ...); }

/// A step of this structure over `images` images of 8x10 pixels.
planned_step step_of(structure what, int images) {
  using enum structure;
  planned_step p;
  p.key = {.what = what, .target = isa::avx2, .tile = {6, 2}};
  planned_data& d = p.data;
  d.in = d.out = {images, 8, 10, 24};
  window const square{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  if (is_any_of(what, pointwise, convolution, im2col, winograd_2, winograd_4)) d.out.c = 32;
  if (is_any_of(what, convolution, depthwise, max_pool, avg_pool, im2col, winograd_2, winograd_4)) d.win = square;
  if (what == convolution) d.groups = 2;
  if (what == depthwise) p.key.tile = {5, 2}, p.key.kernel_h = 3;
  if (is_any_of(what, global_max_pool, global_avg_pool)) d.out.h = d.out.w = 1;
  if (is_any_of(what, matmul, attention_scores, attention_values, attention)) {
    d.other_shape = d.in;
    d.groups = what == matmul ? 1 : 2;
    d.other[0] = d.other[1] = {place::area::arena, 0, 5000, 24};
  }
  if (what == embedding) d.groups = 100, d.in.c = 1;
  if (what == reduction) d.out.c = 1;
  if (is_any_of(what, contraction, nest)) {
    p.key.described = &product.expressions[0];
    p.key.weight_operand = what == contraction ? 1 : -1;
  }
  d.source = {place::area::arena, 0, 1000, d.in.c};
  d.destination = {place::area::arena, 0, 3000, d.out.c};
  p.key.after.stages[0] = {.kind = op::add};
  d.after[0].operand = {place::area::arena, 0, 7000, d.out.c};
  return p;
}

class answers {
 public:
  explicit answers(planned_step const& p) : p_(p) {
    text_ << name_of(p.key.what) << " x" << p.data.out.n << ':';
    packing();
    time();
    bytes();
    for (split const how : {split::images, split::rows, split::pixels, split::channels}) cut(how);
    tuner();
  }
  std::string text() const { return text_.str(); }

 private:
  void packing() {
    text_ << (multiplies(p_.key.what) ? " multiplies" : "");
    if (packs_weights(p_.key)) text_ << " packs " << packed_floats(p_.key, p_.data);
  }
  void time() {
    text_ << " cycles " << long(kernel::cycles_of(p_.key, p_.data, {}, {}) + .5);
    long const of_rows = long(kernel::cycles_of(p_.key, p_.data, {tiling::rows, 2}, {}) + .5);
    text_ << '/' << of_rows << " in order " << plan::in_order_factor(p_, {.in_order = true});
  }
  void bytes() {
    partition::step_reuse r;
    plan::add_step(r, p_, 4 * p_.data.in.count());
    std::int64_t sum = r.weights + 3 * r.scratch;
    for (int i = 0; i < r.count; ++i) sum += (i + 1) * (r.again[i].bytes * 7 + r.again[i].distance);
    text_ << " bytes " << sum << ' ' << int(plan::loops_of(p_, 0).what);
  }
  void cut(split how) {
    int const granule = plan::granule_of(&p_, 1, {}, how);
    text_ << ' ' << name_of(how)[0] << granule;
    if (how == split::pixels && plan::cut_of_pixels(p_).anywhere) text_ << '!';
    if (granule == 0) return;
    step_split const s{how, 2, granule};
    planned_data const d = piece_of(&p_, 1, s, 1, {}).part[0];
    long of_pieces =
        d.source.offset + 2 * d.destination.offset + 3L * d.other[0].offset + 5L * d.after[0].operand.offset;
    of_pieces += 7L * (d.in.n + d.in.h + d.in.w + d.in.c) + 11L * (d.out.n + d.out.h + d.out.w + d.out.c);
    of_pieces += 13L * d.other_shape.n + 17L * d.portion.first + 19L * d.portion.last + 23L * d.groups;
    of_pieces += 29L * d.channels.first + 31L * d.channels.last + 37L * d.win.pad_top;
    shape const alike = p_.data.out, one{1, 1, 1, p_.data.out.c};
    of_pieces += sum_of(written_by_piece(&p_, 1, s, 1)) + 41 * sum_of(read_by_piece(&p_, 1, s, 1)) +
                 43 * sum_of(read_beside(&p_, 1, s, 1, 0, alike)) + 47 * sum_of(read_beside(&p_, 1, s, 1, 0, one));
    text_ << '(' << of_pieces << ' ' << long(plan::longest_piece(&p_, 1, {}, s, then)) << ')';
  }
  static long sum_of(value_region const& r) {
    return r.first_pixel + 3 * r.last_pixel + 5 * r.first_channel + 7 * r.last_channel;
  }
  void tuner() {
    for (plan::tile_options const& tiles : {tuner::tiles_of(p_), tuner::repacked_tiles_of(p_)}) {
      text_ << " t" << tiles.count;
      if (tiles.count > 0) text_ << ' ' << tiles.option[0].pixels << 'x' << tiles.option[0].vectors;
    }
    plan::block_options const blocks = tuner::blocks_of(p_);
    text_ << " b" << blocks.count;
    if (blocks.count > 0) text_ << ' ' << blocks.block[blocks.count - 1];
  }

  static constexpr device then{.line_from_l2 = 7, .line_from_memory = 12};  // the default when this was recorded
  planned_step const& p_;
  std::ostringstream text_;
};

constexpr char const* expected[] = {
    "pointwise x1: multiplies packs 800 cycles 20542/21109 in order 1 bytes 658788 0 i0 r0 p6(105075"
    " 11785) c16(95687 12010) t6 5x2 t1 4x3 b1 1",
    "pointwise x2: multiplies packs 800 cycles 40067/42218 in order 1 bytes 1307816 0 i0 r0 p6(138255"
    " 22680) c16(116105 23213) t6 5x2 t1 4x3 b1 1",
    "convolution x1: multiplies packs 3488 cycles 106793/106793 in order 1.5 bytes 1524352 1 i1(90771"
    " 110849) r1(103339 56912) p0 c16(70851 110849) t6 4x2 t0 b0",
    "convolution x2: multiplies packs 3488 cycles 213586/213586 in order 1.5 bytes 3010327 1 i1(137811"
    " 110849) r0 p0 c16(80709 219082) t6 4x2 t0 b0",
    "depthwise x1: multiplies packs 240 cycles 11520/11520 in order 1 bytes 60480 2 i1(85564 13140)"
    " r2(95892 6840) p0 c8(89940 9240) t6 5x1 t0 b2 2",
    "depthwise x2: multiplies packs 240 cycles 23040/23040 in order 1 bytes 114240 2 i1(128124 13140) r0"
    " p0 c8(110358 18360) t6 5x1 t0 b2 2",
    "max_pool x1: cycles 8640/8640 in order 4.5 bytes 0 3 i1(85564 10080) r1(95892 5220) p0 c0 t0 t0 b0",
    "max_pool x2: cycles 17280/17280 in order 4.5 bytes 0 3 i1(128124 10080) r0 p0 c0 t0 t0 b0",
    "avg_pool x1: cycles 8640/8640 in order 4.5 bytes 0 3 i1(85564 10080) r1(95892 5220) p0 c0 t0 t0 b0",
    "avg_pool x2: cycles 17280/17280 in order 4.5 bytes 0 3 i1(128124 10080) r0 p0 c0 t0 t0 b0",
    "global_max_pool x1: cycles 972/972 in order 4.5 bytes 0 3 i1(74923 2412) r0 p0 c16(85323 1608) t0 t0 b0",
    "global_max_pool x2: cycles 1944/1944 in order 4.5 bytes 0 3 i1(90307 2412) r0 p0 c16(91553 3216) t0 t0 b0",
    "global_avg_pool x1: cycles 972/972 in order 4.5 bytes 0 3 i1(74923 2412) r0 p0 c16(85323 1608) t0 t0 b0",
    "global_avg_pool x2: cycles 1944/1944 in order 4.5 bytes 0 3 i1(90307 2412) r0 p0 c16(91553 3216) t0 t0 b0",
    "elementwise x1: cycles 1920/1920 in order 1 bytes 0 3 i1(85527 3360) r0 p8!(97021 1680) c0 t0 t0 b0",
    "elementwise x2: cycles 3840/3840 in order 1 bytes 0 3 i1(128087 3360) r0 p8!(129221 3360) c0 t0 t0 b0",
    "from_nchw x1: cycles 1920/1920 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "from_nchw x2: cycles 3840/3840 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "to_nchw x1: cycles 1920/1920 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "to_nchw x2: cycles 3840/3840 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "im2col x1: multiplies packs 6944 cycles 179447/179447 in order 1 bytes 5900716 0 i3(90748 186095)"
    " r3(100004 122316) p0 c16(95724 93767) t0 t0 b0",
    "im2col x2: multiplies packs 6944 cycles 349774/349774 in order 1 bytes 11721782 0 i3(111166 357861)"
    " r0 p0 c16(116142 180370) t0 t0 b0",
    "winograd_2 x1: multiplies packs 12320 cycles 87712/87712 in order 1 bytes 1709376 3 i0 r0 p6(92622"
    " 69208) c16(92284 56716) t0 t0 b0",
    "winograd_2 x2: multiplies packs 12320 cycles 171424/171424 in order 1 bytes 3276096 3 i0 r0"
    " p6(111528 101752) c16(112702 104812) t0 t0 b0",
    "winograd_4 x1: multiplies packs 27680 cycles 72304/72304 in order 1 bytes 1334336 3 i0 r0 p6(90862"
    " 94504) c16(92284 54652) t0 t0 b0",
    "winograd_4 x2: multiplies packs 27680 cycles 140608/140608 in order 1 bytes 2435648 3 i0 r0"
    " p6(110792 95944) c16(112702 94924) t0 t0 b0",
    "matmul x1: multiplies cycles 13440/13440 in order 1 bytes 931392 3 i0 r0 p0 c0 t0 t0 b0",
    "matmul x2: multiplies cycles 26880/26880 in order 1 bytes 1834560 3 i0 r0 p0 c0 t0 t0 b0",
    "attention_scores x1: multiplies cycles 40320/40320 in order 1 bytes 2281280 3 i0 r0 p0 c0 t0 t0 b0",
    "attention_scores x2: multiplies cycles 80640/80640 in order 1 bytes 4485440 3 i0 r0 p0 c0 t0 t0 b0",
    "attention_values x1: multiplies cycles 9600/9600 in order 1 bytes 623488 3 i0 r0 p0 c0 t0 t0 b0",
    "attention_values x2: multiplies cycles 19200/19200 in order 1 bytes 1225600 3 i0 r0 p0 c0 t0 t0 b0",
    "attention x1: multiplies cycles 136000/136000 in order 1 bytes 5258880 3 i1(100550 137440) r0 p0"
    " c12(108495 68720) t0 t0 b0",
    "attention x2: multiplies cycles 272000/272000 in order 1 bytes 10401920 3 i1(145430 137440) r0 p0"
    " c12(128926 137440) t0 t0 b0",
    "softmax x1: cycles 11840/11840 in order 1 bytes 0 3 i0 r0 p8!(97021 6640) c0 t0 t0 b0",
    "softmax x2: cycles 23680/23680 in order 1 bytes 0 3 i0 r0 p8!(129221 13280) c0 t0 t0 b0",
    "layer_norm x1: packs 48 cycles 19280/19280 in order 1 bytes 192 3 i0 r0 p8!(97021 10396) c0 t0 t0 b0",
    "layer_norm x2: packs 48 cycles 38560/38560 in order 1 bytes 192 3 i0 r0 p8!(129221 20756) c0 t0 t0 b0",
    "copy x1: cycles 1920/1920 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "copy x2: cycles 3840/3840 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "pad x1: cycles 1920/1920 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "pad x2: cycles 3840/3840 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "resize_nearest x1: cycles 1920/1920 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "resize_nearest x2: cycles 3840/3840 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "resize_bilinear x1: cycles 1920/1920 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "resize_bilinear x2: cycles 3840/3840 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "embedding x1: packs 2400 cycles 1000/1000 in order 1 bytes 9600 3 i0 r0 p0 c0 t0 t0 b0",
    "embedding x2: packs 2400 cycles 2000/2000 in order 1 bytes 9600 3 i0 r0 p0 c0 t0 t0 b0",
    "reduction x1: cycles 1000/1000 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "reduction x2: cycles 2000/2000 in order 1 bytes 0 3 i0 r0 p0 c0 t0 t0 b0",
    "contraction x1: multiplies packs 768 cycles 8640/8640 in order 1 bytes 3072 3 i0 r0 p6(86185 6768)"
    " c0 t6 5x2 t0 b0",
    "contraction x2: multiplies packs 768 cycles 9600/9600 in order 1 bytes 3072 3 i0 r0 p6(106363 8736)"
    " c0 t6 5x2 t0 b0",
    "nest x1: cycles 62400/62400 in order 1 bytes 0 3 i0 r0 p1(86219 32640) c0 t0 t0 b0",
    "nest x2: cycles 63360/63360 in order 1 bytes 0 3 i0 r0 p1(106397 34560) c0 t0 t0 b0",
};

}  // namespace

TEST_CASE("every structure has the facts that it had before there were units") {
  int line = 0;
  for (int what = 0; what <= int(structure::nest); ++what)
    for (int const images : {1, 2}) {
      std::string const found = answers(step_of(structure(what), images)).text();
      CHECK(found == expected[line]);
      ++line;
    }
  CHECK(line == int(std::size(expected)));
}

TEST_CASE("a structure that no unit computes, or two, is noticed") {
  static_assert(kernel::covers_structures(kernel_units{}));
  static_assert(!kernel::covers_structures(unit_list<matrix_unit, depthwise_unit>{}));
  static_assert(![]<class... U>(unit_list<U...>) {
    return kernel::covers_structures(unit_list<U..., pool_unit>{});
  }(kernel_units{}));
  static_assert(std::is_same_v<unit_of<structure::im2col>, matrix_unit>);
  static_assert(std::is_void_v<unit_of<structure(structure_count)>>);
}

TEST_CASE("the structure that computes an operator directly comes before those that a schedule chooses") {
  static_assert(structure_of(op::conv2d) == structure::convolution);
  static_assert(algorithm_of(structure::convolution) == -1 && algorithm_of(structure::im2col) == 1);
  static_assert(algorithm_of(structure::winograd_4) == 4 && algorithm_of(structure::pointwise) == 0);
}
