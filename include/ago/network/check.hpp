// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first misfit of a network as a compile error that states layer, source line, and the two numbers.
#pragma once

#include <ago/requirements.hpp>

#include <ago/expression/check.hpp>
#include <ago/network/lowering.hpp>

#include <type_traits>

namespace ago::lowering {

// Compilers print these numbers together with the name of the template.
template <int> struct layer_number;
template <int> struct source_line;
template <int> struct expects;
template <int> struct gets;

/// A function instead of a comparison, because compilers print less below it.
template <ir::fault What>
constexpr bool is_not(ir::fault other) {
  return What != other;
}

/// Asserts that there is no fault; its own type shows which layer is wrong, and how. (Assertions that a macro makes
/// from a list of faults are reported with the macro: g++ 12 then prints 15 lines instead of 7, Clang 14 12 instead
/// of 8.)
template <ir::fault What, op Layer, class... Details>
struct layer_fits {
  static_assert(is_not<What>(ir::fault::shapes_differ),
                "ago: + and other elementwise operators take values of equal shapes, or with extents of 1; "
                "their channels differ");
  static_assert(is_not<What>(ir::fault::channels_differ),
                "ago: the value has a different number of channels than expected here");
  static_assert(is_not<What>(ir::fault::extents_differ),
                "ago: the values differ in height, width, or number of images");
  static_assert(is_not<What>(ir::fault::channels_not_divisible_by_groups),
                "ago: the groups (expects) must divide the channels of the input (gets)");
  static_assert(is_not<What>(ir::fault::outputs_not_divisible_by_groups),
                "ago: the groups (expects) must divide the channels of the output (gets)");
  static_assert(is_not<What>(ir::fault::window_exceeds_input),
                "ago: the window (expects, dilation included) is larger than the image with its pads (gets)");
  static_assert(is_not<What>(ir::fault::argument_must_be_positive), "ago: an argument of this layer must be positive");
  static_assert(is_not<What>(ir::fault::argument_must_not_be_negative),
                "ago: an argument of this layer must not be negative");
  static_assert(is_not<What>(ir::fault::pad_exceeds_half_of_window),
                "ago: a pooling's pad (gets) must be at most half of its window (expects)");
  static_assert(is_not<What>(ir::fault::channel_first_value_cannot_be_used),
                "ago: the result of to_nchw can only be an output; no layer reads it");
  static_assert(is_not<What>(ir::fault::tensor_of_another_network),
                "ago: a tensor is used that no layer of this network produced; is it default-constructed?");
  static_assert(is_not<What>(ir::fault::window_misses_the_image),
                "ago: a window of this dilated pooling lies entirely in the padding");
  static_assert(is_not<What>(ir::fault::bounds_are_reversed), "ago: the lower bound of clip exceeds the upper bound");
  static_assert(is_not<What>(ir::fault::too_many_elements), "ago: extents, elements and parameters must fit an int");
  static_assert(is_not<What>(ir::fault::slice_exceeds_extent),
                "ago: a slice reaches (gets) beyond the extent of the value (expects)");
  static_assert(is_not<What>(ir::fault::parts_must_divide_extent),
                "ago: the number of parts (expects) must divide the extent (gets)");
  static_assert(is_not<What>(ir::fault::patch_must_divide_image),
                "ago: a patch (expects) must divide the image (gets)");
  static_assert(is_not<What>(ir::fault::elements_differ),
                "ago: the new extents (gets) hold a different number of elements than the value (expects)");
  static_assert(is_not<What>(ir::fault::not_a_permutation),
                "ago: permute's order must name each of the axes 0, 1, 2, 3 once; at this place (expects) it does not");
  static_assert(is_not<What>(ir::fault::pads_take_all),
                "ago: the pads (gets) remove everything that this transposed convolution computes (expects)");
  static_assert(is_not<What>(ir::fault::not_a_network),
                "ago: this is not a network; write one as input{...} | layers, or trace(body, input{...}, ...)");
  static_assert(is_not<What>(ir::fault::network_is_not_constexpr),
                "ago: a network must be a constant, as in: inline constexpr auto net = input{...} | layers;");
  static_assert(is_not<What>(ir::fault::takes_four_axes),
                "ago: this layer takes a value of at most four axes; see view");
  static_assert(is_not<What>(ir::fault::not_a_probability),
                "ago: a dropout's probability must be at least 0 and less than 1");
  static_assert(is_not<What>(ir::fault::has_no_gradient),
                "ago: this layer has no gradient, and parameters that are to be trained depend on it");
  static_assert(is_not<What>(ir::fault::no_gradient_reaches),
                "ago: the loss does not depend on this parameter (gets: its number), which is to be trained");
  using asserted = std::true_type;
};

template <auto const& Net>
inline constexpr ir::diagnostic misfit = lowered<Net>::value.bad;

/// Asserts that no layer of the network has a misfit.
template <auto const& Net, ir::diagnostic const& Found = misfit<Net>>
using network_fits =
    std::conditional_t<Found.what == ir::fault::expression_does_not_fit,
                       expression::fits<Found.operation, Found.described>,
                       layer_fits<Found.what, Found.where, layer_number<Found.layer>, source_line<Found.line>,
                                  expects<Found.expected>, gets<Found.actual>>>;

/// Its instantiation asserts that every layer of the network fits its input: `static_assert(check<net>::ok)`.
template <auto const& Net>
struct check {
 private:
  // Not in the initialiser of `ok`: clang would report the variable, too.
  using asserted = typename network_fits<Net>::asserted;

 public:
  static constexpr bool ok = asserted::value;
};

}  // namespace ago::lowering
