// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extents of window operators, compared with counting window positions one by one.
#include "network/run_time_trace.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace ago;
using namespace ago::ir;
using graph_test::run_time_trace;

namespace {

/// One dimension.
struct direction {
  int image, kernel, stride, dilation, before, after;
  bool ceil;

  int span() const { return (kernel - 1) * dilation + 1; }
  int start(int position) const { return position * stride - before; }

  /// Counts the window positions that PyTorch's documentation admits.
  int count() const {
    int n = 0;
    for (int p = 0; p <= image + before + after; ++p) {
      bool const inside = start(p) + span() <= image + after;
      // Ceil mode: a window may extend beyond the padded image if the previous one (or one that would precede the
      // first) leaves part of it uncovered, and if it starts inside the image or the left padding.
      bool const rest_unseen = start(p - 1) + span() < image + after;
      n += inside || (ceil && rest_unseen && start(p) < image);
    }
    return n;
  }
  bool every_window_sees_a_pixel() const {
    for (int p = 0; p < count(); ++p) {
      bool seen = false;
      for (int k = 0; k < kernel; ++k) {
        int const at = start(p) + k * dilation;
        seen = seen || (at >= 0 && at < image);
      }
      if (!seen) return false;
    }
    return true;
  }
};

class random_axes {
 public:
  explicit random_axes(unsigned seed) : random_(seed) {}
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  direction make(bool pooling) {
    direction a{pick(1, 20), pick(1, 6), pick(1, 5), pick(1, 3), 0, 0, pooling && pick(0, 1)};
    int const most = pooling ? a.span() / 2 : 7;
    a.before = pick(0, most);
    a.after = pick(0, most);
    return a;
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("a convolution has as many outputs as there are window positions") {
  random_axes axes(1);
  int fitting = 0;
  for (int i = 0; i < 20000; ++i) {
    direction const v = axes.make(false), h = axes.make(false);
    run_time_trace t;
    tensor const x = t.add({.h = v.image, .w = h.image, .c = 3});
    tensor const y = x | conv2d{.out = 2,
                                .kernel = {v.kernel, h.kernel},
                                .stride = {v.stride, h.stride},
                                .pad = pads{v.before, h.before, v.after, h.after},
                                .dilation = {v.dilation, h.dilation}};
    CAPTURE(i);
    bool const fits = v.count() > 0 && h.count() > 0;
    REQUIRE(t.fault() == (fits ? fault::none : fault::window_exceeds_input));
    if (!fits) continue;
    ++fitting;
    REQUIRE(y.height() == v.count());
    REQUIRE(y.width() == h.count());
  }
  CHECK(fitting > 10000);
}

TEST_CASE("a pooling has as many outputs as in PyTorch, in floor and ceil mode") {
  random_axes axes(2);
  int fitting = 0, blind = 0;
  for (int i = 0; i < 20000; ++i) {
    direction const v = axes.make(true);
    direction h = axes.make(true);
    h.ceil = v.ceil;
    run_time_trace t;
    tensor const x = t.add({.h = v.image, .w = h.image, .c = 3});
    tensor const y = x | max_pool{.kernel = {v.kernel, h.kernel},
                                  .stride = {v.stride, h.stride},
                                  .pad = pads{v.before, h.before, v.after, h.after},
                                  .dilation = {v.dilation, h.dilation},
                                  .ceil = v.ceil};
    CAPTURE(i);
    bool const fits = v.count() > 0 && h.count() > 0;
    if (!fits) {
      REQUIRE(t.fault() != fault::none);
      continue;
    }
    bool const sees = v.every_window_sees_a_pixel() && h.every_window_sees_a_pixel();
    blind += !sees;
    REQUIRE(t.fault() == (sees ? fault::none : fault::window_misses_the_image));
    ++fitting;
    REQUIRE(y.height() == v.count());
    REQUIRE(y.width() == h.count());
  }
  CHECK(fitting > 10000);
  CHECK(blind > 10);
}

TEST_CASE("ceil mode drops a last window that starts beyond the image and its left padding") {
  run_time_trace t;
  tensor const x = t.add({.h = 5, .w = 6, .c = 1});
  tensor const y = x | avg_pool{.kernel = 2, .stride = 3, .pad = 1, .ceil = true};  // rows -1, 2; 5 is outside
  CHECK(t.fault() == fault::none);
  CHECK(y.height() == 2);
  CHECK(y.width() == 3);  // columns -1, 2, 5
}

TEST_CASE("ceil mode also lets the first window extend beyond the image, by less than its stride") {
  run_time_trace t;
  tensor const x = t.add({.h = 2, .w = 1, .c = 1});
  tensor const y = x | max_pool{.kernel = {3, 2}, .stride = 2, .ceil = true};
  CHECK(t.fault() == fault::none);
  CHECK((y.height() == 1 && y.width() == 1));
  x | max_pool{.kernel = 3, .stride = 2, .ceil = true};
  CHECK(t.fault() == fault::window_exceeds_input);
}

TEST_CASE("same padding gives ceil(extent / stride) outputs with the least padding, the odd pad at the end") {
  for (int image = 1; image <= 20; ++image)
    for (int kernel = 1; kernel <= 6; ++kernel)
      for (int stride = 1; stride <= 5; ++stride)
        for (int dilation = 1; dilation <= 3; ++dilation) {
          run_time_trace t;
          tensor const x = t.add({.h = image, .w = image, .c = 4});
          tensor const y = x | depthwise{.kernel = kernel, .stride = stride, .pad = same, .dilation = dilation};
          window const& w = t.last().win;
          CAPTURE(image);
          CAPTURE(kernel);
          CAPTURE(stride);
          CAPTURE(dilation);
          REQUIRE(t.fault() == fault::none);
          REQUIRE(y.height() == (image + stride - 1) / stride);
          REQUIRE(y.width() == y.height());
          int const padding = w.pad_top + w.pad_bottom;
          REQUIRE((w.pad_bottom == w.pad_top || w.pad_bottom == w.pad_top + 1));
          REQUIRE(w.pad_left == w.pad_top);
          REQUIRE(w.pad_right == w.pad_bottom);
          direction const less{image, kernel, stride, dilation, 0, padding - 1, false};
          REQUIRE((padding == 0 || less.count() < y.height()));
        }
}
