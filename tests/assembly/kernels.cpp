// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instantiates all tiles that the default schedule may choose for the instruction set that this is compiled for. Never
// linked: check_loops.py and bench/arm read the assembly. With AGO_IN_ORDER, for cores that issue in order.
#include <ago/kernel/depthwise/schedule.hpp>
#include <ago/kernel/kernels.hpp>
#include <ago/kernel/matrix/schedule.hpp>

#include <utility>

namespace assembly {

using namespace ago;
using ago::kernel::choose_depthwise;
using ago::kernel::choose_matrix;
using ago::kernel::floats_in_window_row;
using ago::kernel::is_matrix_tile;
using ago::kernel::kernel_for;
using ago::plan::kernel_function;
using ago::plan::kernel_key;
using ago::plan::step_data;
using ago::plan::structure;

constexpr kernel_key key_of(structure what, op after = op::relu6) {
  kernel_key key;
  key.what = what;
  key.after.stages[0].kind = after;
#ifdef AGO_IN_ORDER
  key.in_order = true;
#endif
  return key;
}

/// Every register tile on the menu.
template <int P, int V>
constexpr kernel_function matrix_tile() {
  if constexpr (is_matrix_tile(native_isa, P, V) && P <= kernel::longest_tile(V)) {
    constexpr kernel_key key = [] {
      kernel_key k = key_of(structure::pointwise);
      k.tile = {P, V};
      return k;
    }();
    return kernel_for<key>();
  } else {
    return nullptr;
  }
}
template <int... I>
constexpr auto menu(std::integer_sequence<int, I...>) {
  struct {
    kernel_function tiles[sizeof...(I)];
  } m{{matrix_tile<I % 16 + 1, I / 16 + 1>()...}};
  return m;
}

/// A convolution of an image of Size x Size pixels, as in a plan.
template <structure What, int Window, int Stride, int Size, int In, int Out, op After = op::relu6>
constexpr kernel_function convolution() {
  constexpr kernel_key key = [] {
    kernel_key k = key_of(What, After);
    step_data s;
    s.in = {1, Size, Size, In};
    s.out = {1, Size / Stride, Size / Stride, Out};
    s.win.kernel_h = s.win.kernel_w = Window;
    s.win.stride_h = s.win.stride_w = Stride;
    s.win.pad_top = s.win.pad_left = s.win.pad_bottom = s.win.pad_right = Window / 2;
    s.groups = What == structure::depthwise ? In : 1;
    s.source.pixel_stride = In;
    if (What == structure::depthwise) choose_depthwise(k, s, {});
    else choose_matrix(k, s, {});
    if (What != structure::depthwise) k.partial = has_partial_vector(k, Out);
    k.window_row = std::uint8_t(floats_in_window_row(k, s));
    return k;
  }();
  return kernel_for<key>();
}

extern kernel_function const depthwise[], convolutions[];
kernel_function const depthwise[] = {
    convolution<structure::depthwise, 3, 1, 14, 64, 64>(), convolution<structure::depthwise, 3, 2, 28, 64, 64>(),
    convolution<structure::depthwise, 5, 1, 14, 64, 64>(), convolution<structure::depthwise, 5, 2, 28, 64, 64>()};
kernel_function const convolutions[] = {convolution<structure::convolution, 3, 2, 224, 3, 32>(),
                                        convolution<structure::convolution, 3, 2, 224, 3, 24, op::relu>(),
                                        convolution<structure::convolution, 3, 1, 56, 64, 64>()};

// Epilogues with many constants, which must not take registers from the loops before them. (Depthwise passes its
// results on in memory, within its innermost loop.)
extern kernel_function const lengthy[];
kernel_function const lengthy[] = {convolution<structure::pointwise, 1, 1, 14, 64, 128, op::silu>(),
                                   convolution<structure::pointwise, 1, 1, 14, 64, 128, op::gelu>(),
                                   convolution<structure::convolution, 3, 1, 56, 64, 64, op::silu>()};

#ifdef AGO_IN_ORDER
/// A product of four pixels, whose input is transposed (kernel/matrix/transposed_product.hpp).
template <int V>
constexpr kernel_function transposed_product() {
  constexpr kernel_key key = [] {
    kernel_key k = key_of(structure::pointwise);
    k.tile = {4, V};
    k.gathers = k.transposed = true;
    return k;
  }();
  return kernel_for<key>();
}
extern kernel_function const transposed_products[];
kernel_function const transposed_products[] = {transposed_product<1>(), transposed_product<2>(),
                                               transposed_product<3>(), transposed_product<4>(),
                                               transposed_product<5>()};
#endif

using every_tile = std::make_integer_sequence<int, 256>;
extern decltype(menu(every_tile{})) const matrix_tiles;
decltype(menu(every_tile{})) const matrix_tiles = menu(every_tile{});

}  // namespace assembly
