// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel can be divided into work items, and the parts of values that these read and write.
#pragma once

#include <ago/expression/common_divisor.hpp>
#include <ago/plan/step.hpp>

namespace ago::plan {

/// Pixels first ... last - 1 of a value, and of these the channels first ... last - 1.
struct value_region {
  long first_pixel{}, last_pixel{}, first_channel{}, last_channel{};

  constexpr long floats() const {
    bool const none = last_pixel <= first_pixel || last_channel <= first_channel;
    return none ? 0 : (last_pixel - first_pixel) * (last_channel - first_channel);
  }
  constexpr bool contains(value_region const& o) const {
    return o.floats() == 0 || (first_pixel <= o.first_pixel && o.last_pixel <= last_pixel &&
                               first_channel <= o.first_channel && o.last_channel <= last_channel);
  }
  constexpr value_region common_with(value_region const& o) const {
    return {first_pixel > o.first_pixel ? first_pixel : o.first_pixel,
            last_pixel < o.last_pixel ? last_pixel : o.last_pixel,
            first_channel > o.first_channel ? first_channel : o.first_channel,
            last_channel < o.last_channel ? last_channel : o.last_channel};
  }
};
constexpr value_region whole_of(shape const& s) { return {0, s.pixels(), 0, s.c}; }

/// A range of an extent.
struct stretch {
  long first, last;
  constexpr long size() const { return last - first; }
};

/// How a kernel is divided along pixels, or along the indices of something else.
struct pixel_cut {
  int granule = 0;        ///< work items begin at multiples of it; 0: they cannot
  bool anywhere = false;  ///< they can begin at any pixel; the granule is for speed
  bool tiles = false;     ///< the indices are those of tiles of several rows
};

/// How a kernel is divided along channels of its result.
struct channel_cut {
  int granule = 0;          ///< 0: it cannot
  bool narrows = false;     ///< a work item is a kernel of fewer channels; otherwise it has step_data::channels
  bool reads_own = false;   ///< it reads only its channels of the source
  bool others_too = false;  ///< and only these of the other operands
  bool repeats = false;     ///< it repeats arithmetic of the others, because all of them transform the whole input
};

/// The granule with which work items consist of whole register tiles of `tile` pixels or Winograd tiles, if each
/// element of the divided extent has `unit` of these: the kernel is compiled for only one remainder.
constexpr int whole_tiles(int tile, long unit) { return int(tile / expression::common_divisor(tile, unit)); }

}  // namespace ago::plan
