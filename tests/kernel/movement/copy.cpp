// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/movement/copy.hpp>
#include <ago/plan/movement_loops.hpp>

#include "kernel/support.hpp"

#include <algorithm>
#include <array>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

constexpr kernel_key key(isa target) { return {.what = structure::copy, .target = target}; }

using indices = std::array<int, 4>;

indices extents_of(shape const& s) { return {s.n, s.h, s.w, s.c}; }
shape shape_of(indices const& e) { return {e[0], e[1], e[2], e[3]}; }

int channels(test::numbers& r, isa target) {
  int const l = lanes(target);
  return r.one_of({1, 2, 3, 4, 7, 8, 17, 24, 58, l - 1 + (l == 1), l, l + 1, 2 * l - 1, 2 * l, 3 * l + 1});
}

shape random_shape(test::numbers& r, isa target) {
  return {r.integer(1, 3), r.integer(1, 7), r.integer(1, 7), channels(r, target)};
}

/// Puts source and destination into memory with or without gaps between pixels.
void set_places(planned_data& s, test::numbers& r) {
  s.source = {place::area::input, 0, 0, s.in.c + r.one_of({0, 0, 1, 5})};
  s.destination = {place::area::output, 0, 0, s.out.c + r.one_of({0, 0, 1, 5})};
}

/// Runs the step. from(n, y, x, c) gives the source element of each element of the result; its image is -1 if the
/// element is not written.
template <isa I, class From>
void check_moves(planned_data const& s, test::numbers& r, From from) {
  test::guarded in(test::extent(s.in, s.source.pixel_stride)), out(test::extent(s.out, s.destination.pixel_stride));
  r.fill(in.data(), in.size());
  test::call<copy_kernel<key(I)>>(s, nullptr, {in.data()}, out.data());
  CAPTURE(s.source.pixel_stride - s.in.c);
  CAPTURE(s.destination.pixel_stride - s.out.c);
  test::check_output(
      s.out, s.destination.pixel_stride, out,
      [&](int n, int y, int x, int c) {
        indices const i = from(indices{n, y, x, c});
        if (i[0] < 0) return double(test::guarded::canary);
        return double(in[std::size_t(test::index_of(s.in, s.source.pixel_stride, i[0], i[1], i[2], i[3]))]);
      },
      0);
}

/// f(numbers, isa tag) for many seeds on every instruction set.
template <class F>
void for_many(int seeds, F f) {
  test::for_each_isa([&]<isa I>(std::integral_constant<isa, I> tag) {
    for (int seed = 0; seed < seeds; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      CAPTURE(seed);
      f(r, tag);
    }
  });
}

}  // namespace

TEST_CASE("a slice takes every n-th element along any axis, forwards or backwards") {
  for_many(150, []<isa I>(test::numbers& r, std::integral_constant<isa, I>) {
    planned_data s;
    s.in = random_shape(r, I);
    indices e = extents_of(s.in);
    int const axis = r.one_of({0, 1, 2, 3, 3, 3});
    auto const a = std::size_t(axis);
    int const first = r.integer(0, e[a] - 1), last = r.integer(0, e[a] - 1), size = r.one_of({1, 1, 2, 3});
    int const step = last < first ? -size : size;
    e[a] = std::abs(last - first) / size + 1;
    s.out = shape_of(e);
    set_places(s, r);
    s.loops = loops_of_slice(s, axis, first, step);
    check_moves<I>(s, r, [&](indices i) {
      i[a] = first + i[a] * step;
      return i;
    });
  });
}

TEST_CASE("a part of a concat is written to its place along any axis, and nothing else is") {
  for_many(150, []<isa I>(test::numbers& r, std::integral_constant<isa, I>) {
    planned_data s;
    s.in = random_shape(r, I);
    indices e = extents_of(s.in);
    int const axis = r.one_of({0, 1, 2, 3, 3, 3}), step = r.one_of({1, 1, 2, 3}), begin = r.integer(0, 3);
    auto const a = std::size_t(axis);
    int const count = e[a];
    e[a] = begin + (count - 1) * step + 1 + r.integer(0, 2);
    s.out = shape_of(e);
    set_places(s, r);
    s.loops = loops_of_scatter(s, axis, begin, step);
    check_moves<I>(s, r, [&](indices i) {
      int const from = i[a] - begin;
      bool const written = from >= 0 && from % step == 0 && from / step < count;
      i[a] = from / step;
      return written ? i : indices{-1, 0, 0, 0};
    });
  });
}

TEST_CASE("channels are shuffled between any number of groups") {
  for_many(100, []<isa I>(test::numbers& r, std::integral_constant<isa, I>) {
    planned_data s;
    s.in = random_shape(r, I);
    int const groups = r.one_of({1, 2, 2, 3, 4, 8, 5}), channels = s.in.c;
    s.in.c *= groups;
    s.out = s.in;
    set_places(s, r);
    s.loops = loops_of_shuffle(s, groups);
    check_moves<I>(s, r, [&](indices i) {
      i[3] = i[3] % groups * channels + i[3] / groups;
      return i;
    });
  });
}

TEST_CASE("axes are permuted in every order") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    int order[] = {0, 1, 2, 3};
    do {
      for (unsigned seed = 0; seed < 8; ++seed) {
        test::numbers r(seed);
        planned_data s;
        s.in = random_shape(r, I);
        indices e{};
        for (std::size_t k = 0; k < 4; ++k) e[k] = extents_of(s.in)[std::size_t(order[k])];
        s.out = shape_of(e);
        set_places(s, r);
        s.loops = loops_of_axes(s, order);
        CAPTURE(seed);
        CAPTURE(order[0] * 1000 + order[1] * 100 + order[2] * 10 + order[3]);
        check_moves<I>(s, r, [&](indices const& i) {
          indices from{};
          for (std::size_t k = 0; k < 4; ++k) from[std::size_t(order[k])] = i[k];
          return from;
        });
      }
    } while (std::next_permutation(order, order + 4));
  });
}

TEST_CASE("every place in the patches becomes a sequence, and sequences become an image again") {
  for_many(80, []<isa I>(test::numbers& r, std::integral_constant<isa, I>) {
    int const ph = r.integer(1, 3), pw = r.integer(1, 3), rows = r.integer(1, 4), columns = r.integer(1, 4);
    shape const image{r.integer(1, 2), ph * rows, pw * columns, channels(r, I)};
    shape const sequences{image.n * ph * pw, 1, rows * columns, image.c};
    planned_data s;
    ago::ir::patch const patch{ph, pw};
    s.in = image;
    s.out = sequences;
    set_places(s, r);
    s.loops = loops_of_patches(s, patch, false);
    check_moves<I>(s, r, [&](indices const& i) {
      int const px = i[0] % pw, py = i[0] / pw % ph, tx = i[2] % columns, ty = i[2] / columns;
      return indices{i[0] / pw / ph, ty * ph + py, tx * pw + px, i[3]};
    });
    s.in = sequences;
    s.out = image;
    set_places(s, r);
    s.loops = loops_of_patches(s, patch, true);
    check_moves<I>(s, r, [&](indices const& i) {
      return indices{(i[0] * ph + i[1] % ph) * pw + i[2] % pw, 0, i[1] / ph * columns + i[2] / pw, i[3]};
    });
  });
}

TEST_CASE("a reshape keeps the order of the elements, whatever the gaps between pixels") {
  for_many(100, []<isa I>(test::numbers& r, std::integral_constant<isa, I>) {
    planned_data s;
    s.in = random_shape(r, I);
    indices e = extents_of(s.in);
    for (std::size_t k = 4; k > 1; --k) std::swap(e[k - 1], e[std::size_t(r.integer(0, int(k) - 1))]);
    if (r.integer(0, 1) == 1) {  // channels that are multiples of each other
      e[2] *= e[3];
      e[3] = 1;
    }
    s.out = shape_of(e);
    if (r.integer(0, 1) == 1) std::swap(s.in, s.out);
    set_places(s, r);
    s.loops = loops_in_order(s);
    check_moves<I>(s, r, [&](indices const& i) {
      int const at = ((i[0] * s.out.h + i[1]) * s.out.w + i[2]) * s.out.c + i[3];
      return indices{at / s.in.c / s.in.w / s.in.h, at / s.in.c / s.in.w % s.in.h, at / s.in.c % s.in.w, at % s.in.c};
    });
  });
}

TEST_CASE("elements are repeated along axes on which the source has one") {
  for_many(60, []<isa I>(test::numbers& r, std::integral_constant<isa, I>) {
    planned_data s;
    s.out = random_shape(r, I);
    indices e = extents_of(s.out);
    for (int& extent : e)
      if (r.integer(0, 1) == 1) extent = 1;
    s.in = shape_of(e);
    set_places(s, r);
    s.loops = loops_of_axes(s, {0, 1, 2, 3});
    check_moves<I>(s, r, [&](indices i) {
      for (std::size_t k = 0; k < 4; ++k) i[k] = e[k] == 1 ? 0 : i[k];
      return i;
    });
  });
}

TEST_CASE("a plain copy keeps every element in place") {
  for_many(40, []<isa I>(test::numbers& r, std::integral_constant<isa, I>) {
    planned_data s;
    s.in = s.out = random_shape(r, I);
    set_places(s, r);
    s.loops = loops_of_axes(s, {0, 1, 2, 3});
    check_moves<I>(s, r, [](indices const& i) { return i; });
  });
}

TEST_CASE("NaN, infinities and signed zeros are copied unchanged") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    std::uint32_t const bits[] = {0x7fc00001u, 0x7f800000u, 0xff800000u, 0x80000000u, 1u, 0x807fffffu, 0xffc12345u};
    for (op const kind : {op::identity, op::permute, op::reshape}) {
      test::guarded in(21), out(21);
      for (std::size_t i = 0; i < 21; ++i) std::memcpy(&in[i], &bits[i % 7], 4);
      planned_data s;
      s.in = {1, 1, 3, 7};
      s.out = kind == op::identity ? s.in : shape{1, 1, 7, 3};
      s.source = {place::area::input, 0, 0, s.in.c};
      s.destination = {place::area::output, 0, 0, s.out.c};
      if (kind == op::reshape) s.loops = loops_in_order(s);
      else s.loops = loops_of_axes(s, {0, 1, kind == op::permute ? 3 : 2, kind == op::permute ? 2 : 3});
      test::call<copy_kernel<key(I)>>(s, nullptr, {in.data()}, out.data());
      bool same = true;
      for (std::size_t i = 0; i < 21; ++i) {
        std::size_t const from = kind == op::permute ? i % 3 * 7 + i / 3 : i;
        same = same && std::memcmp(&out[i], &in[from], 4) == 0;
      }
      CAPTURE(std::string(name_of(kind)));
      CHECK(same);
    }
  });
}
