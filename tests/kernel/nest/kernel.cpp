// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop nest computes what the reference executor computes.
#include <ago/kernel/nest/kernel.hpp>

#include <utility>

#include "kernel/drawn_expression.hpp"
#include "kernel/expression_support.hpp"

using namespace expression_kernel_test;

namespace {

template <index_expression const& E, isa I>
void check(unsigned seed, double tolerance = 1e-5) {
  static constexpr kernel_key key{.what = structure::nest, .target = I, .described = &E};
  operands const x(E, seed);
  test::numbers r(seed);
  test::guarded out(std::size_t(E.result.count()));
  planned_data s;
  s.out = shape_of(E.result, 1);
  s.source = {place::area::input, 0, 0, 1};
  s.destination = {place::area::output, 0, 0, s.out.c};
  std::vector<float const*> inputs;
  for (int i = 0; i < E.operand_count; ++i) inputs.push_back(x[i]);
  for (int i = 1; i < E.operand_count; ++i) s.other[i - 1] = {place::area::input, std::uint16_t(i), 0, 1};
  inputs.push_back(nullptr);
  for (index_range const& part : ranges(ago::expression::outermost_extent(E), r)) {
    s.portion = part;
    constexpr int front = 32;
    test::guarded arena(std::size_t(front + ago::kernel::layout_of_nest(key).turn.scratch_floats()));
    s.scratch = front;
    test::call<nest_kernel<key>>(s, nullptr, inputs, out.data(), arena.data());
    CHECK(arena.intact());
  }
  compare(out, x.result(E), tolerance);
}

template <unsigned Seed>
struct drawn_nest {
  static constexpr unsigned seed = Seed;
  static constexpr expression::definition all = drawn::any_nest(Seed);
  static constexpr index_expression of = all.expressions[0];
  static constexpr bool fits = all.bad.what == expression::fault::none;  ///< most indices stay inside
};

template <class Drawn, isa I>
void check_if_fits(unsigned seed, int& count) {
  if constexpr (Drawn::fits) {
    ++count;
    CAPTURE(seed);
    if constexpr (test::has_turn(I, Drawn::seed)) check<Drawn::of, I>(seed);
  }
}

template <unsigned First, unsigned... Seeds>
void check_drawn(std::integer_sequence<unsigned, Seeds...>) {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    int count = 0;
    (check_if_fits<drawn_nest<First + Seeds>, I>(First + Seeds, count), ...);
    CHECK(count > int(sizeof...(Seeds)) * 3 / 4);
  });
}

}  // namespace

TEST_CASE("a nest computes drawn expressions, whole or in ranges") {
  check_drawn<1>(std::make_integer_sequence<unsigned, 24>{});
}

namespace {

using namespace expression;

#define AGO_NEST(name, ...)                             \
  constexpr definition name##_definition = __VA_ARGS__; \
  constexpr index_expression name = name##_definition.expressions[0]

// Along a fold: sums of rows, with a rest.
AGO_NEST(row_sums, compute("row_sums", [](operand x) {
           var i, j;
           return result(i) = sum(j)(exp(x(i, j)));
         })(extents(5, 203)));
AGO_NEST(all_maxima, compute("all_maxima", [](operand x) {
           var i, j;
           return result() = maximum(i, j)(abs(x(i, j)));
         })(extents(7, 19)));
AGO_NEST(lookup, compute("lookup", [](operand row, operand table) {
           var n, c;
           return result(n, c) = table(row(n), c);
         })(extents(9), extents(7, 37)));
AGO_NEST(pooled, compute("pooled", [](operand x) {
           var n, h, w, c, r{3}, s{3};
           return result(n, h, w, c) = maximum(r, s)(padded(x, -4)(n, h + r - 1, w + s - 1, c));
         })(extents(2, 5, 6, 21)));
// col2im: of all points of windows, and of every second one. Half of those are outside.
AGO_NEST(summed_windows, compute("summed_windows", [](operand x) {
           var n, h{8}, w{7}, c, r{3}, s{3};
           return result(n, h, w, c) = sum(r, s)(padded(x, 0)(n, h - r, w - s, r, s, c));
         })(extents(2, 6, 5, 3, 3, 6)));
AGO_NEST(summed_phases, compute("summed_phases", [](operand x) {
           var h{14}, w{12}, c, r{2}, s{2};
           return result(h, w, c) =
                      sum(r, s)(padded(x, 0)(h / 2 - r, w / 2 + s - 1, 2 * r + h % 2, 3 - 2 * s - w % 2, c));
         })(extents(6, 7, 3, 3, 21)));
// Every third row; and sums of nothing, where all of a window is outside.
AGO_NEST(far_windows, compute("far_windows", [](operand x) {
           var i{40}, c, r{5};
           return result(i, c) = 1 + sum(r)(padded(x, 0)(3 * r - i + 7, c));
         })(extents(4, 5)));
AGO_NEST(least_windows, compute("least_windows", [](operand x) {
           var i{9}, c, r{3};
           return result(i, c) = minimum(r)(padded(x, __builtin_huge_val())(i - r, c));
         })(extents(7, 19)));
// The same axis in another fold, whose iterations all count.
AGO_NEST(two_folds, compute("two_folds", [](operand x, operand y) {
           var i{9}, c, r{3};
           return result(i, c) = sum(r)(padded(x, 0)(i - r, c)) + sum(r)(y(r, c));
         })(extents(7, 19), extents(3, 19)));
// Products in the order of weights, which are copied with channels in front, a few at a time; and sums of what is far
// apart. Others are in order, have a longer run along the fold, or something else to compute.
AGO_NEST(turned_windows, compute("turned_windows", [](operand x) {
           var n, h{8}, w{7}, c, r{3}, s{3};
           return result(n, h, w, c) = sum(r, s)(padded(x, 0)(n, h - r, w - s, c, r, s));
         })(extents(2, 6, 5, 53, 3, 3)));
AGO_NEST(turned_sums, compute("turned_sums", [](operand x) {
           var i, c, k;
           return result(i, c) = sum(k)(x(c, i, k));
         })(extents(37, 5, 3)));
AGO_NEST(turned_maxima, compute("turned_maxima", [](operand x) {
           var i, j, c, k, l;
           return result(i, j, c) = maximum(k, l)(x(i, l, c, k, j));
         })(extents(2, 3, 16, 2, 5)));
AGO_NEST(long_runs, compute("long_runs", [](operand x) {
           var i, c, k;
           return result(i, c) = sum(k)(x(c, i, k));
         })(extents(19, 3, 200)));
AGO_NEST(running, compute("running", [](operand x) {
           var i{x.extent(0)}, j{x.extent(0)};
           return result(i) = sum(j)(select(j <= i, x(j), x.number(0)));
         })(extents(40)));
AGO_NEST(shuffled, compute("shuffled", [](operand x) {
           var i, c{24};
           return result(i, c) = x(i, c % 4 * 6 + c / 4);
         })(extents(11, 24)));
// Every second pixel of the last row and column lies outside, where quotients have no place among the loops.
AGO_NEST(doubled, compute("doubled", [](operand x) {
           var i{5}, j{5}, c;
           return result(i, j, c) =
                      select(padded(x, -1)(i / 2, j / 2, c) < 0, x.number(2), padded(x, -1)(i / 2, j / 2, c));
         })(extents(2, 2, 12)));
AGO_NEST(three_axes, compute("three_axes", [](operand x, operand y) {
           var i, j, k;
           return result(i, j, k) = x(i, j, k) * y(i, j, k) + 1;
         })(extents(6, 7, 3), extents(6, 7, 3)));
// Two folds in one pass: of 3 x 5 channels, and of so many that some rows are added to all of them at a time.
AGO_NEST(extremes, compute("extremes", [](operand x) {
           var i, which{2}, j, k;
           return result(i, which, k) = select(which == 0, sum(j)(x(i, j, k)), maximum(j)(abs(x(i, j, k))));
         })(extents(3, 4, 5)));
AGO_NEST(moments, compute("moments", [](operand x, operand mean) {
           var which{2}, i, c;
           scalar const y = x(i, c) - mean(c);
           return result(which, c) = select(which == 0, sum(i)(y), sum(i)(y * y));
         })(extents(10, 331), extents(331)));
AGO_NEST(centred, compute("centred", [](operand x) {
           var i, j, k;
           return result(i, j) = x(i, j) - sum(k)(x(i, k)) / 21;
         })(extents(6, 21)));

AGO_NEST(many_pixels, compute("many_pixels", [](operand x) {
           var i, c, which{2};
           scalar const y = x(i, c) * x(i, c) + .1;
           return result(which, c) = select(which == 0, sum(i)(y), sum(i)(y * y));
         })(extents(30011, 19)));

AGO_NEST(sum_and_maximum, compute("sum_and_maximum", [](operand x) {
           var i, c, which{2};
           return result(which, c) = select(which == 0, sum(i)(x(i, c)), maximum(i)(x(i, c) - 3));
         })(extents(331, 19)));

// Both factors are larger than L2: one is read from end to end, of the other every second pixel. Nobody runs them.
constexpr expression::definition long_sums = compute("long_sums", [](operand x, operand y, operand scale) {
  var i, c;
  return result(c) = sum(i)(scale(c) * maximum(x(i, c), y(2 * i, c)));
})(extents(9000, 40), extents(18000, 40), extents(40));

template <long Turn, index_expression const& E>
void check_in_turn() {
  test::for_each_isa_in_turn<Turn>([]<isa I>(std::integral_constant<isa, I>) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      CAPTURE(seed);
      check<E, I>(seed);
    }
  });
}

}  // namespace

TEST_CASE("a nest computes reductions, look-ups, windows, running sums, permutations, and folds inside of arithmetic") {
  check_in_turn<0, row_sums>();
  check_in_turn<1, all_maxima>();
  check_in_turn<2, lookup>();
  check_in_turn<3, pooled>();
  check_in_turn<4, running>();
  check_in_turn<5, shuffled>();
  check_in_turn<6, doubled>();
  check_in_turn<7, three_axes>();
  check_in_turn<8, centred>();
  check_in_turn<9, extremes>();
  check_in_turn<10, moments>();
  static_assert(ago::kernel::layout_of_nest(row_sums, isa::avx2).along_fold);
  static_assert(!ago::kernel::layout_of_nest(pooled, isa::avx2).along_fold);
  static_assert(ago::kernel::layout_of_nest(extremes, isa::avx2).pair_loop == 1 &&
                ago::kernel::layout_of_nest(moments, isa::avx2).pair_loop == 0);
  static_assert(ago::kernel::layout_of_nest(moments, isa::avx2).block_loop >= 0 &&
                ago::kernel::layout_of_nest(extremes, isa::avx2).block_loop < 0);
  static_assert(ago::kernel::layout_of_nest(three_axes, isa::avx2).count == 1);  // neighbouring loops are one
}
TEST_CASE("windows are summed without their points outside") {
  check_in_turn<0, summed_windows>();
  check_in_turn<1, summed_phases>();
  check_in_turn<2, far_windows>();
  check_in_turn<3, least_windows>();
  check_in_turn<4, two_folds>();
  constexpr auto limits = [](index_expression const& e) {
    ago::kernel::nest_layout const l = ago::kernel::layout_of_nest(e, isa::avx2);
    int count = 0;
    for (int a = 0; a < e.body.access_count; ++a)
      for (int d = 0; d < e.body.accesses[a].rank; ++d) count += l.limited_by[a][d] >= 0;
    return count;
  };
  static_assert(limits(summed_windows) == 2 && limits(summed_phases) == 4 && limits(far_windows) == 1 &&
                limits(least_windows) == 1 && limits(two_folds) == 1);
  static_assert(limits(pooled) == 0);  // its padding is no lower than all elements
}
TEST_CASE("operands whose elements are far apart in the lanes are copied, so many lanes at a time as stay in L2") {
  check_in_turn<0, turned_windows>();
  check_in_turn<1, turned_sums>();
  check_in_turn<2, turned_maxima>();
  check_in_turn<3, long_runs>();
  constexpr auto turn = [](index_expression const& e, isa target = isa::avx2) {
    return ago::kernel::layout_of_nest(e, target).turn;
  };
  static_assert(turn(turned_windows).dimension == 3 && turn(turned_windows).lanes == 32);
  static_assert(turn(turned_windows).outer == 60 && turn(turned_windows).inner == 9);
  static_assert(turn(turned_windows, isa::avx512).lanes == 32);
  static_assert(turn(turned_sums).dimension == 0 && turn(turned_maxima).dimension == 2);
  static_assert(!turn(long_runs).turns() && !turn(summed_windows).turns() &&
                !turn(turned_windows, isa::scalar).turns());
  constexpr device small{.l2_bytes = 1 << 15};
  static_assert(ago::kernel::turn_of_nest(turned_windows, isa::avx2, small).lanes == 8);
}
TEST_CASE("errors of rounding do not add up along long sums, which are sums of parts") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    if constexpr (lanes(I) > 1 && test::has_turn(I, 0)) check<many_pixels, I>(0, 4e-6);
  });
  check_in_turn<0, sum_and_maximum>();
  constexpr auto has_parts = [](index_expression const& e) {
    ago::kernel::nest_layout const l = ago::kernel::layout_of_nest(e, isa::avx512);
    return l.block_loop >= 0 && !l.blocks_in_result;
  };
  static_assert(has_parts(many_pixels) && has_parts(sum_and_maximum) && !has_parts(moments));
  static_assert(ago::kernel::layout_of_nest(sum_and_maximum, isa::avx512).pair_loop == 0);
}
TEST_CASE("what is read from end to end and larger than L2 is prefetched") {
  constexpr index_expression const& e = long_sums.expressions[0];
  constexpr ago::kernel::nest_layout layout = ago::kernel::layout_of_nest(e, isa::avx2);
  int streams = 0;
  for (int a = 0; a < e.body.access_count; ++a) {
    CAPTURE(a);
    CHECK(layout.is_streamed[a] == (e.operands[e.body.accesses[a].operand].of[0] == 9000));
    streams += layout.is_streamed[a];
  }
  CHECK(streams == 1);
  CHECK(!ago::kernel::layout_of_nest(moments, isa::avx2).is_streamed[0]);
}
