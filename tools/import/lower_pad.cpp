// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pad.
#include "images.hpp"
#include "movement.hpp"

#include <algorithm>
#include <numeric>

namespace ago::importer {

namespace {

/// The indices of the elements at -before ... extent + after - 1 of an axis that is mirrored, clamped or wrapped
/// around.
std::vector<std::int64_t> continued(pad_mode mode, std::int64_t extent, std::int64_t before, std::int64_t after) {
  std::vector<std::int64_t> r;
  for (std::int64_t i = -before; i < extent + after; ++i) {
    std::int64_t at = i;
    if (mode == pad_mode::edge) at = std::clamp<std::int64_t>(i, 0, extent - 1);
    else if (mode == pad_mode::wrap) at = ((i % extent) + extent) % extent;
    else if (extent == 1) at = 0;
    else {
      std::int64_t const period = 2 * (extent - 1);
      at = ((i % period) + period) % period;
      if (at >= extent) at = period - at;
    }
    r.push_back(at);
  }
  return r;
}

pad_mode pad_mode_of(std::string const& name) {
  return name == "reflect" ? pad_mode::reflect
         : name == "edge"  ? pad_mode::edge
         : name == "wrap"  ? pad_mode::wrap
                           : pad_mode::constant;
}

/// The number of elements added before and after each axis; negative: removed.
struct borders {
  std::vector<std::int64_t> before, after;
};

borders borders_of(node_reader const& n) {
  auto const pads = n.given("paddings") ? n.list("paddings") : n.list_or_input("pads", 1);
  std::size_t const rank = n.dims().size();
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  axes = n.has(3) ? n.integers(3, "axes") : axes;
  borders r{std::vector<std::int64_t>(rank), std::vector<std::int64_t>(rank)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::size_t const axis = std::size_t(axis_of(axes[i], int(rank)));
    r.before[axis] += pads[i];
    r.after[axis] += pads[axes.size() + i];
  }
  return r;
}

/// Whether ago's layer can pad an axis in this way: it mirrors and wraps only once.
bool is_padding(pad_mode mode, std::int64_t extent, std::int64_t before, std::int64_t after) {
  std::int64_t const most = mode == pad_mode::reflect ? extent - 1
                            : mode == pad_mode::wrap  ? extent
                                                      : std::int64_t{tracing::int_limit};
  return std::min(before, after) >= 0 && std::max(before, after) <= most;
}

void pad_rule(node_reader const& n) {
  pad_mode const mode = pad_mode_of(n.text("mode", "constant"));
  auto const [before, after] = borders_of(n);
  float value = n.real("value", 0);
  if (n.has(2))
    if (auto const k = n.reals(2, "the value of padding"); !k.empty()) value = k[0];
  std::size_t const rank = n.dims().size();
  bool of_image = rank == 4 && !before[0] && !after[0];
  for (std::size_t d = 0; d < rank; ++d) of_image = of_image && is_padding(mode, n.dims()[d], before[d], after[d]);
  if (of_image) {
    pad const layer{.sides = pads{int(before[2]), int(before[3]), int(after[2]), int(after[3])},
                    .value = value,
                    .mode = mode,
                    .channels_before = int(before[1]),
                    .channels_after = int(after[1])};
    return n.define(image(n.c.net.apply(layer, {as_image(n.c, n.x()).value}), n.out_dims()));
  }
  view x = n.x();
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t const extent = n.dims()[d];
    if (mode == pad_mode::constant || is_padding(mode, extent, before[d], after[d])) {
      x = padded(n.c, x, int(d), before[d], after[d], value, mode);
    } else {
      n.c.net.afford({extent + before[d] + after[d]});
      x = selected(n.c, x, int(d), continued(mode, extent, before[d], after[d]));
    }
  }
  n.define(x);
}

}  // namespace

void add_pad_rules(rule_table& t) { t["Pad"] = pad_rule; }

}  // namespace ago::importer
