// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One network tuned in several searches, for instance on several boards: what belongs to each, and what it has found.
#pragma once

#include <ago/tuner/log.hpp>
#include <ago/tuner/referee.hpp>
#include <ago/tuner/search/composition.hpp>
#include <ago/tuner/settings.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ago::tuner {

/// "share 2 of 3"; empty if the search is not divided.
inline std::string text_of(share_of_search const& s) {
  return s.count == 1 ? "" : print("share %d of %d", s.number, s.count);
}

/// The region that a search's last trial is logged as: its result against the default.
inline constexpr char result_region[] = "result";

/// The subgraphs that a share of the search covers, in their order. Subgraphs with a choice in common are in one share,
/// so that no two shares decide the same; apart from this, the heaviest goes to the share with the least weight so
/// far. Shares may be empty.
inline std::vector<region const*> subgraphs_of(problem const& p, share_of_search const& s) {
  std::vector<region> const& all = p.subgraphs();
  std::vector<std::size_t> group(all.size());
  std::iota(group.begin(), group.end(), std::size_t(0));
  auto const meet = [](region const& a, region const& b) {
    return std::ranges::any_of(a.choices, [&](std::size_t c) { return std::ranges::count(b.choices, c) != 0; });
  };
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (group[a] != group[b] && meet(all[a], all[b])) std::ranges::replace(group, group[a], group[b]);

  std::vector<double> weights(all.size());
  for (std::size_t a = 0; a < all.size(); ++a) weights[group[a]] += all[a].weight;
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::sort(order, {}, [&](std::size_t g) { return std::pair(-weights[g], g); });
  std::vector<double> load(std::size_t(s.count));
  std::vector<std::size_t> share(all.size());
  for (std::size_t const g : order) {
    share[g] = std::size_t(std::ranges::min_element(load) - load.begin());
    load[share[g]] += weights[g];
  }
  std::vector<region const*> result;
  for (std::size_t a = 0; a < all.size(); ++a)
    if (share[group[a]] == std::size_t(s.number - 1)) result.push_back(&all[a]);
  return result;
}

/// The result of a complete search, from its log: the contender of its last trial if it was faster than the default,
/// or if the search was without pipelines, which keeps what it has found. Else the default. Throws a failure if the
/// log has other choices than `p`.
inline candidate result_in(std::vector<record> const& log, problem const& p, settings const& s,
                           std::string const& path) {
  candidate found = usual(p.choices());
  auto const last = std::find_if(log.rbegin(), log.rend(), [](record const& r) { return r.region == result_region; });
  if (last == log.rend() || (s.what != variant::ago_ni && !is_faster(last->result, s.confidence))) return found;
  bool valid = last->contender.size() == found.size();
  for (std::size_t i = 0; valid && i < found.size(); ++i) valid = last->contender[i] < p.choices()[i].options.size();
  if (!valid) throw failure(path + ": its result is not a candidate of this network");
  return last->contender;
}

}  // namespace ago::tuner
