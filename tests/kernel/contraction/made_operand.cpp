// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of which elementwise operators compute an operand where it is copied: exactly as the reference
// executor does.
#include <utility>

#include "products.hpp"

using namespace contraction_test;

namespace {

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
      product::run(E, {at(L.rows_operand), at(L.columns_operand), out.data(), m.arena}, {}, made, 0, int(L.all_rows()),
                   ago::kernel::nothing_meanwhile{});
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
template <class Drawn, isa I>
void check_if_made(unsigned seed) {
  if constexpr (Drawn::counts && test::has_turn(I, Drawn::seed / 2)) {
    CAPTURE(seed);
    made_test<Drawn::of, I, int(Drawn::seed % 2)>(seed).run_kernel();
  }
}
template <unsigned... Seeds>
void check_made_drawn(std::integer_sequence<unsigned, Seeds...>) {
  test::for_each_isa(
      []<isa I>(std::integral_constant<isa, I>) { (check_if_made<drawn_product<Seeds>, I>(Seeds), ...); });
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

}  // namespace

TEST_CASE("a contraction takes an operand that elementwise operators compute where it copies it") {
  check_made_drawn(std::make_integer_sequence<unsigned, 12>{});
}
TEST_CASE("elementwise operators compute a factor as it is padded, in blocks of K, or all of it") {
  using ago::kernel::making;
  check_made<pixel_product, native_isa>();
  check_made<narrow_pixel_product, native_isa>();
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
