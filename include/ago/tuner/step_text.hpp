// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text for steps, schedules and plans.
#pragma once

#include <ago/plan/plan.hpp>
#include <ago/plan/schedule.hpp>

#include <string>
#include <string_view>

namespace ago::tuner {

/// "56x56x24", preceded by the number of images if there are several.
inline std::string in_words(shape const& s) {
  std::string const pixels = std::to_string(s.h) + 'x' + std::to_string(s.w) + 'x' + std::to_string(s.c);
  return s.n == 1 ? pixels : std::to_string(s.n) + 'x' + pixels;
}

/// What a step computes: "pointwise 56x56x24 > 56x56x144 relu6".
inline std::string in_words(graph_view g, step_nodes const& s) {
  std::string text = s.attention ? "attention" : s.main >= 0 ? label_of(g.nodes[s.main]) : "";
  if (s.main >= 0) {
    window const& w = g.nodes[s.main].win;
    if (w.kernel_h * w.kernel_w > 1) text += ' ' + std::to_string(w.kernel_h) + 'x' + std::to_string(w.kernel_w);
    if (w.stride_h > 1) text += '/' + std::to_string(w.stride_h);
  }
  if (!text.empty()) text += ' ';
  text += in_words(g.nodes[s.source].out) + " > " + in_words(g.nodes[s.result].out);
  for (int i = 0; i < s.stage_count; ++i) text += std::string(" ") + label_of(g.nodes[s.stages[i]]);
  if (!s.is_whole()) text += " (channels from " + std::to_string(s.piece_at) + ')';
  return text;
}

inline std::string tile_text(int pixels, int vectors) { return std::to_string(pixels) + 'x' + std::to_string(vectors); }

inline std::string in_words(chain_tiling const& t) {
  return t.tile == 0 ? name_of(t.how) : name_of(t.how) + (" by " + std::to_string(t.tile));
}

/// The outermost loop of a step, as decided by its cache tile: "pixels outermost", or the size of its blocks. Empty
/// where there is no such order, as with a single panel of channels.
inline std::string loop_order(planned_step const& p) {
  plan::loop_words const words = facts_of(p.key.what).order_of_loops(p.key, p.data);
  int const block = p.data.block;
  if (!words.counted) return "";
  if (block == 0) return words.whole;
  return block <= words.small ? words.smallest : "blocks of " + std::to_string(block) + ' ' + words.counted;
}

/// "2 pieces along rows"; empty if the step is undivided.
inline std::string in_words(step_split const& s) {
  return s.pieces > 1 ? std::to_string(s.pieces) + " pieces along " + name_of(s.how) : "";
}

/// A kernel with the values that it reads and writes, by which the steps of two plans are compared: "pointwise 14x2
/// 14x14x64 > 14x14x96".
inline std::string in_words(structure what, register_tile tile, shape const& in, shape const& out) {
  return std::string(name_of(what)) + ' ' + tile_text(tile.pixels, tile.vectors) + ' ' + in_words(in) + " > " +
         in_words(out);
}

/// A step of a plan, or a part of a pipeline: "pointwise 14x2 in pairs, blocks of 64 pixels".
inline std::string in_words(planned_step const& p) {
  std::string text = name_of(p.key.what);
  if (p.key.tile.pixels * p.key.tile.vectors > 1) text += ' ' + tile_text(p.key.tile.pixels, p.key.tile.vectors);
  if (p.key.paired) text += " in pairs";
  if (std::string const order = loop_order(p); !order.empty()) text += ", " + order;
  return text;
}

/// What a schedule requests: "tile 14x2, by rows with the step before". `order`: of the loops, if the schedule requests
/// one.
inline std::string in_words(schedule const& s, std::string const& order = "") {
  std::string text;
  auto const add = [&](std::string const& words) { text += (text.empty() ? "" : ", ") + words; };
  if (s.winograd != 0)
    add(s.winograd < 0 ? "direct" : s.winograd == 1 ? "im2col" : "Winograd " + std::to_string(s.winograd));
  if (s.pixels > 0) add("tile " + tile_text(s.pixels, s.vectors));
  if (s.packing > 0) add(s.packing == 2 ? "weights in pairs" : "weights one by one");
  if (s.block > 0) add(order.empty() ? "blocks of " + std::to_string(s.block) : order);
  if (s.join < 0) add("apart from the step before");
  if (s.join > 0)
    add("with the step before" + (s.tiling == tiling::none ? "" : ", " + in_words(chain_tiling{s.tiling, s.tile})));
  if (s.split == split::whole) add("one thread");
  else if (s.split != split::none) add(std::string("cut along ") + name_of(s.split));
  return text;
}

/// `Net` as the compiler prints it: "networks::mobilenet_v2<224>".
template <auto const& Net>
std::string network_name() {
#if defined(__GNUC__)
  std::string_view const function = __PRETTY_FUNCTION__;
  std::string_view const before = "Net = ";
  std::size_t const start = function.find(before);
  if (start != function.npos) {
    std::string_view const rest = function.substr(start + before.size());
    return std::string(rest.substr(0, rest.find_first_of(";]")));
  }
#endif
  return "network";
}

}  // namespace ago::tuner
