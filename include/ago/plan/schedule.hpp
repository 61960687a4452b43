// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules: how a step is computed. The tuner searches for the best ones, and writes them to schedule tables.
#pragma once

#include <ago/partition/tiling.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ago::plan {

/// The axis along which a step is divided into work items that run concurrently.
enum class split : std::uint8_t {
  none,   ///< not divided; in a schedule: the analytic default decides
  whole,  ///< in a schedule: not divided
  images,
  rows,      ///< of the one image
  pixels,    ///< runs of register tiles, whatever the rows
  channels,  ///< of the result: panels of weights, or chunks; of an attention: heads
};

inline constexpr char const* split_names[] = {"none", "whole", "images", "rows", "pixels", "channels"};
static_assert(ir::has_enumerators<split, ir::lines_of(split_names)>());
constexpr char const* name_of(split how) { return split_names[int(how)]; }

/// The free choices for one step. 0: the analytic default decides.
struct schedule {
  int pixels = 0;   ///< register tile: output pixels (pointwise, convolution), output columns (depthwise)
  int vectors = 0;  ///< register tile: vectors of output channels (pointwise, convolution), output rows (depthwise)
  int block = 0;    ///< cache tile, see step_data::block: the order of loops
  int join = 0;     ///< 1: in one pipeline with the step before it, if possible; -1: not
  ago::partition::tiling tiling =
      ago::partition::tiling::none;  ///< of the pipeline whose second part this step is, if possible
  int tile = 0;                      ///< its tile: channels of a chunk, rounded up to whole vectors, or pixels of a run
  int winograd = 0;  ///< convolution: 2 or 4: Winograd with output tiles of that size, 1: im2col, both if possible;
                     ///< -1: direct
  int packing = 0;   ///< pointwise: steps of K in a register, 1 or 2 (kernel_key::paired), if possible
  ago::plan::split split = ago::plan::split::none;  ///< with several threads: how it is divided, if possible
  bool operator==(schedule const&) const = default;
};

/// The best schedule found for the steps with this signature.
struct tuned_schedule {
  std::uint64_t signature;
  schedule best;
};

/// Tuned schedules, sorted by signature: a constexpr value passed to `ago::model<net, table>`. They are not
/// template specialisations, which would come too late after the first use, and could differ silently between
/// translation units.
template <std::size_t N>
struct schedule_table {
  tuned_schedule entries[N];

  /// Strictly ascending signatures, as find() needs them.
  constexpr bool sorted() const {
    for (std::size_t i = 1; i < N; ++i)
      if (entries[i - 1].signature >= entries[i].signature) return false;
    return true;
  }
  /// The schedule for `signature`, if there is one. Not a pointer, because with -fsanitize=undefined g++ cannot compare
  /// the address of a static object with null at compile time.
  constexpr std::optional<schedule> find(std::uint64_t signature) const {
    std::size_t low = 0, high = N;
    while (low < high) {
      std::size_t const middle = (low + high) / 2;
      if (entries[middle].signature < signature) low = middle + 1;
      else high = middle;
    }
    if (low == N || entries[low].signature != signature) return {};
    return entries[low].best;
  }
};
template <std::size_t N>
schedule_table(tuned_schedule const (&)[N]) -> schedule_table<N>;

/// The empty table: every step uses the analytic default.
struct untuned_t {
  constexpr bool sorted() const { return true; }
  constexpr std::optional<schedule> find(std::uint64_t) const { return {}; }
};
inline constexpr untuned_t untuned{};

/// The same schedule for every step, for experiments.
struct uniform_schedule {
  schedule wish;
  constexpr bool sorted() const { return true; }
  constexpr std::optional<schedule> find(std::uint64_t) const { return wish; }
};

}  // namespace ago::plan

namespace ago {
using plan::name_of;
using plan::schedule;
using plan::schedule_table;
using plan::split;
using plan::untuned;
using plan::untuned_t;
}  // namespace ago
