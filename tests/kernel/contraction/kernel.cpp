// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products equal those of the reference executor, whose operands make them exact.
#include <utility>

#include "products.hpp"

using namespace contraction_test;

namespace {

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

template <index_expression const& E, isa I>
constexpr contraction_layout layout_of_values = ago::kernel::layout_of_contraction(E, -1, I);
template <index_expression const& E, isa I>
constexpr bool product_fetches =
    ago::kernel::contraction_copies<layout_of_values<E, I>,
                                    I>::template product_fetches<layout_of_values<E, I>.panel()>;

template <index_expression const& E, isa I>
constexpr bool packs_rows = ago::kernel::contraction_copies<layout_of_values<E, I>, I>::are_rows;

template <index_expression const& E, isa I, int... Weights>
void check_with(std::integer_sequence<int, Weights...>) {
  auto const check_one = []<int W>(unsigned seed, std::integral_constant<int, W>) {
    if constexpr (test::has_turn(I, E.result.count() + W + 1)) check<E, I, W>(seed);
  };
  for (unsigned seed = 0; seed < 2; ++seed) (check_one(seed, std::integral_constant<int, Weights>{}), ...);
}

template <index_expression const& E, isa I>
constexpr contraction_layout in_small_cache = ago::kernel::layout_of_contraction(E, -1, I, false, {}, small_cache);

template <index_expression const& E, isa I>
void check_in_small_cache() {
  constexpr contraction_layout const& L = in_small_cache<E, I>;
  operands const x(E, 1);
  test::guarded out(std::size_t(E.result.count())), scratch(std::size_t(L.scratch_floats()));
  using product =
      ago::kernel::contraction_product<in_small_cache<E, I>, I, form_of(key_of<E, I>(-1)), ago::kernel::no_epilogue>;
  for (std::size_t i = 0; i < scratch.size(); ++i) scratch[i] = std::numeric_limits<float>::quiet_NaN();
  product::run(E, {x[L.rows_operand], x[L.columns_operand], out.data(), scratch.data()}, {},
               ago::kernel::plain_copy<I>{}, 0, int(L.all_rows()), ago::kernel::nothing_meanwhile{});
  CHECK(scratch.intact());
  compare(out, x.result(E), 0);
}

template <index_expression const& E, isa I, int Weights, op... Stages>
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
    run<key_of<E, I, Stages...>(Weights)>(s, E, x, {other.data()}, out, r);
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

/// `inner`: the numbers of axes that are channels.
template <long Turn, index_expression const& E, int Weights, op... Stages>
void check_with_stages(std::initializer_list<int> inner) {
  test::for_each_isa_in_turn<Turn>([&]<isa I>(std::integral_constant<isa, I>) {
    for (int const axes : inner) check_stages<E, I, Weights, Stages...>(axes);
  });
}

}  // namespace

TEST_CASE("a contraction computes drawn sums of products, whole or in ranges of rows") {
  check_drawn(std::make_integer_sequence<unsigned, 18>{});
}
TEST_CASE("operands of products of batches are copied with their padding a few rows at a time") {
  constexpr auto check = []<index_expression const & E, long Turn>() {
    test::for_each_isa_in_turn<Turn>([]<isa I>(std::integral_constant<isa, I>) { check_in_small_cache<E, I>(); });
  };
  check.operator()<tap_product, 1>();
  check.operator()<strided_product, 2>();
  check.operator()<flipped_product, 3>();
  check.operator()<phase_product, 0>();
  check.operator()<wide_phase_product, 2>();
  check.operator()<small_tap_product, 3>();
  check.operator()<square_tap_product, 0>();
  static_assert(in_small_cache<tap_product, isa::avx512>.columns_window == 6);
  static_assert(in_small_cache<strided_product, isa::avx512>.columns_window == 6);
  static_assert(in_small_cache<flipped_product, isa::avx512>.rows_window == 6);
  static_assert(in_small_cache<phase_product, isa::avx512>.rows_window > 0);
  static_assert(in_small_cache<phase_product, isa::avx512>.fetches_result);
  // Blocks of K: rows of an image, three rows, whole images; one if there is a cache for the copy.
  static_assert(in_small_cache<tap_product, isa::avx512>.k_block == 17);
  static_assert(in_small_cache<small_tap_product, isa::avx512>.k_block == 21);
  static_assert(in_small_cache<small_tap_product, isa::avx512>.columns_window == 8);
  static_assert(in_small_cache<square_tap_product, isa::avx512>.k_block == 49);
  static_assert(in_small_cache<square_tap_product, isa::avx512>.columns_window > 0);
  static_assert(layout_of_values<small_tap_product, isa::avx512>.k_blocks() == 1);
}
TEST_CASE("factors that are in no cache are prefetched while others are multiplied") {
  test::for_each_isa_in_turn<0>([]<isa I>(std::integral_constant<isa, I>) { check_in_small_cache<tall_product, I>(); });
  test::for_each_isa_in_turn<1>(
      []<isa I>(std::integral_constant<isa, I>) { check_in_small_cache<pixel_product, I>(); });
  constexpr contraction_layout const &tall = in_small_cache<tall_product, isa::avx512>,
                                     &outer = in_small_cache<pixel_product, isa::avx512>;
  static_assert(outer.row_block >= outer.rows);  // so that its blocks of K can be computed a few at a time
  test::for_each_isa_in_turn<2>(
      []<isa I>(std::integral_constant<isa, I>) { check_in_small_cache<large_flipped_product, I>(); });
  static_assert(in_small_cache<large_flipped_product, isa::avx512>.fetches_rows);
  static_assert(!in_small_cache<flipped_product, isa::avx512>.fetches_rows);
  static_assert(tall.fetches_rows && !tall.packs_by_panel && tall.k_blocks() == 1);
  static_assert(outer.fetches_rows && outer.fetches_columns && outer.outer && outer.k_blocks() > 1);
  static_assert(!layout_of_values<tall_product, isa::avx512>.fetches_rows);
  static_assert(!layout_of_values<pixel_product, isa::avx512>.fetches_columns);
  static_assert(!in_small_cache<tap_product, isa::avx512>.fetches_rows);  // copied with padding
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
    check_with<phase_product, I>(std::integer_sequence<int, -1, 1>{});
    check_with<wide_phase_product, I>(std::integer_sequence<int, -1, 1>{});
    check_with<shifted_phase_product, I>(std::integer_sequence<int, -1, 1>{});
    check_with<line_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<many_products, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<window_product, I>(std::integer_sequence<int, -1>{});
    check_with<wide_window_product, I>(std::integer_sequence<int, -1>{});
    check_with<first_window_product, I>(std::integer_sequence<int, -1>{});
    check_with<slanted_product, I>(std::integer_sequence<int, -1>{});
    check_with<channel_plane_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<padded_plane_product, I>(std::integer_sequence<int, -1>{});
    check_with<overlapping_columns_product, I>(std::integer_sequence<int, -1>{});
    check_with<overlapping_rows_product, I>(std::integer_sequence<int, -1>{});
    check_with<many_rows_product, I>(std::integer_sequence<int, -1>{});
    check_with<pixel_product, I>(std::integer_sequence<int, -1>{});
    check_with<narrow_pixel_product, I>(std::integer_sequence<int, -1, 0>{});
    check_with<both_turned_product, I>(std::integer_sequence<int, -1>{});
  });
  static_assert(layout_of_values<wide_window_product, isa::avx512>.columns_last == 18);
  static_assert(layout_of_values<first_window_product, isa::avx512>.rows == 27);
  static_assert(layout_of_values<first_window_product, isa::avx512>.by_runs);
  static_assert(9 % layout_of_values<first_window_product, isa::avx512>.tile.pixels == 0);
  static_assert(layout_of_values<slanted_product, isa::avx512>.columns_last == 16);
  static_assert(layout_of_values<overlapping_columns_product, isa::avx512>.columns_last == 0);
  static_assert(layout_of_values<channel_plane_product, isa::avx512>.rows_last == 16);
  static_assert(layout_of_values<padded_plane_product, isa::avx512>.rows_last == 19);
  static_assert(layout_of_values<padded_plane_product, isa::avx512>.rows_padded);
  static_assert(layout_of_values<overlapping_rows_product, isa::avx512>.rows_last == 0);
  static_assert(product_fetches<many_rows_product, isa::avx2> && product_fetches<both_turned_product, isa::avx2>);
  static_assert(packs_rows<many_rows_product, isa::avx2> && !packs_rows<both_turned_product, isa::avx2>);
  static_assert(layout_of_values<pixel_product, isa::avx512>.outer);
  static_assert(layout_of_values<pixel_product, isa::avx512>.k_blocks() > 1);
  static_assert(layout_of_values<many_channel_product, isa::avx512>.outer);
  static_assert(layout_of_values<many_channel_product, isa::avx512>.row_block <= 1024);
  static_assert(layout_of_values<many_channel_product, isa::avx512>.rows == 1300);
  static_assert(layout_of_values<narrow_pixel_product, isa::avx512>.outer);
  static_assert(layout_of_values<narrow_pixel_product, isa::avx512>.rows_operand == 1);
  static_assert(!layout_of_values<window_product, isa::avx512>.outer);
  static_assert(ago::kernel::layout_of_contraction(key_of<few_rows_product, isa::avx512>(-1)).columns_in_place);
  static_assert(ago::kernel::layout_of_contraction(key_of<few_rows_product, isa::avx512>(-1)).k_blocks() > 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<rows_in_batches_product, isa::avx2>(-1)).columns_in_place);
  static_assert(ago::kernel::layout_of_contraction(key_of<tap_product, isa::avx512>(-1)).lanes_are_batches);
  static_assert(ago::kernel::layout_of_contraction(key_of<tap_product, isa::avx512>(-1)).k_blocks() > 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<flipped_product, isa::emulated128>(1)).lanes_are_batches);
  static_assert(ago::kernel::layout_of_contraction(key_of<flipped_product, isa::emulated128>(1)).tile.pixels_left > 0);
  static_assert(ago::kernel::layout_of_contraction(key_of<many_products, isa::avx512>(-1)).lanes_are_batches);
  static_assert(layout_of_values<phase_product, isa::avx512>.lanes_are_batches);
  static_assert(layout_of_values<phase_product, isa::avx512>.columns == 4);
  static_assert(layout_of_values<phase_product, isa::avx512>.columns_pad_turned);
  static_assert(!layout_of_values<phase_product, isa::avx512>.columns_padded);
  static_assert(layout_of_values<shifted_phase_product, isa::avx512>.columns_turned);
  static_assert(layout_of_values<shifted_phase_product, isa::avx512>.columns_padded);
  static_assert(layout_of_values<line_product, isa::avx512>.rows_pad_turned);
  static_assert(ago::kernel::layout_of_contraction(key_of<deep_product, isa::avx512>(1)).k_blocks() > 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<deep_product, isa::avx512>(1)).in_place);
  static_assert(ago::kernel::layout_of_contraction(key_of<plane_product, isa::avx512>(1)).walks);
  static_assert(ago::kernel::run_of(ago::kernel::layout_of_contraction(key_of<window_product, isa::avx512>(-1)).form.n,
                                    &expression::matrix_loop::b) == 18);
}

TEST_CASE("sums whose steps are consecutive in both factors, or in columns, are computed along registers") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    check_with<dot_product, I>(std::integer_sequence<int, -1>{});
    check_with<deep_dot_product, I>(std::integer_sequence<int, -1>{});
    check_with<one_row_product, I>(std::integer_sequence<int, -1>{});
    check_with<capsule_values_product, I>(std::integer_sequence<int, -1>{});
  });
  test::for_each_isa_in_turn<0>(
      []<isa I>(std::integral_constant<isa, I>) { check_in_small_cache<deep_dot_product, I>(); });
  constexpr isa wide = isa::avx512;
  static_assert(layout_of_values<dot_product, wide>.lanes_are_steps && layout_of_values<dot_product, wide>.in_place);
  static_assert(layout_of_values<dot_product, wide>.tile.pixels_left > 0);
  static_assert(layout_of_values<dot_product, isa::avx2>.lanes_are_steps);
  static_assert(layout_of_values<dot_product, isa::neon>.lanes_are_steps);
  static_assert(layout_of_values<deep_dot_product, wide>.lanes_are_steps);
  static_assert(layout_of_values<deep_dot_product, wide>.k_blocks() > 1);
  static_assert(in_small_cache<deep_dot_product, wide>.fetches_columns);
  static_assert(layout_of_values<one_row_product, wide>.lanes_are_steps);
  static_assert(layout_of_values<capsule_values_product, wide>.lanes_are_steps);
  static_assert(!layout_of_values<capsule_values_product, wide>.in_place);
  static_assert(!layout_of_values<both_turned_product, wide>.lanes_are_steps);  // of few steps
  static_assert(!ago::kernel::layout_of_contraction(dot_product, 1, wide).lanes_are_steps);
  static_assert(!ago::kernel::layout_of_contraction(dot_product, -1, isa::neon, true).lanes_are_steps);
}

TEST_CASE("columns that are several runs in memory are read where they are") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    check_with<full_window_product, I>(std::integer_sequence<int, -1>{});
    check_with<deep_window_product, I>(std::integer_sequence<int, -1, 0, 1>{});
    check_with<grey_window_product, I>(std::integer_sequence<int, -1>{});
  });
  constexpr isa wide = isa::avx512;
  constexpr contraction_layout const &parts = layout_of_values<window_product, wide>,
                                     &full = layout_of_values<full_window_product, wide>,
                                     &deep = layout_of_values<deep_window_product, wide>,
                                     &grey = layout_of_values<grey_window_product, wide>;
  static_assert(parts.by_runs && parts.column_run == 18 && parts.vectors == 6 && parts.tile.vectors % 2 == 0);
  static_assert(full.by_runs && full.column_run == 48 && full.vectors == 9 && !full.columns_padded);
  static_assert(full.tile.pixels_left > 0 && grey.tile.vectors_left > 0);
  static_assert(deep.by_runs && deep.k_blocks() > 1 && deep.k_block % 13 == 0 && deep.columns_padded);
  static_assert(grey.by_runs && grey.column_run == 5 && grey.vectors == 5);
  static_assert(layout_of_values<window_product, isa::avx2>.by_runs);
  static_assert(!layout_of_values<window_product, isa::neon>.by_runs);  // its loops are scheduled by hand
  static_assert(!ago::kernel::layout_of_contraction(deep_window_product, 1, wide).by_runs);
}

TEST_CASE("blocks of K may end within a run of steps") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    check_with<few_deep_planes_product, I>(std::integer_sequence<int, -1>{});
    check_with<many_deep_planes_product, I>(std::integer_sequence<int, -1>{});
    check_with<long_window_product, I>(std::integer_sequence<int, -1>{});
  });
  constexpr contraction_layout const &steps = layout_of_values<few_deep_planes_product, isa::avx512>,
                                     &packed = layout_of_values<many_deep_planes_product, isa::avx512>,
                                     &parts = layout_of_values<long_window_product, isa::avx512>;
  static_assert(steps.lanes_are_steps && steps.k_blocks() > 1 && steps.k_run == 5 && steps.k_block % 5 == 0);
  static_assert(!packed.lanes_are_steps && packed.k_blocks() > 1 && packed.k_run == 5 && packed.k_block % 5 == 0);
  static_assert(parts.k_blocks() > 1 && parts.k_run == 37 && parts.k_block % 37 != 0);
}

TEST_CASE("a contraction computes the same if one of its choices is taken away") {
  constexpr auto copied = factor_layout::never_in_place, as_written = factor_layout::not_swapped;
  constexpr isa I = native_isa;
  check<plane_product, I, -1, copied>(0);
  check<tap_product, I, -1, copied>(0);
  check<few_rows_product, I, -1, copied>(0);
  check<pixel_product, I, -1, copied>(0);
  check<many_channel_product, I, -1>(0);
  check<window_product, I, -1, copied>(0);
  check<narrow_pixel_product, I, -1, as_written>(0);
  check<turned_product, I, 1, as_written>(0);
  check<plane_product, I, -1, as_written>(0);
  constexpr isa wide = isa::avx512;
  static_assert(!ago::kernel::layout_of_contraction(key_of<plane_product, wide>(1, copied)).walks);
  static_assert(!ago::kernel::layout_of_contraction(key_of<tap_product, wide>(-1, copied)).lanes_are_batches);
  static_assert(!ago::kernel::layout_of_contraction(key_of<few_rows_product, wide>(-1, copied)).columns_in_place);
  static_assert(!ago::kernel::layout_of_contraction(key_of<window_product, wide>(-1, copied)).by_runs);
  static_assert(ago::kernel::layout_of_contraction(key_of<turned_product, wide>(1)).rows_operand == 1);
  static_assert(ago::kernel::layout_of_contraction(key_of<turned_product, wide>(1, as_written)).rows_operand == 0);
}

TEST_CASE("an epilogue follows a contraction, whatever axes are channels") {
  check_with_stages<0, capsule_product, 1, op::bias, op::add, op::relu>({1, 2});
  check_with_stages<1, dilated_product, 1, op::add, op::relu>({1, 2});
  check_with_stages<2, turned_product, 1, op::bias, op::gelu>({1, 2});
  check_with_stages<3, plane_product, 1, op::bias, op::relu>({1, 2});
  check_with_stages<0, parted_product, 1, op::add, op::relu>({1, 2});
  check_with_stages<1, deep_product, 1, op::bias, op::relu>({1});
  check_with_stages<2, few_rows_product, 1, op::bias, op::relu>({1});
  check_with_stages<3, flipped_product, 1, op::bias, op::add, op::relu>({1});
  check_with_stages<2, tap_product, 1, op::bias, op::relu>({1});
  check_with_stages<1, window_product, -1, op::bias, op::relu>({1, 2});
  check_with_stages<2, full_window_product, -1, op::add, op::relu>({1, 2});
  check_with_stages<3, deep_window_product, -1, op::bias, op::add>({1, 2, 3});
  check_with_stages<0, capsule_values_product, -1, op::bias, op::add, op::relu>({1, 2});
}
