// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that turn blocks of an image into channels of one pixel, and back.
#pragma once

#include <ago/operators/permute.hpp>
#include <ago/operators/reshape.hpp>

namespace ago {

namespace tracing {

/// {n, h, w, sh * sw * c} becomes {n, h * sh, w * sw, c}: a pixel's channels, sh rows of sw pixels of c channels,
/// become a block of the image.
constexpr tensor append_blocks(recording& r, tensor x, int sh, int sw) {
  shape const s = x.dims();
  int const row = s.c / sh;
  shape const out{s.n, r.fitting(long(s.h) * sh), r.fitting(long(s.w) * sw), row / sw};
  if (sh == 1 && sw == 1) return x;
  int const rows = r.fitting(long(s.n) * s.h);
  x = r.append({.kind = op::reshape, .out = {rows, s.w, sh, row}}, x);
  x = r.append({.kind = op::permute, .out = {rows, sh, s.w, row}, .order = {0, 2, 1, 3}}, x);
  return r.append({.kind = op::reshape, .out = out}, x);
}

/// The inverse; sh and sw must divide the extents.
constexpr tensor append_channels(recording& r, tensor x, int sh, int sw) {
  shape const s = x.dims();
  if (sh == 1 && sw == 1) return x;
  int const rows = r.fitting(long(s.n) * (s.h / sh)), columns = s.w / sw, row = r.fitting(long(sw) * s.c);
  x = r.append({.kind = op::reshape, .out = {rows, sh, columns, row}}, x);
  x = r.append({.kind = op::permute, .out = {rows, columns, sh, row}, .order = {0, 2, 1, 3}}, x);
  return r.append({.kind = op::reshape, .out = {s.n, s.h / sh, columns, r.fitting(long(sh) * row)}}, x);
}

/// channel_shuffle{groups}
constexpr tensor append_shuffle(recording& r, tensor x, int groups) {
  if (groups == 1 || groups == x.channels()) return x;
  return r.append({.kind = op::channel_shuffle, .out = x.dims(), .groups = groups}, x);
}

/// `block`, or 1 if the pixels of a block do not divide the channels of x.
constexpr int check_block(recording& r, tensor x, int block) {
  int const side = r.positive(block);
  long const pixels = long(side) * side;
  if (x.channels() % pixels == 0) return side;
  r.complain(ir::fault::channels_not_divisible_by_groups, pixels, x.channels());
  return 1;
}

/// `block`, or 1 if it does not divide the extents of x.
constexpr int check_image(recording& r, tensor x, int block) {
  int const side = r.positive(block);
  if (x.height() % side) r.complain(ir::fault::patch_must_divide_image, side, x.height());
  else if (x.width() % side) r.complain(ir::fault::patch_must_divide_image, side, x.width());
  else return side;
  return 1;
}

}  // namespace tracing

/// {n, h, w, block * block * c} to {n, h * block, w * block, c}, with the position within the block outermost in the
/// channels, as in TensorFlow and, by default, in ONNX ("DCR").
struct depth_to_space {
  int block = 2;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::permute, line, x);
    int const side = tracing::check_block(r, x, block);
    return tracing::append_blocks(r, x, side, side);
  }
};

/// The inverse of depth_to_space.
struct space_to_depth {
  int block = 2;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::permute, line, x);
    int const side = tracing::check_image(r, x, block);
    return tracing::append_channels(r, x, side, side);
  }
};

/// depth_to_space with the position within the block innermost in the channels: PyTorch's PixelShuffle, ONNX's "CRD".
struct pixel_shuffle {
  int block = 2;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::permute, line, x);
    int const side = tracing::check_block(r, x, block);
    return tracing::append_blocks(r, tracing::append_shuffle(r, x, x.channels() / (side * side)), side, side);
  }
};

/// The inverse of pixel_shuffle.
struct pixel_unshuffle {
  int block = 2;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::permute, line, x);
    int const side = tracing::check_image(r, x, block);
    return tracing::append_shuffle(r, tracing::append_channels(r, x, side, side), side * side);
  }
};

}  // namespace ago
