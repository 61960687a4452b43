// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diagnostic.hpp"

namespace ago::tools {
namespace {

char const* sentence_of(ir::fault what) {
  switch (what) {
    case ir::fault::none: return "nothing is wrong";
    case ir::fault::shapes_differ: return "the two values have different numbers of channels";
    case ir::fault::channels_differ: return "the value has a different number of channels than expected here";
    case ir::fault::extents_differ: return "the values differ in height, width, or number of images";
    case ir::fault::channels_not_divisible_by_groups: return "the groups do not divide the channels of the input";
    case ir::fault::outputs_not_divisible_by_groups: return "the groups do not divide the channels of the output";
    case ir::fault::window_exceeds_input: return "the window is larger than the image with its pads";
    case ir::fault::argument_must_be_positive: return "an argument must be positive";
    case ir::fault::argument_must_not_be_negative: return "an argument must not be negative";
    case ir::fault::pad_must_be_smaller_than_kernel: return "the pad is more than half of the window";
    case ir::fault::channel_first_value_cannot_be_used:
      return "it reads a channel-first value, which can only be an output";
    case ir::fault::tensor_of_another_network: return "it reads a value of another network";
    case ir::fault::window_misses_the_image: return "a window lies entirely in the padding";
    case ir::fault::bounds_are_reversed: return "the lower bound exceeds the upper bound";
    case ir::fault::too_large: return "the value or the parameters have more elements than an int can count";
    case ir::fault::slice_exceeds_extent: return "the slice reaches beyond the extent of the value";
    case ir::fault::parts_must_divide_extent: return "the number of parts does not divide the extent";
    case ir::fault::patch_must_divide_image: return "the patch does not divide the image";
    case ir::fault::elements_differ: return "the new extents hold a different number of elements than the value";
    case ir::fault::not_a_permutation: return "the order does not name each axis once";
    case ir::fault::pads_take_all: return "the pads remove everything that the transposed convolution computes";
    case ir::fault::not_a_network: return "this is not a network";
    case ir::fault::network_is_not_constexpr: return "the network is not a constant";
    case ir::fault::takes_four_axes: return "the layer takes a value of at most four axes";
    case ir::fault::not_a_probability: return "the probability must be at least 0 and less than 1";
    case ir::fault::has_no_gradient: return "the layer has no gradient";
    case ir::fault::no_gradient_reaches: return "the loss does not depend on a parameter that is to be trained";
    case ir::fault::expression_does_not_fit: return "its index expression does not fit its operands";
  }
  return "it does not fit its input";
}

}  // namespace

std::string sentence_of(ir::diagnostic const& d) {
  std::string text = sentence_of(d.what);
  if (d.expected || d.actual)
    text += " (expects " + std::to_string(d.expected) + ", gets " + std::to_string(d.actual) + ")";
  return text;
}

}  // namespace ago::tools
