// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products equal those of the reference executor, whose operands make them exact.
#include <ago/kernel/contraction/kernel.hpp>

#include <utility>

#include "expression/operators.hpp"
#include "kernel/drawn_expression.hpp"
#include "kernel/expression_support.hpp"

using namespace expression_kernel_test;

namespace {

/// `weights`: the operand that is packed ahead, or -1.
template <index_expression const& E, isa I, op... Stages>
constexpr kernel_key key_of(int weights, factor_layout how = factor_layout::chosen) {
  kernel_key k{.what = structure::contraction, .target = I, .described = &E};
  k.weight_operand = std::int8_t(weights);
  k.factors = how;
  int i = 0;
  ((k.after.stages[i++].kind = Stages), ...);
  return k;
}

template <kernel_key K>
void run(planned_data& s, index_expression const& e, operands const& x, std::vector<float const*> inputs,
         test::guarded& out, test::numbers& r) {
  constexpr contraction_layout L = ago::kernel::layout_of_contraction(K);
  constexpr int w = K.weight_operand;
  test::aligned weights(std::size_t(L.packed_floats() + padded(s.out.c, K.target)));
  if (w >= 0) pack_contraction<K.target>(L, e, x[w], weights.data());
  for (int i = 0, value = 0; i < e.operand_count; ++i) {
    if (i == w) continue;
    (value == 0 ? s.source : s.other[value - 1]) = place{place::area::input, std::uint16_t(inputs.size()), 0, 1};
    inputs.push_back(x[i]);
    ++value;
  }
  constexpr int front = 32;
  test::guarded arena(std::size_t(front + L.scratch_floats()));
  s.scratch = front;
  s.destination = {place::area::output, 0, 0, s.out.c};
  constexpr epilogue after = K.after;  // clang 14 reads K at run time wrongly if it has a pointer
  for (int i = 0; i < after.count(); ++i)
    if (after.stages[i].kind == op::bias) {
      s.after[i].parameters = int(L.packed_floats());
      for (int c = 0; c < padded(s.out.c, K.target); ++c) weights.data()[L.packed_floats() + c] = float(c % 5) - 2;
    }
  float* outputs[] = {out.data()};
  for (index_range const& part : ranges(int(L.all_rows()), r)) {
    s.portion = part;
    for (std::size_t i = front; i < arena.size(); ++i) arena[i] = std::numeric_limits<float>::quiet_NaN();
    contraction_kernel<K>::run(s, kernel_memory{{weights.data(), arena.data(), inputs.data(), outputs}, s.tables()});
  }
  bool good = arena.intact();
  for (std::size_t i = 0; i < front; ++i) good = good && arena[i] == test::guarded::canary;
  CHECK(good);
}

template <index_expression const& E, isa I, int Weights, factor_layout How = factor_layout::chosen>
void check(unsigned seed) {
  CAPTURE(Weights);
  operands const x(E, seed);
  test::numbers r(seed);
  test::guarded out(std::size_t(E.result.count()));
  planned_data s;
  s.out = shape_of(E.result, 1);
  run<key_of<E, I>(Weights, How)>(s, E, x, {}, out, r);
  compare(out, x.result(E), 0);
}

/// Operand Made of E, computed by elementwise operators from a source whose pixels have gaps or none: 2 * max(x, 0) for
/// odd channels, and -max(x, 0) for even ones.
template <index_expression const& E, isa I, int Made>
class made_test {
 public:
  static constexpr kernel_key elementwise{
      .what = structure::elementwise, .target = I, .after = {{{.kind = op::relu}, {.kind = op::mul}}}};

  explicit made_test(unsigned seed) : x(E, seed), numbers(seed), out(std::size_t(E.result.count())) {
    made_.in = made_.out = shape_of(E.operands[Made], 1);
    s_.out = shape_of(E.result, 1);
    s_.destination = {place::area::output, 0, 0, s_.out.c};
    int const channels = made_.out.c, stride = channels + numbers.integer(0, 2);
    auto const factor = [=](long k) { return k % channels % 2 ? 2.f : -1.f; };
    x.change(Made, [&](double v, long k) { return v < 0 ? 0. : v * double(factor(k)); });
    source_ = std::make_unique<test::guarded>(std::size_t((made_.out.pixels() - 1) * stride + channels));
    factors_ = std::make_unique<test::guarded>(std::size_t(channels));
    for (long p = 0; p < made_.out.pixels(); ++p)
      for (int c = 0; c < channels; ++c) (*source_)[std::size_t(p * stride + c)] = x[Made][p * channels + c];
    for (int c = 0; c < channels; ++c) (*factors_)[std::size_t(c)] = factor(c);
    inputs_ = {source_->data(), factors_->data()};
    made_.source = {place::area::input, 0, 0, stride};
    made_.after[1].operand = {place::area::input, 1, 0, 0};
    for (int i = 0; i < E.operand_count; ++i) {
      place const at = i == Made ? place{} : place{place::area::input, std::uint16_t(inputs_.size()), 0, 1};
      (i == 0 ? s_.source : s_.other[i - 1]) = at;
      if (i != Made) inputs_.push_back(x[i]);
    }
    details_[0] = made_;
    details_[1] = s_;
    stages_[1] = made_.after[1];
  }

  /// As the second part of a pipeline.
  void run_kernel() {
    constexpr kernel_key key = [] {
      kernel_key k = key_of<E, I>(-1);
      k.made_operand = Made;
      return k;
    }();
    constexpr contraction_layout L = ago::kernel::layout_of_contraction(key);
    in_arena(L, [&](kernel_memory const& m) {
      step_data parts[2] = {made_, s_};
      parts[1].details = 1;
      for (index_range const& part : ranges(int(L.all_rows()), numbers)) {
        parts[1].portion = part;
        contraction_kernel<key>::template run_after<elementwise>(parts[0], m);
      }
    });
  }
  /// With this layout.
  template <contraction_layout const& L>
  void run_product() {
    in_arena(L, [&](kernel_memory const& m) {
      ago::kernel::elementwise_source<elementwise> const made(made_, m);
      auto const at = [&](int i) { return i == Made ? made.begin() : x[i]; };
      using product = ago::kernel::contraction_product<L, I, form_of(key_of<E, I>(-1)), ago::kernel::no_epilogue>;
      product::run(E, {at(L.rows_operand), at(L.columns_operand), out.data(), m.arena}, {}, made, 0,
                   int(L.all_rows()));
    });
  }

 private:
  void in_arena(contraction_layout const& l, auto const& run) {
    test::guarded arena(std::size_t(l.scratch_floats()));
    for (std::size_t i = 0; i < arena.size(); ++i) arena[i] = std::numeric_limits<float>::quiet_NaN();
    float* outputs[] = {out.data()};
    run(kernel_memory{{nullptr, arena.data(), inputs_.data(), outputs}, {stages_, nullptr, details_}});
    CHECK(arena.intact());
    compare(out, x.result(E), 0);
  }

  operands x;
  test::numbers numbers;
  test::guarded out;
  std::unique_ptr<test::guarded> source_, factors_;
  std::vector<float const*> inputs_;
  planned_data made_, s_;
  step_details details_[2];
  stage_data stages_[2];
};

template <unsigned Seed>
struct drawn_product {
  static constexpr unsigned seed = Seed;
  static constexpr expression::definition all = drawn::any_product(Seed);
  static_assert(all.bad.what == expression::fault::none);
  static constexpr index_expression of = all.expressions[0];
  static constexpr bool counts = expression::matrix_form_of(of).why_not == expression::no_matrix::none;
};

template <class Drawn, isa I, int Weights>
void check_if_product(unsigned seed, int& count) {
  if constexpr (Drawn::counts) {
    ++count;
    CAPTURE(seed);
    if constexpr (test::has_turn(I, Drawn::seed)) check<Drawn::of, I, Weights>(seed);
  }
}

template <unsigned... Seeds>
void check_drawn(std::integer_sequence<unsigned, Seeds...>) {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    int count = 0;
    (check_if_product<drawn_product<Seeds>, I, int(Seeds % 3) - 1>(Seeds, count), ...);
    CHECK(count > int(sizeof...(Seeds)) / 2);
  });
}

template <class Drawn, isa I>
void check_if_made(unsigned seed) {
  if constexpr (Drawn::counts && test::has_turn(I, Drawn::seed)) {
    CAPTURE(seed);
    made_test<Drawn::of, I, int(Drawn::seed % 2)>(seed).run_kernel();
  }
}
template <unsigned... Seeds>
void check_made_drawn(std::integer_sequence<unsigned, Seeds...>) {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    (check_if_made<drawn_product<Seeds>, I>(Seeds), ...);
  });
}

}  // namespace

TEST_CASE("a contraction computes drawn sums of products, whole or in ranges of rows") {
  check_drawn(std::make_integer_sequence<unsigned, 18>{});
}

TEST_CASE("a contraction takes an operand that elementwise operators compute where it copies it") {
  check_made_drawn(std::make_integer_sequence<unsigned, 12>{});
}

namespace {

using namespace operators;
using expression::extents;

// Rows in several blocks of K, few of them left over.
constexpr expression::definition deep = matrix_product(extents(17, 1100), extents(1100, 21));
constexpr index_expression deep_product = deep.expressions[0];
// Rows that are neighbours in memory, columns that are not, and a number.
constexpr expression::definition turned = compute("turned", [](operand a, operand b) {
  var i, j, k;
  return result(j, i) = sum(k)(.5 * a(k, i) * b(j, k));
})(extents(19, 45), extents(70, 19));
constexpr index_expression turned_product = turned.expressions[0];
// Runs of 8 and of 4 results.
constexpr expression::definition capsules = capsule_convolution(5, 3, 2)(extents(2, 3, 7, 8, 4, 4));
constexpr index_expression capsule_product = capsules.expressions[0];
constexpr expression::definition dilated = dilated_convolution(24, 3, 2, 2)(extents(2, 9, 8, 5));
constexpr index_expression dilated_product = dilated.expressions[0];
// Heads, in both factors.
constexpr expression::definition heads = compute("heads", [](operand q, operand k) {
  var n, h, i, j, c;
  return result(n, h, i, j) = sum(c)(q(n, i, h, c) * k(n, j, h, c));
})(extents(2, 13, 3, 10), extents(2, 18, 3, 10));
constexpr index_expression heads_product = heads.expressions[0];
// A convolution of planes: rows are neighbours in the result, columns are not.
constexpr expression::definition planes = compute("planes", [](operand x, weights p) {
  operand const w = p("w", 32, x.extent(0), 3, 3);
  var k, i, j, c, r, s;
  return result(k, i, j) = sum(c, r, s)(x(c, i + r, j + s) * w(k, c, r, s));
})(extents(12, 9, 11));
constexpr index_expression plane_product = planes.expressions[0];
// Likewise, and columns in two axes that are not equally spaced.
constexpr expression::definition parted = compute("parted", [](operand x, weights p) {
  operand const w = p("w", 5, 4, 40);
  var k, l, i, j, c;
  return result(k, i, l, j) = sum(c)(x(i, c, j) * w(k, l, c));
})(extents(3, 40, 33));
constexpr index_expression parted_product = parted.expressions[0];
// One element times itself, shifted: the same operand twice.
constexpr expression::definition shifted = compute("shifted", [](operand x) {
  var i{9}, j{40}, k{30};
  return result(i, j) = sum(k)(x(i + k) * x(j + k));
})(extents(70));
constexpr index_expression shifted_product = shifted.expressions[0];

// Gradients of depthwise convolutions, whose channels are batches: of the weights, in blocks of K and with a scattered
// result, and of the input.
constexpr expression::definition taps = compute("taps", [](operand dy, operand x) {
  var n, h, w, c, r{3}, s{3};
  return result(c, r, s) = sum(n, h, w)(dy(n, h, w, c) * padded(x, 0)(n, h + r - 1, w + s - 1, c));
})(extents(2, 5, 17, 53), extents(2, 5, 17, 53));
constexpr index_expression tap_product = taps.expressions[0];
constexpr expression::definition flipped = compute("flipped", [](operand dy, weights p) {
  operand const k = p("k", dy.extent(3), 3, 3);
  var n, h{dy.extent(1)}, w{dy.extent(2)}, c, r, s;
  return result(n, h, w, c) = sum(r, s)(.5 * padded(dy, 0)(n, h + 1 - r, w + 1 - s, c) * k(c, r, s));
})(extents(2, 4, 13, 37));
constexpr index_expression flipped_product = flipped.expressions[0];
constexpr expression::definition strided = compute("strided", [](operand dy, operand x) {
  var n, h, w, c, r{3}, s{3};
  return result(c, r, s) = sum(n, h, w)(dy(n, h, w, c) * padded(x, 0)(n, 2 * h + r - 1, 2 * w + s - 1, c));
})(extents(2, 5, 17, 21), extents(2, 10, 34, 21));
constexpr index_expression strided_product = strided.expressions[0];
// Few rows and columns, neither of which is one, and both factors are in another order.
constexpr expression::definition many = compute("many", [](operand a, operand b) {
  var z, i, j, k;
  return result(i, z, j) = sum(k)(a(i, k, z) * b(z, k, j));
})(extents(3, 7, 48), extents(48, 7, 5));
constexpr index_expression many_products = many.expressions[0];

// The gradient of a convolution's weights, whose columns are runs in another order than in the result.
constexpr expression::definition windows = compute("windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{3}, s{3};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * x(n, h + r, w + s, c));
})(extents(2, 7, 9, 11), extents(2, 9, 11, 6));
constexpr index_expression window_product = windows.expressions[0];

// Likewise with padding, in the order of the result: columns are copied with their channels in front.
constexpr expression::definition wide_windows = compute("wide_windows", [](operand dy, operand x) {
  var n, h, w, k, c, r{5}, s{5};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * padded(x, 0)(n, h + r - 1, w + s - 1, c));
})(extents(1, 6, 7, 24), extents(1, 8, 9, 18));
constexpr index_expression wide_window_product = wide_windows.expressions[0];
// Each channel from another place of the image, so that steps go back in one extent and forth in another.
constexpr expression::definition slanted = compute("slanted", [](operand dy, operand x) {
  var n, h, w, k, c{16}, r{5}, s{5};
  return result(k, c, r, s) = sum(n, h, w)(dy(n, h, w, k) * padded(x, 0)(n, h + r - 1, w + s - c + 14, c));
})(extents(1, 6, 7, 24), extents(1, 8, 24, 16));
constexpr index_expression slanted_product = slanted.expressions[0];
// Columns that are packed in panels, of which the next one is prefetched: by rows, and by columns.
constexpr expression::definition many_rows = matrix_product(extents(90, 70), extents(70, 150));
constexpr index_expression many_rows_product = many_rows.expressions[0];
constexpr expression::definition both_turned = compute("both_turned", [](operand a, operand b) {
  var i, j, k;
  return result(i, j) = sum(k)(a(k, i) * b(j, k));
})(extents(130, 45), extents(70, 130));
constexpr index_expression both_turned_product = both_turned.expressions[0];

// The gradient of a pointwise convolution's weights: both factors have channels as neighbours, and K is all pixels.
constexpr expression::definition pixels = compute("pixels", [](operand dy, operand x) {
  var n, h, w, k, c;
  return result(k, c) = sum(n, h, w)(dy(n, h, w, k) * x(n, h, w, c));
})(extents(2, 17, 19, 53), extents(2, 17, 19, 37));
constexpr index_expression pixel_product = pixels.expressions[0];

// Few rows, so that columns are read where they are: in blocks of K, and in batches, with a rest of the columns.
constexpr expression::definition few_rows = matrix_product(extents(19, 1900), extents(1900, 35));
constexpr index_expression few_rows_product = few_rows.expressions[0];
constexpr expression::definition rows_in_batches = compute("rows_in_batches", [](operand a, operand b) {
  var z, i, j, k;
  return result(z, i, j) = sum(k)(a(z, i, k) * b(k, z, j));
})(extents(5, 23, 9), extents(9, 5, 21));
constexpr index_expression rows_in_batches_product = rows_in_batches.expressions[0];

template <index_expression const& E, isa I>
constexpr contraction_layout layout_of_values = ago::kernel::layout_of_contraction(E, -1, I);
template <index_expression const& E, isa I>
constexpr bool product_fetches =
    ago::kernel::contraction_copies<layout_of_values<E, I>,
                                    I>::template product_fetches<layout_of_values<E, I>.panel()>;

template <index_expression const& E, isa I, int... Weights>
void check_with(std::integer_sequence<int, Weights...>) {
  auto const check_one = []<int W>(unsigned seed, std::integral_constant<int, W>) {
    if constexpr (test::has_turn(I, E.result.count() + W + 1)) check<E, I, W>(seed);
  };
  for (unsigned seed = 0; seed < 2; ++seed) (check_one(seed, std::integral_constant<int, Weights>{}), ...);
}

constexpr device small_cache{.l2_bytes = 1 << 12};
template <index_expression const& E, isa I>
constexpr contraction_layout in_small_cache = ago::kernel::layout_of_contraction(E, -1, I, false, {}, small_cache);

template <index_expression const& E, isa I>
void check_in_small_cache() {
  constexpr contraction_layout const& L = in_small_cache<E, I>;
  operands const x(E, 1);
  test::guarded out(std::size_t(E.result.count())), scratch(std::size_t(L.scratch_floats()));
  using product =
      ago::kernel::contraction_product<in_small_cache<E, I>, I, form_of(key_of<E, I>(-1)), ago::kernel::no_epilogue>;
  product::run(E, {x[L.rows_operand], x[L.columns_operand], out.data(), scratch.data()}, {}, ago::kernel::plain_copy<I>{},
               0, int(L.all_rows()));
  CHECK(scratch.intact());
  compare(out, x.result(E), 0);
}

template <index_expression const& E, isa I, int Made>
constexpr contraction_layout making_in_small_cache =
    ago::kernel::layout_of_contraction(E, -1, I, false, {}, small_cache, factor_layout::chosen, Made);
/// Each operand in turn, in a large and in a small cache.
template <index_expression const& E, isa I>
void check_made() {
  CAPTURE(std::string(name_of(I)));
  auto const check_one = []<int Made>(std::integral_constant<int, Made>) {
    CAPTURE(Made);
    made_test<E, I, Made>(1).run_kernel();
    made_test<E, I, Made>(2).template run_product<making_in_small_cache<E, I, Made>>();
  };
  check_one(std::integral_constant<int, 0>{});
  if constexpr (E.operand_count > 1) check_one(std::integral_constant<int, 1>{});
}

template <index_expression const& E, isa I, op... Stages>
void check_stages(int inner) {
  static constexpr op stages[] = {Stages...};
  CAPTURE(inner);
  for (unsigned seed = 0; seed < 2; ++seed) {
    CAPTURE(seed);
    operands const x(E, seed);
    test::numbers r(seed);
    test::guarded out(std::size_t(E.result.count())), other(out.size());
    for (std::size_t i = 0; i < other.size(); ++i) other[i] = float(r.integer(-16, 16)) / 8;
    planned_data s;
    s.out = shape_of(E.result, inner);
    for (int i = 0; i < int(sizeof...(Stages)); ++i)
      if (is_binary(stages[i])) s.after[i].operand = {place::area::input, 0, 0, s.out.c};
    run<key_of<E, I, Stages...>(1)>(s, E, x, {other.data()}, out, r);
    std::vector<double> expected = x.result(E);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double& y = expected[i];
      for (op const kind : stages) {
        if (kind == op::bias) y += int(i) % s.out.c % 5 - 2;
        if (kind == op::add) y += double(other[i]);
        if (kind == op::relu) y = std::fmax(y, 0);
        if (kind == op::gelu) y *= .5 * (1 + std::erf(y / std::sqrt(2.)));
      }
    }
    compare(out, expected, 1e-6);
  }
}

}  // namespace

TEST_CASE("operands of products of batches are copied with their padding a few rows at a time") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    check_in_small_cache<tap_product, I>();
    check_in_small_cache<strided_product, I>();
    check_in_small_cache<flipped_product, I>();
  });
  static_assert(in_small_cache<tap_product, isa::avx512>.columns_window == 6);
  static_assert(in_small_cache<strided_product, isa::avx512>.columns_window == 6);
  static_assert(in_small_cache<flipped_product, isa::avx512>.rows_window == 6);
}

TEST_CASE("a contraction takes deep sums, scattered results, padding, batches, and one operand twice") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    check_with<deep_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<turned_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<capsule_product, I>(std::integer_sequence<int, -1, 1>{});
    check_with<dilated_product, I>(std::integer_sequence<int, -1, 1>{});
    check_with<heads_product, I>(std::integer_sequence<int, -1, 0>{});
    check_with<plane_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<parted_product, I>(std::integer_sequence<int, -1, 1>{});
    check_with<shifted_product, I>(std::integer_sequence<int, -1>{});
    check_with<few_rows_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<rows_in_batches_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<tap_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<flipped_product, I>(std::integer_sequence<int, -1, 1>{});
    check_with<many_products, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<window_product, I>(std::integer_sequence<int, -1>{});
    check_with<wide_window_product, I>(std::integer_sequence<int, -1>{});
    check_with<slanted_product, I>(std::integer_sequence<int, -1>{});
    check_with<many_rows_product, I>(std::integer_sequence<int, -1>{});
    check_with<pixel_product, I>(std::integer_sequence<int, -1>{});
    check_with<both_turned_product, I>(std::integer_sequence<int, -1>{});
  });
  static_assert(layout_of_values<wide_window_product, isa::avx512>.columns_last == 18);
  static_assert(layout_of_values<slanted_product, isa::avx512>.columns_last == 16);
  static_assert(product_fetches<many_rows_product, isa::avx2> && product_fetches<both_turned_product, isa::avx2>);
  static_assert(ago::kernel::layout_of_contraction(key_of<few_rows_product, isa::avx512>(-1)).columns_in_place);
  static_assert(ago::kernel::layout_of_contraction(key_of<few_rows_product, isa::avx512>(-1)).k_blocks() > 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<rows_in_batches_product, isa::avx2>(-1)).columns_in_place);
  static_assert(ago::kernel::layout_of_contraction(key_of<tap_product, isa::avx512>(-1)).lanes_are_batches);
  static_assert(ago::kernel::layout_of_contraction(key_of<tap_product, isa::avx512>(-1)).k_blocks() > 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<flipped_product, isa::emulated128>(1)).lanes_are_batches);
  static_assert(ago::kernel::layout_of_contraction(key_of<flipped_product, isa::emulated128>(1)).tile.pixels_left > 0);
  static_assert(ago::kernel::layout_of_contraction(key_of<many_products, isa::avx512>(-1)).lanes_are_batches);
  static_assert(ago::kernel::layout_of_contraction(key_of<deep_product, isa::avx512>(1)).k_blocks() > 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<deep_product, isa::avx512>(1)).in_place);
  static_assert(ago::kernel::layout_of_contraction(key_of<plane_product, isa::avx512>(1)).walks);
  static_assert(ago::kernel::run_of(ago::kernel::layout_of_contraction(key_of<window_product, isa::avx512>(-1)).form.n,
                                    &expression::matrix_loop::b) == 18);
}

TEST_CASE("elementwise operators compute a factor as it is padded, in blocks of K, or all of it") {
  using ago::kernel::making;
  check_made<pixel_product, native_isa>();
  check_made<tap_product, native_isa>();
  check_made<strided_product, native_isa>();
  check_made<window_product, native_isa>();
  check_made<wide_window_product, native_isa>();
  check_made<shifted_product, native_isa>();
  check_made<deep_product, native_isa>();
  check_made<few_rows_product, native_isa>();
  check_made<rows_in_batches_product, native_isa>();
  check_made<many_products, native_isa>();
  check_made<both_turned_product, native_isa>();
  check_made<pixel_product, isa::emulated128>();
  check_made<tap_product, isa::emulated512>();
  check_made<strided_product, isa::scalar>();
  static_assert(making_in_small_cache<pixel_product, isa::avx512, 1>.makes == making::blocks);
  static_assert(making_in_small_cache<pixel_product, isa::avx512, 1>.k_blocks() > 1);
  static_assert(making_in_small_cache<strided_product, isa::avx512, 1>.makes == making::padded);
  static_assert(making_in_small_cache<strided_product, isa::avx512, 1>.columns_window > 0 ||
                making_in_small_cache<strided_product, isa::avx512, 1>.rows_window > 0);
  static_assert(making_in_small_cache<tap_product, isa::avx512, 0>.makes == making::all);
  static_assert(making_in_small_cache<shifted_product, isa::avx512, 0>.makes == making::all);
}

TEST_CASE("a contraction computes the same if one of its choices is taken away") {
  constexpr auto copied = factor_layout::never_in_place, as_written = factor_layout::not_swapped;
  constexpr isa I = native_isa;
  check<plane_product, I, -1, copied>(0);
  check<tap_product, I, -1, copied>(0);
  check<few_rows_product, I, -1, copied>(0);
  check<turned_product, I, 1, as_written>(0);
  check<plane_product, I, -1, as_written>(0);
  constexpr isa wide = isa::avx512;
  static_assert(!ago::kernel::layout_of_contraction(key_of<plane_product, wide>(1, copied)).walks);
  static_assert(!ago::kernel::layout_of_contraction(key_of<tap_product, wide>(-1, copied)).lanes_are_batches);
  static_assert(!ago::kernel::layout_of_contraction(key_of<few_rows_product, wide>(-1, copied)).columns_in_place);
  static_assert(ago::kernel::layout_of_contraction(key_of<turned_product, wide>(1)).rows_operand == 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<turned_product, wide>(1, as_written)).rows_operand == 0);
}

TEST_CASE("an epilogue follows a contraction, whatever axes are channels") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int const inner : {1, 2}) {
      check_stages<capsule_product, I, op::bias, op::add, op::relu>(inner);
      check_stages<dilated_product, I, op::add, op::relu>(inner);
      check_stages<turned_product, I, op::bias, op::gelu>(inner);
      check_stages<plane_product, I, op::bias, op::relu>(inner);
      check_stages<parted_product, I, op::add, op::relu>(inner);
    }
    check_stages<deep_product, I, op::bias, op::relu>(1);
    check_stages<few_rows_product, I, op::bias, op::relu>(1);
    check_stages<flipped_product, I, op::bias, op::add, op::relu>(1);
    check_stages<tap_product, I, op::bias, op::relu>(1);
  });
}
