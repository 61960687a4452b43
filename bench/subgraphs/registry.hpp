// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of pairs: one file for each kind, at batch 1 and 4, with the ways in which they are compiled.
#pragma once

#include "pair.hpp"

#include "../registry.hpp"

#include <string>
#include <utility>

namespace bench {

struct subgraph {
  pair_shape what;
  std::string name;
  entry network;
  std::vector<ago::partition::chain_tiling> tilings;  ///< of each variant; tiling::none: two steps
};

inline std::vector<subgraph>& subgraphs() {
  static std::vector<subgraph> all;
  return all;
}

/// The schedule table that joins the second operator of a pair to the first one, with the analytic model's tile size.
template <auto const& Net, ago::tiling How>
inline constexpr ago::schedule_table joined{{{ago::program<Net>::plan.steps[1].signature, {.join = 1, .tiling = How}}}};

template <class Model>
void add_variant(subgraph& to, char const* name) {
  to.network.variants.push_back(make_variant<Model>(name));
  to.tilings.push_back(Model::steps == 1 ? Model::program::tiling_of(0) : ago::partition::chain_tiling{});
}

/// Adds a variant with a forced tiling, if the tiling is possible and not the default's, and if a tile is smaller than
/// the whole value between the operators.
template <auto const& Net, ago::tiling How>
void add_forced(subgraph& to, char const* name) {
  using standard = ago::program<Net>;
  using unfused = ago::program<Net, ago::untuned, ago::policy::ago_ni>;
  using forced = ago::program<Net, joined<Net, How>>;
  if constexpr (forced::steps == 1 && forced::arena_bytes < unfused::arena_bytes) {
    static_assert(forced::tuned_steps >= 1);
    if constexpr (forced::tiling_of(0).how == How && (standard::steps == 2 || standard::tiling_of(0).how != How))
      add_variant<ago::model<Net, joined<Net, How>>>(to, name);
  }
}

/// "ago" is the default; "ago-ni" does not fuse; the others have forced tilings.
template <pair_shape S>
void add_pair() {
  using ago::tiling;
  constexpr auto const& net = pair_network<S>;
  std::string const name = kind_of(S) + '/' + std::to_string(S.size) + 'x' + std::to_string(S.size) + '/' +
                           layers_of(S) + "/n" + std::to_string(S.images);
  subgraph s{S, name, {name, S.size, ago::passes::optimized<net>::value, {}}, {}};
  add_variant<ago::model<net>>(s, "ago");
  add_variant<ago::model<net, ago::untuned, ago::policy::ago_ni>>(s, "ago-ni");
  add_forced<net, tiling::rows>(s, "rows");
  add_forced<net, tiling::channels>(s, "channels");
  add_forced<net, tiling::channels_rows>(s, "channels-rows");
  add_forced<net, tiling::pixels>(s, "pixels");
  subgraphs().push_back(std::move(s));
}

constexpr pair_shape batch(pair_shape s, int images) {
  s.images = images;
  return s;
}

/// `Shapes`: an array of pair_shape.
template <auto const& Shapes>
bool add_pairs() {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((add_pair<batch(Shapes[I], 1)>(), add_pair<batch(Shapes[I], 4)>()), ...);
  }(std::make_index_sequence<sizeof Shapes / sizeof *Shapes>{});
  return true;
}

}  // namespace bench
