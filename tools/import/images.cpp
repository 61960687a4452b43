// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "images.hpp"

#include <algorithm>

namespace ago::importer {

view as_image(context& c, view const& x) {
  if (x.how.rank() == 3) return placed(c.net, x, {{0}, {}, {2}, {1}});
  if (x.how.rank() == 4) return placed(c.net, x, {{0}, {2}, {3}, {1}});
  if (x.how.rank() < 3) throw unsupported("an image must have three or four axes");
  throw unsupported("images of more than two dimensions are not supported");
}

view as_volume(context& c, view const& x) {
  if (x.how.rank() > 5) throw unsupported("images of more than three dimensions are not supported");
  view r = x.how.rank() == 5 ? placed(c.net, x, {{0}, {2, 3}, {4}, {1}}) : as_image(c, x);
  std::vector<int> d;
  for (std::int64_t extent : x.how.dims) d.push_back(int(extent));
  while (d.size() < 5) d.insert(d.begin() + 2, 1);
  r.value = c.net.apply(view_as{ago::expression::extents(d[0], d[2], d[3], d[4], d[1])}, {r.value});
  return r;
}

view volume(context& c, int value, extents const& dims) {
  shape const s = c.net.dims(value);
  value = c.net.apply(view_as{ago::expression::extents(s.n, s.h, s.w, s.c)}, {value});
  return dims.size() == 5 ? view{value, of_axes(dims, {0, 2, 3, 4, 1})} : image(value, dims);
}

view as_pixels(context& c, view const& x) {
  if (x.how.rank() == 4) return as_image(c, x);
  std::vector<int> pixels;
  for (int axis = 2; axis < x.how.rank(); ++axis) pixels.push_back(axis);
  return placed(c.net, x, {{0}, {}, pixels, {1}});
}

view image(int value, extents const& dims) {
  return {value, dims.size() == 3 ? of_axes(dims, {0, 2, 1}) : of_axes(dims, {0, 2, 3, 1})};
}

void window_side::check() const {
  std::int64_t const whole = std::int64_t(kernel - 1) * dilation + 1;
  std::int64_t const reach = std::int64_t(out - 1) * stride + whole, padded = std::int64_t(in) + before + after;
  if (std::max({whole, reach, padded}) > tracing::int_limit) throw unsupported("its window is too large");
}

namespace {

window_side side(node_reader const& n, std::size_t i, std::size_t sides, std::int64_t in, std::int64_t out,
                 std::int64_t kernel) {
  auto const at = [&](char const* name, std::size_t k, std::int64_t otherwise) {
    auto const values = n.list(name);
    return int(values.empty()      ? otherwise
               : k < values.size() ? values[k]
                                   : throw unsupported(std::string(name) + " is too short"));
  };
  window_side s{.kernel = int(kernel),
                .stride = at("strides", i, 1),
                .dilation = at("dilations", i, 1),
                .in = int(in),
                .out = int(out)};
  std::string const rule = n.text("auto_pad", "NOTSET");
  if (rule == "SAME_UPPER" || rule == "SAME_LOWER") {
    s.check();
    int const needed = (s.out - 1) * s.stride + s.span() - s.in, all = needed > 0 ? needed : 0;
    s.before = rule == "SAME_UPPER" ? all / 2 : all - all / 2;
    s.after = all - s.before;
  } else if (rule != "VALID") {
    s.before = at("pads", i, 0);
    s.after = at("pads", i + sides, 0);
  }
  s.check();
  return s;
}

}  // namespace

std::vector<window_side> sides_of(node_reader const& n, extents const& in, extents const& out,
                                  std::vector<std::int64_t> const& kernel) {
  std::size_t const sides = in.size() - 2;
  if (kernel.size() != sides) throw unsupported("its kernel and its input have different numbers of dimensions");
  std::vector<window_side> r;
  for (std::size_t i = 0; i < sides; ++i) r.push_back(side(n, i, sides, in[2 + i], out[2 + i], kernel[i]));
  return r;
}

window_sides window_of(node_reader const& n, extents const& in, extents const& out,
                       std::vector<std::int64_t> const& kernel) {
  window_sides r;
  auto const sides = sides_of(n, in, out, kernel);
  for (std::size_t i = 0; i < sides.size(); ++i) (i + 1 == sides.size() ? r.w : r.h) = sides[i];
  return r;
}

}  // namespace ago::importer
