// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels in a tuner: all that its search can reach, instantiated at compile time and found by their keys.
#pragma once

#include <ago/kernel/contraction/kernel.hpp>
#include <ago/kernel/nest/kernel.hpp>
#include <ago/kernel/window_gradients.hpp>
#include <ago/tuner/network_space.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace ago::tuner {

/// An entry of the menu before its key is computed: which steps, in which tiles, and which option one of them takes.
struct menu_item {
  int first = 0, count = 1;
  chain_tiling tiles{};
  int varied = -1;        ///< the part whose tile is not the default
  int tile = -1;          ///< which of tiles_of()
  int algorithm = 0;      ///< schedule::winograd
  bool repacked = false;  ///< the tile is one of repacked_tiles_of()

  constexpr schedule wish(int part, tile_options const& options) const {
    schedule s = part == varied ? options.wish(tile) : schedule{};
    s.winograd = algorithm;
    return s;
  }
};

template <int N, class Item = menu_item>
struct menu_items {
  Item item[N > 0 ? N : 1]{};
  int count = 0;
  constexpr void add(Item const& i) {
    if (count < N) item[count] = i;
    ++count;
  }
};

/// Everything that the search can reach, once for equal steps: every step alone with each of its tiles; convolutions
/// with each algorithm; every pipeline with each of its tilings. In the two tilings that save most, each part in turn
/// also takes a few other tiles, one of them with the other packing of weights, while the other parts keep theirs.
template <auto const& Net, options_for Options>
class menu_listing {
  using steps = network_space<Net, Options>;

 public:
  /// Fills a list that may be too short; its count is the length needed.
  template <int N>
  static constexpr menu_items<N> list() {
    menu_items<N> r;
    for (int i = 0; i < steps::count; ++i) {
      if (!is_repeated(i, 1)) list_alone(r, i);
      for (int n = 2; n <= max_parts && i + n <= steps::count && steps::can_join(i + n - 1); ++n)
        if (!is_repeated(i, n)) list_pipeline(r, i, n);
    }
    return r;
  }

 private:
  static constexpr bool is_repeated(int first, int count) {
    for (int k = 0; k < first; ++k) {
      int n = 0;
      while (n < count && steps::share_kernels(k + n, first + n) && (n == 0 || steps::can_join(k + n))) ++n;
      if (n == count) return true;
    }
    return false;
  }
  static constexpr void list_alone(auto& r, int i) {
    constexpr int algorithms[] = {0, -1, 1, 2, 4};
    structure const what = steps::usual::plan.steps[i].key.what;
    if (steps::usual::plan.steps[i].key.gathers) r.add({i, 1, {}, 0, -1, -1});  // with a block, nothing is gathered
    for (int const algorithm : algorithms) {
      if (algorithm != 0 && (kernel::algorithm_of(what) == 0 || !steps::allows_algorithm(i, algorithm))) continue;
      for (int t = -1; t < (has_tiles(what) ? tiles_alone : 0); ++t) r.add({i, 1, {}, 0, t, algorithm});
    }
    for (int t = 0; t < tiles_repacked && steps::can_repack(i); ++t) r.add({i, 1, {}, 0, t, 0, true});
  }
  static constexpr void list_pipeline(auto& r, int first, int count) {
    tiling_options const all = steps::tilings(first, count);
    chain_tiling const usual = steps::usual_tiling(first, count);
    if (usual.how != tiling::none && !all.holds(usual)) r.add({first, count, usual});
    for (int k = 0; k < all.count; ++k) {
      r.add({first, count, all.option[k]});
      int better = 0;
      for (int j = 0; j < all.count; ++j)
        better += all.saved[j] > all.saved[k] || (all.saved[j] == all.saved[k] && j < k);
      if (better >= 2) continue;
      for (int part = 0; part < count; ++part) {
        for (int t = 0; t < tiles_in_pipeline; ++t) r.add({first, count, all.option[k], part, t});
        bool const adds_up = by_channels(all.option[k].how) && part > 0;  // chunks of K, which cannot be paired
        if (!adds_up && steps::can_repack(first + part)) r.add({first, count, all.option[k], part, 0, 0, true});
      }
    }
  }
};

/// Two steps that one pass may compute: a product at step `first` and the fold of its result, and another product,
/// whose operand the step before it may make.
struct pass_item {
  int first = 0;
  bool makes_operand = false;
};

/// Those of which gradients_in_one_pass(), whatever the tiles.
template <auto const& Net, options_for Options>
class pass_listing {
  using steps = network_space<Net, Options>;

 public:
  template <int N>
  static constexpr menu_items<N, pass_item> list() {
    menu_items<N, pass_item> r;
    for (int i = 0; i + 2 < steps::count; ++i)
      for (bool const makes : {false, true})
        if (can_be(i, makes) && kernel::gradients_in_one_pass(key_of({i, makes})).are_there()) r.add({i, makes});
    return r;
  }
  static constexpr kernel::one_pass_key key_of(pass_item const& p) {
    chain_tiling const fold{tiling::fold}, operand{p.makes_operand ? tiling::operand : tiling::none};
    auto const part = [](int i, chain_tiling const& in, bool is_first) {
      return steps::scheduled(i, {}, in, is_first).key;
    };
    auto const first = plan::pipeline_key(fold.how, 2, [&](int i) { return part(p.first + i, fold, i == 0); });
    auto const second = plan::pipeline_key(operand.how, 1 + p.makes_operand, [&](int i) {
      return part(p.first + 2 + i, operand, p.makes_operand && i == 0);
    });
    return kernel::one_pass_key_of(first, second);
  }

 private:
  static constexpr bool is_product(int i) {
    return i < steps::count && steps::usual::plan.steps[i].key.what == structure::contraction;
  }
  static constexpr bool can_be(int i, bool makes) {
    int const sums = i + 2 + makes;
    return is_product(i) && is_product(sums) && joins(i + 1, tiling::fold) &&
           (!makes || joins(sums, tiling::operand)) &&
           expression::has_windows_of_channels(*steps::usual::plan.steps[i].key.described);
  }
  static constexpr bool joins(int i, tiling how) {
    return steps::can_join(i) && steps::tilings(i - 1, 2).holds({how, 0});
  }
};

/// A kernel and its key, which is part of the kernel's type.
template <class Key>
struct keyed_kernel {
  Key const* key;
  kernel_function function;
};
using menu_entry = keyed_kernel<fused_key>;
using pass_entry = keyed_kernel<kernel::one_pass_key>;

/// A hash of everything that distinguishes the keys of one network.
inline std::uint64_t hash_of(fused_key const& f) {
  value_hash h;
  h.mix(std::uint64_t(f.parts) << 8 ^ std::uint64_t(f.tiling));
  for (int i = 0; i < f.parts; ++i) {
    kernel_key const& k = f.part[i];
    h.mix(std::uint64_t(k.what) << 8 ^ std::uint64_t(k.partial) << 4 ^ std::uint64_t(k.paired) << 3 ^
          std::uint64_t(k.accumulates) << 2);
    h.mix(std::uint64_t(k.tile.pixels) << 24 ^ std::uint64_t(k.tile.vectors) << 16 ^
          std::uint64_t(k.tile.pixels_left) << 8 ^ std::uint64_t(k.tile.vectors_left));
    h.mix(std::uint64_t(k.kernel_h) << 8 ^ std::uint64_t(k.stride_h));
    for (stage const& s : k.after.stages) h.mix(std::uint64_t(s.kind));
  }
  return h.value;
}

/// Kernels sorted by the hash of their keys, and those that compute two steps.
class menu_view {
 public:
  menu_view() = default;
  explicit menu_view(std::span<menu_entry const> entries, std::span<pass_entry const> passes = {})
      : passes_(passes.begin(), passes.end()) {
    for (menu_entry const& e : entries) sorted_.push_back({hash_of(*e.key), e});
    auto const before = [](hashed const& a, hashed const& b) { return a.hash < b.hash; };
    std::sort(sorted_.begin(), sorted_.end(), before);
    auto const same = [](hashed const& a, hashed const& b) { return a.hash == b.hash && *a.entry.key == *b.entry.key; };
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());
  }

  std::size_t size() const { return sorted_.size(); }
  std::vector<menu_entry> entries() const {
    std::vector<menu_entry> all;
    for (hashed const& e : sorted_) all.push_back(e.entry);
    return all;
  }
  /// The kernel with this key, or null.
  kernel_function find(fused_key const& key) const {
    std::uint64_t const hash = hash_of(key);
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), hash,
                               [](hashed const& e, std::uint64_t h) { return e.hash < h; });
    for (; at != sorted_.end() && at->hash == hash; ++at)
      if (*at->entry.key == key) return at->entry.function;
    return nullptr;
  }
  kernel_function find(kernel::one_pass_key const& key) const {
    for (pass_entry const& e : passes_)
      if (*e.key == key) return e.function;
    return nullptr;
  }

 private:
  struct hashed {
    std::uint64_t hash;
    menu_entry entry;
  };
  std::vector<hashed> sorted_;
  std::vector<pass_entry> passes_;
};

/// The menu of a network. Several items may share a kernel, which is then compiled once.
template <auto const& Net, options_for Options = options{}>
class menu {
  using steps = network_space<Net, Options>;
  using listing = menu_listing<Net, Options>;
  static constexpr int count = listing::template list<0>().count;
  static constexpr auto items = listing::template list<count>();

  template <int Step, bool Repacked>
  static constexpr tile_options tiles = Repacked ? steps::repacked_tiles(Step) : steps::tiles(Step);
  template <int I>
  static constexpr fused_key key_of_item() {
    constexpr menu_item item = items.item[I];
    kernel_key parts[max_parts]{};
    auto const part = [&]<int P>(std::integral_constant<int, P>) {
      if constexpr (P < item.count)
        parts[P] =
            steps::scheduled(item.first + P, item.wish(P, tiles<item.first + P, item.repacked>), item.tiles, P == 0)
                .key;
    };
    part(std::integral_constant<int, 0>{});
    part(std::integral_constant<int, 1>{});
    part(std::integral_constant<int, 2>{});
    return plan::pipeline_key(item.tiles.how, item.count, [&](int i) { return parts[i]; });
  }
  template <fused_key K>
  static menu_entry entry_of() {
    return {&key_object<K>, kernel_for<K>()};
  }
  template <fused_key K>
  static constexpr fused_key key_object = K;

  using passes = pass_listing<Net, Options>;
  static constexpr int pass_count = passes::template list<0>().count;
  static constexpr auto pass_items = passes::template list<pass_count>();
  template <kernel::one_pass_key K>
  static constexpr kernel::one_pass_key pass_key_object = K;
  template <kernel::one_pass_key K>
  static pass_entry pass_entry_of() {
    return {&pass_key_object<K>, &kernel::window_gradients_kernel<K>::run};
  }
  template <int... I>
  static std::vector<pass_entry> pass_entries(std::integer_sequence<int, I...>) {
    return {pass_entry_of<passes::key_of(pass_items.item[I])>()...};
  }

 public:
  static menu_view const& view() {
    static menu_view const all = []<int... I>(std::integer_sequence<int, I...>) {
      menu_entry const entries[] = {entry_of<key_of_item<I>()>()...};
      return menu_view(entries, pass_entries(std::make_integer_sequence<int, pass_count>{}));
    }(std::make_integer_sequence<int, count>{});
    return all;
  }
};

}  // namespace ago::tuner
