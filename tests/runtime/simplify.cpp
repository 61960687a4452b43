// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks simplified by algebraic rules compared with unsimplified ones: results are bit-identical.
#include "fusion.hpp"

#include <doctest/doctest.h>

using namespace model_test;

namespace {

inline constexpr auto padded_image = input{.n = 2, .h = 9, .w = 10, .c = 5} | pad{1} | pad{pads{.left = 1}} |
                                     conv2d{.out = 18, .kernel = 3} | relu{} | pad{1} |
                                     max_pool{.kernel = 3, .stride = 2} | pad{2} | depthwise{.kernel = 3, .stride = 2} |
                                     pad{1} | avg_pool{.kernel = 2} | conv2d{.out = 3, .kernel = 1};

inline constexpr auto clamped = input{.h = 9, .w = 10, .c = 7} | [](tensor x) {
  tensor const y = concat(x, x | sigmoid{} | relu{}) | clip{-1, 2} | clip{-3, 1} | max_pool{.kernel = 2};
  tensor const gate = y | hard_sigmoid{} | global_max_pool{} | pointwise{9};
  return (y | pointwise{9} | relu{} | relu6{} | clip{.5f, 9}) + gate;
};

inline constexpr auto moved = input{.n = 2, .h = 6, .w = 8, .c = 12} | [](tensor x) {
  tensor const y = x | unfold{2} | fold{6, 8, 2} | channel_shuffle{3} | channel_shuffle{4} |
                   conv2d{.out = 12, .kernel = 3, .pad = 1};
  tensor const z = concat(y, concat(x, y | relu{})) | slice{12, 24} | slice{6, 12};
  tensor const w = z | permute{0, 3, 1, 2} | permute{0, 2, 1, 3} | reshape{.h = 4, .w = 18} | reshape{.h = 9, .w = 8};
  return matmul(w, w | slice{0, 8, axis::columns}) | softmax{};
};

inline constexpr auto resized = input{.h = 3, .w = 4, .c = 6} | resize_nearest{6, 8} | resize_nearest{12, 16} |
                                pointwise{5} | max_pool{.kernel = 3, .stride = 2, .pad = 1} | global_max_pool{};

/// Rules that must apply to `Net`.
template <auto const& Net, ago::passes::rule... Rules>
void check_same(char const* name) {
  static_assert(((ago::passes::optimized<Net>::applied[Rules] > 0) && ...));
  CAPTURE(std::string(name));
  using simplified = program<Net, untuned, winograd::off>;
  using literal = program<Net, untuned, options{.device = {}, .winograd = winograd::off, .algebra = algebra::literal}>;
  static_assert(simplified::plan.packed_floats <= literal::plan.packed_floats);
  CHECK(simplified::steps < literal::steps);
  auto const expected = result_of<literal, Net>(differential::edge::end);
  for (auto const edge : {differential::edge::begin, differential::edge::end})
    CHECK(result_of<simplified, Net>(edge) == expected);
}

}  // namespace

TEST_CASE("simplification by exact rules gives bit-identical results") {
  check_same<padded_image, ago::passes::rule::pad_of_pad, ago::passes::rule::pad_into_window>("padded");
  check_same<clamped, ago::passes::rule::clamp_within_bounds, ago::passes::rule::clamp_of_clamp,
             ago::passes::rule::clamp_after_pool>("clamped");
  check_same<moved, ago::passes::rule::fold_of_unfold, ago::passes::rule::shuffle_of_shuffle,
             ago::passes::rule::slice_of_concat, ago::passes::rule::slice_of_slice, passes::rule::permute_of_permute,
             passes::rule::reshape_of_reshape>("moved");
  check_same<resized, passes::rule::resize_of_resize, passes::rule::global_of_max_pool>("resized");
}
