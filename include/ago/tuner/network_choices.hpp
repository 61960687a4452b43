// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choices of a network as a search sees them, and the schedules that they represent.
#pragma once

#include <ago/partition/weight.hpp>
#include <ago/tuner/network_space.hpp>
#include <ago/tuner/problem.hpp>
#include <ago/tuner/schedule_list.hpp>
#include <ago/tuner/step_text.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ago::tuner {

/// For each step, where it has them: a register tile, a cache tile, a convolution algorithm, the direction in which it
/// is divided for several threads, and whether and how it runs in one pipeline with the step before it. Equal steps
/// share their choices, as they share an entry of the table.
template <auto const& Net, options_for Options = options{}>
class network_choices {
 public:
  using steps = network_space<Net, Options>;
  using formed = typename steps::formed;

  network_choices() {
    for (int i = 0; i < steps::count; ++i)
      if (!steps::is_repeated(i)) {
        add_way(i);
        add_tiles(i);
        add_blocks(i);
        add_splits(i);
        add_joining(i);
      }
    for (int i = 0; i < steps::count; ++i) weight_[steps::signature(i)] += weight_of_step(i);
    list_minis();
    list_subgraphs();
  }

  std::vector<choice> const& choices() const { return choices_; }
  std::vector<region> const& minis() const { return minis_; }
  std::vector<region> const& subgraphs() const { return subgraphs_; }

  /// The schedules that differ from the default.
  schedule_list table(candidate const& c) const {
    std::map<std::uint64_t, schedule> wishes;
    for (std::size_t k = 0; k < knobs_.size(); ++k) merge(wishes[knobs_[k].signature], knobs_[k].options[c[k]]);
    std::vector<tuned_schedule> entries;
    for (auto const& [signature, wish] : wishes) {
      auto const algorithm = usual_algorithm_.find(signature);
      bool const as_usual =
          algorithm != usual_algorithm_.end() && wish == schedule{.winograd = algorithm->second};  // the default
      if (!as_usual && wish != schedule{}) entries.push_back({signature, wish});
    }
    return schedule_list(std::move(entries));
  }

  /// The parts of steps with this signature, by their numbers in the whole network: "parts 4, 7: pointwise ...".
  static std::string name_of_parts(std::uint64_t signature) {
    std::string numbers, what;
    int count = 0;
    for (int i = 0; i < steps::count; ++i) {
      if (steps::signature(i) != signature) continue;
      if (count++ == 0) what = in_words(formed::graph, formed::parts.step[i]);
      numbers += (count > 1 ? ", " : "") + std::to_string(i);
    }
    return (count > 1 ? "parts " : "part ") + numbers + ": " + what;
  }

 private:
  /// The schedule fields that the options of a choice set for a step.
  struct knob {
    std::uint64_t signature;
    std::vector<schedule> options;
  };

  static void merge(schedule& into, schedule const& from) {
    if (from.pixels != 0) into.pixels = from.pixels;
    if (from.vectors != 0) into.vectors = from.vectors;
    if (from.block != 0) into.block = from.block;
    if (from.join != 0) into.join = from.join;
    if (from.tiling != tiling::none) into.tiling = from.tiling;
    if (from.tile != 0) into.tile = from.tile;
    if (from.winograd != 0) into.winograd = from.winograd;
    if (from.packing != 0) into.packing = from.packing;
    if (from.split != split::none) into.split = from.split;
  }

  void add(int step, char const* what, std::vector<std::string> names, std::vector<schedule> options,
           std::size_t usual = 0, std::size_t apart = choice::none) {
    if (options.size() < 2) return;
    std::uint64_t const signature = steps::signature(step);
    (apart == choice::none ? own_ : joining_)[signature].push_back(choices_.size());
    choices_.push_back({name_of_parts(signature) + ": " + what, std::move(names), usual, apart});
    knobs_.push_back({signature, std::move(options)});
  }

  void add_way(int i) {
    if (formed::parts.step[i].main < 0 || formed::graph.nodes[formed::parts.step[i].main].kind != op::conv2d) return;
    int const usual = algorithm_of(steps::scheduled(i, {}).key.what);
    std::vector<std::string> names;
    std::vector<schedule> options;
    std::size_t at = 0;
    for (int const algorithm : {-1, 1, 2, 4}) {
      if (!steps::allows_algorithm(i, algorithm)) continue;
      if (algorithm == usual) at = options.size();
      schedule s;
      s.winograd = algorithm;
      names.push_back(in_words(s));
      options.push_back(s);
    }
    if (options.size() > 1) usual_algorithm_[steps::signature(i)] = usual;
    add(i, "way", std::move(names), std::move(options), at);
  }

  void add_tiles(int i) {
    std::vector<std::string> names{"default"};
    std::vector<schedule> options{{}};
    for (tile_options const& tiles : {steps::tiles(i), steps::repacked_tiles(i)})
      for (int k = 0; k < tiles.count; ++k) {
        options.push_back(tiles.wish(k));
        names.push_back(in_words(options.back()));
      }
    add(i, "register tile", std::move(names), std::move(options));
  }

  void add_blocks(int i) {
    planned_step const usual = steps::direct(i);
    block_options const blocks = blocks_of(usual);
    std::vector<std::string> names{"default"};
    std::vector<schedule> options{{}};
    for (int k = 0; k < blocks.count; ++k) {
      if (blocks.block[k] == usual.data.block) continue;
      schedule s;
      s.block = blocks.block[k];
      options.push_back(s);
      s.winograd = -1;
      names.push_back(loop_order(steps::scheduled(i, s)));
    }
    add(i, "loop order", std::move(names), std::move(options));
  }

  void add_splits(int i) {
    std::vector<std::string> names{"default"};
    std::vector<schedule> options{{}};
    for (split const how : {split::whole, split::images, split::rows, split::pixels, split::channels}) {
      if (how != split::whole && !steps::can_split(i, how)) continue;
      options.push_back({.split = how});
      names.push_back(in_words(options.back()));
    }
    if (options.size() > 2) add(i, "threads", std::move(names), std::move(options));
  }

  void add_joining(int i) {
    int first = i;  // the first equal step that can be joined
    while (first < steps::count && !(steps::signature(first) == steps::signature(i) && steps::can_join(first))) ++first;
    if (first == steps::count) return;
    std::vector<std::string> names{"default", "apart"};
    std::vector<schedule> options(2);
    options[1].join = -1;
    tiling_options const tilings = steps::tilings(first - 1, 2);
    for (int k = 0; k < tilings.count; ++k) {
      schedule s;
      s.join = 1;
      s.tiling = tilings.option[k].how;
      s.tile = tilings.option[k].tile;
      names.push_back(in_words(tilings.option[k]));
      options.push_back(s);
    }
    add(i, "with the step before", std::move(names), std::move(options), 0, 1);
  }

  /// Eq. (1), in the paper's units.
  static double weight_of_step(int i) {
    step_nodes const& s = formed::parts.step[i];
    long sum = s.main >= 0 ? weight_of(formed::graph, s.main) : 0;
    if (s.bias >= 0) sum += weight_of(formed::graph, s.bias);
    for (int k = 0; k < s.stage_count; ++k) sum += weight_of(formed::graph, s.stages[k]);
    return double(sum) / 1000;
  }

  /// A region for each mini-subgraph that has a choice of its own; equal ones share it.
  void list_minis() {
    for (int m = 0; m < formed::partition.minis.count; ++m) {
      region r;
      r.weight = 0;
      for (int i = 0; i < steps::count; ++i) {
        int const v = formed::parts.step[i].first_operator();
        std::uint64_t const signature = steps::signature(i);
        if (v < 0 || formed::partition.minis.of[v] != m) continue;
        if (mini_of_.count(signature) || !own_.count(signature)) continue;
        mini_of_[signature] = minis_.size();
        r.choices.insert(r.choices.end(), own_[signature].begin(), own_[signature].end());
        r.name += (r.name.empty() ? "" : "; ") + name_of_parts(signature);
        r.weight += weight_[signature];
      }
      if (!r.choices.empty()) minis_.push_back(std::move(r));
    }
  }

  /// A region for each subgraph that has choices; equal ones share it.
  void list_subgraphs() {
    for (int k = 0; k < formed::partition.subgraphs.count; ++k) {
      region r;
      r.weight = 0;
      std::vector<std::size_t> joins;
      int first = -1, last = -1;
      auto const add_new = [](std::vector<std::size_t>& list, std::size_t x) {
        if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
      };
      for (int i = 0; i < steps::count; ++i) {
        int const v = formed::parts.step[i].first_operator();
        if (v < 0 || formed::partition.subgraphs.of[v] != k) continue;
        std::uint64_t const signature = steps::signature(i);
        first = first < 0 ? i : first;
        last = i;
        r.weight += weight_of_step(i);
        if (mini_of_.count(signature)) add_new(r.minis, mini_of_[signature]);
        if (joining_.count(signature))
          for (std::size_t const c : joining_[signature]) add_new(joins, c);
      }
      for (std::size_t const m : r.minis)
        r.choices.insert(r.choices.end(), minis_[m].choices.begin(), minis_[m].choices.end());
      r.choices.insert(r.choices.end(), joins.begin(), joins.end());
      if (r.choices.empty()) continue;
      auto const twin = std::find_if(subgraphs_.begin(), subgraphs_.end(),
                                     [&](region const& other) { return other.choices == r.choices; });
      if (twin != subgraphs_.end()) {
        twin->weight += r.weight;
        continue;
      }
      r.name = "subgraph " + std::to_string(k) + (first == last ? ", part " : ", parts ") + std::to_string(first);
      if (first != last) r.name += " to " + std::to_string(last);
      subgraphs_.push_back(std::move(r));
    }
  }

  std::vector<choice> choices_;
  std::vector<knob> knobs_;  ///< of each choice
  std::vector<region> minis_, subgraphs_;
  std::map<std::uint64_t, std::vector<std::size_t>> own_, joining_;  ///< choices of a step, by its signature
  std::map<std::uint64_t, std::size_t> mini_of_;
  std::map<std::uint64_t, int> usual_algorithm_;  ///< of convolutions with several algorithms
  std::map<std::uint64_t, double> weight_;        ///< total of all steps with this signature
};

}  // namespace ago::tuner
