// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fusion computes nothing twice: counts the multiply-adds of fused networks in emulated registers.
#include <ago/simd/emulated.hpp>

namespace {
long products = 0;  ///< of single floats
}

namespace ago::simd {
template <>
inline void watch_multiply_add<isa::emulated128>() {
  products += lanes(isa::emulated128);
}
template <>
inline void watch_multiply_add<isa::emulated512>() {
  products += lanes(isa::emulated512);
}
}  // namespace ago::simd

#include "fusion.hpp"

using namespace model_test;

namespace {

template <schedule S>
inline constexpr plan::uniform_schedule scheduled{S};

/// All steps joined with this tiling, with `rows` rows in the register tile of a depthwise step; 0: the default.
constexpr schedule joined_by(tiling how, int tile = 0, int rows = 1) {
  return {.vectors = rows, .join = 1, .tiling = how, .tile = tile};
}

/// The sum, over all positions of a window along an axis, of the taps that fall on the image.
long taps_on_image(int outputs, int kernel, int stride, int dilation, int pad, int extent) {
  long count = 0;
  for (int o = 0; o < outputs; ++o)
    for (int tap = 0; tap < kernel; ++tap) {
      int const at = o * stride - pad + tap * dilation;
      count += at >= 0 && at < extent;
    }
  return count;
}

int rounded_up(int x, int multiple) { return (x + multiple - 1) / multiple * multiple; }

/// The products in an operator's definition, plus those with padding: the lanes of a group's last vector that have no
/// channel, and the last step of an odd K if a register holds two steps for half as many channels. Taps outside the
/// image are not counted. A depthwise tile of several rows also computes the rows below the image that complete the
/// last tile.
long products_of(ago::plan::kernel_key const& key, ago::plan::step_data const& s) {
  ago::ir::window const& w = s.win;
  bool const depthwise = key.what == ago::plan::structure::depthwise;
  int const height = depthwise ? rounded_up(s.out.h, key.tile.vectors) : s.out.h;
  long const taps = taps_on_image(height, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top, s.in.h) *
                    taps_on_image(s.out.w, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left, s.in.w);
  int const steps = key.paired ? 2 : 1;
  if (depthwise) return s.out.n * taps * rounded_up(s.out.c, lanes(key.target));
  return s.out.n * taps * rounded_up(s.in.c / s.groups, steps) * s.groups *
         rounded_up(s.out.c / s.groups, lanes(key.target) / steps);
}

template <class Program>
long expected_products() {
  long sum = 0;
  for (auto const& s : Program::plan.steps) sum += products_of(s.key, s.data);
  return sum;
}

template <class Program, auto const& Net>
long counted_products() {
  guarded_run<Program, Net> const in(differential::edge::end);
  products = 0;
  Program::run(in.memory());
  return products;
}

template <auto const& Net, schedule Joined, isa I>
void count(char const* name) {
  constexpr schedule alone{.vectors = Joined.vectors, .join = -1};
  using fused = program<Net, scheduled<Joined>, I>;
  using unfused = program<Net, scheduled<alone>, options{.target = I, .policy = policy::ago_ni}>;
  CAPTURE(std::string(name));
  CAPTURE(std::string(name_of(I)));
  CHECK(fused::steps == 1);
  CHECK(fused::tiling_of(0).how == Joined.tiling);
  CHECK(unfused::steps > 1);
  CHECK(counted_products<unfused, Net>() == expected_products<unfused>());
  CHECK(counted_products<fused, Net>() == expected_products<fused>());
  if (!has_pairs(I)) CHECK(expected_products<fused>() == expected_products<unfused>());
}

// Odd sizes, and channels that do not fill the last vector.
inline constexpr auto stem = input{.h = 19, .w = 17, .c = 3} | conv2d{.out = 21, .kernel = 3, .stride = 2, .pad = 1} |
                             batch_norm{} | relu6{} | dw(3, 1, all(1)) | pw(18);
inline constexpr auto stem_stride = input{.h = 14, .w = 9, .c = 6} | conv2d{.out = 34, .kernel = 5, .pad = 2} |
                                    batch_norm{} | relu6{} | dw(5, 2, all(2)) | pw(7);
inline constexpr auto widen = input{.n = 2, .h = 9, .w = 7, .c = 5} | pw(17) | dw(3, 1, all(1));
inline constexpr auto widen_stride = input{.h = 11, .w = 8, .c = 7} | pw(37) | dw(5, 2, all(2));
inline constexpr auto widen_even = input{.h = 12, .w = 5, .c = 3} | pw(25) | dw(2, 1, {0, 1, 1, 0});
inline constexpr auto narrow = input{.h = 10, .w = 9, .c = 33} | dw(3, 1, all(1)) | pw(19);
inline constexpr auto narrow_stride = input{.n = 2, .h = 7, .w = 7, .c = 58} | dw(3, 2, {0, 0, 1, 1}) | pw(22);
inline constexpr auto two_pointwise = input{.h = 5, .w = 7, .c = 7} | pw(19) | pw(1);
inline constexpr auto two_depthwise = input{.h = 13, .w = 7, .c = 23} | dw(3, 2, all(1)) | dw(5, 1, all(2));
inline constexpr auto two_depthwise_stride = input{.h = 17, .w = 6, .c = 18} | dw(5, 1, all(2)) | dw(3, 2, all(1));
inline constexpr auto two_depthwise_plain = input{.h = 14, .w = 5, .c = 6} | dw(3, 1, all(1)) | dw(3, 1, all(1));
inline constexpr auto whole_block = input{.h = 9, .w = 14, .c = 14} | inverted_residual(83);
inline constexpr auto flat_block = input{.n = 3, .h = 1, .w = 3, .c = 17} | inverted_residual(31);
inline constexpr auto stride_block = input{.h = 15, .w = 13, .c = 10} | pw(70) | dw(3, 2, all(1)) | pw(27);

}  // namespace

#define CHECK_NET(net, ...) count<net, joined_by(__VA_ARGS__), isa::emulated128>(#net)
#ifdef AGO_TEST_FULL
#define CHECK_NET_TOO(net, ...) CHECK_NET(net, __VA_ARGS__)
#define CHECK_NET_WIDE(net, ...) count<net, joined_by(__VA_ARGS__), isa::emulated512>(#net)
#else
#define CHECK_NET_TOO(net, ...) static_cast<void>(net)
#define CHECK_NET_WIDE(net, ...) static_cast<void>(net)
#endif

TEST_CASE("a chain tiled by rows multiplies as often as its separate operators") {
  CHECK_NET(stem, tiling::rows);
  CHECK_NET_WIDE(stem, tiling::rows);
  CHECK_NET_TOO(stem_stride, tiling::rows);
  CHECK_NET_TOO(widen, tiling::rows);
  CHECK_NET_WIDE(widen, tiling::rows);
  CHECK_NET(widen_stride, tiling::rows);
  CHECK_NET_TOO(widen_even, tiling::rows);
  CHECK_NET_TOO(narrow, tiling::rows);
  CHECK_NET(narrow_stride, tiling::rows);
  CHECK_NET_WIDE(narrow_stride, tiling::rows);
  CHECK_NET(two_pointwise, tiling::rows);
  CHECK_NET(two_depthwise, tiling::rows);
  CHECK_NET_TOO(two_depthwise_stride, tiling::rows);
  CHECK_NET(whole_block, tiling::rows);
  CHECK_NET_WIDE(whole_block, tiling::rows);
  CHECK_NET_TOO(flat_block, tiling::rows);
  CHECK_NET_TOO(stride_block, tiling::rows);
}

TEST_CASE("so does a chain tiled by channels, or by channels and rows") {
  CHECK_NET_TOO(stem, tiling::channels, 8);
  CHECK_NET(widen, tiling::channels, 8);
  CHECK_NET_WIDE(widen_stride, tiling::channels, 16);
  CHECK_NET_TOO(whole_block, tiling::channels, 24);
  CHECK_NET(stride_block, tiling::channels, 32);
  CHECK_NET(stem_stride, tiling::channels_rows, 16);
  CHECK_NET_TOO(widen_stride, tiling::channels_rows, 12);
  CHECK_NET(whole_block, tiling::channels_rows, 40);
  CHECK_NET_WIDE(whole_block, tiling::channels_rows, 32);
}

TEST_CASE("so does a chain tiled by runs of pixels") {
  CHECK_NET(two_pointwise, tiling::pixels, 12);
  CHECK_NET_WIDE(two_pointwise, tiling::pixels, 8);
}

TEST_CASE("so does a depthwise operator that computes two rows at a time, with a surplus row in an odd image") {
  CHECK_NET(stem, tiling::rows, 0, 2);
  CHECK_NET_TOO(widen, tiling::rows, 0, 2);
  CHECK_NET(stride_block, tiling::rows, 0, 2);
  CHECK_NET_TOO(whole_block, tiling::rows, 0, 2);
  CHECK_NET_TOO(two_depthwise, tiling::rows, 0, 2);
  CHECK_NET_TOO(two_depthwise_stride, tiling::rows, 0, 2);
  CHECK_NET(two_depthwise_plain, tiling::rows, 0, 2);
  CHECK_NET(whole_block, tiling::channels_rows, 40, 2);
}
