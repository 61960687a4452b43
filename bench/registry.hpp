// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of networks: one line for each size, in networks/.
#pragma once

#include "account.hpp"
#include "buffer.hpp"
#include "displaced.hpp"
#include "entry.hpp"
#include "own_cores.hpp"
#include "partitions/without.hpp"

#include <ago/ago.hpp>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace bench {

template <class Model>
variant make_variant(std::string name) {
  auto const prepare = [](std::span<float const> parameters, float const* in, float* out,
                          std::size_t displacement) -> std::function<void()> {
    auto const model = make_displaced<Model>(displacement, parameters.first<Model::parameter_count>());
    return [model, in, out] {
      (*model)(std::span<float const, Model::input_size()>(in, Model::input_size()),
               std::span<float, Model::output_size()>(out, Model::output_size()));
    };
  };
  return {std::move(name), Model::target, Model::arena_bytes, Model::weight_bytes, Model::subgraphs,
          Model::steps,    prepare};
}

/// A variant that can also be run step by step.
template <class Model>
variant make_network_variant(std::string name) {
  using program = typename Model::program;
  variant v = make_variant<Model>(std::move(name));
  v.prepare_steps = [](std::span<float const> parameters, float const* in, float* out) -> std::function<void(int)> {
    auto const packed = std::make_shared<buffer>(program::packed_floats);
    auto const arena = std::make_shared<buffer>(program::arena_floats);
    program::pack(parameters.first<program::parameter_count>(),
                  packed->span().template first<program::packed_floats>());
    return [packed, arena, in, out](int step) { program::run_step(step, {packed->data(), arena->data(), &in, &out}); };
  };
  ago::device const on = device_here(Model::target);
  v.peak_per_cycle = 2. * std::min(on.multiply_adds, 2 * lanes(ago::native_isa));  // peak_loop(); two units, or less
  auto const predicted = program::predicted(on);
  auto const moved = program::moved(on);
  for (int i = 0; i < program::steps; ++i) {
    int const first = program::first_part(i), last = program::first_part(i + 1);
    v.accounts.push_back(account_for(program::graph, std::span(program::plan.steps).subspan(first, last - first),
                                     program::tiling_of(i).how));
    v.accounts.back().predicted_cycles = predicted[std::size_t(i)].sum();
    v.accounts.back().moved_bytes = moved.of[i].beyond_l2;
  }
  return v;
}

/// Enters a network with all its variants; the others are compared with the first one.
template <auto const& Net>
bool add_network(std::string network, int size) {
  registry().push_back({std::move(network),
                        size,
                        ago::passes::optimized<Net>::value,
                        {make_network_variant<ago::model<Net>>("ago"),
                         make_network_variant<ago::model<Net, ago::untuned, ago::policy::ago_ni>>("ago-ni")}});
  return true;
}

/// A network compiled for `Threads` threads.
template <auto const& Net, int Threads>
variant make_threads_variant() {
  using model = ago::model<Net, ago::untuned, ago::threads{Threads}>;
  variant v = make_variant<model>("ago, " + std::to_string(Threads) + " threads");
  v.prepare = [](std::span<float const> parameters, float const* in, float* out,
                 std::size_t displacement) -> std::function<void()> {
    auto const net = make_displaced<model>(displacement, parameters.first<model::parameter_count>());
    return [net, in, out, &workers = team_of(Threads)] {
      (*net)(std::span<float const, model::input_size()>(in, model::input_size()),
             std::span<float, model::output_size()>(out, model::output_size()), workers);
    };
  };
  v.threads = Threads;
  return v;
}

/// Enters a network for one thread and for several.
template <auto const& Net, int... Threads>
bool add_threads(std::string network, int size) {
  registry().push_back({std::move(network),
                        size,
                        ago::passes::optimized<Net>::value,
                        {make_network_variant<ago::model<Net>>("ago"), make_threads_variant<Net, Threads>()...}});
  return true;
}

/// Whether both run the same kernels on the same values in the same places.
template <class A, class B>
constexpr bool is_same_program() {
  if (A::steps != B::steps || A::arena_floats != B::arena_floats || A::packed_floats != B::packed_floats) return false;
  for (int k = 0; k < A::steps; ++k) {
    if (A::first_part(k + 1) != B::first_part(k + 1) || !(A::tiling_of(k) == B::tiling_of(k))) return false;
    for (int i = A::first_part(k); i < A::first_part(k + 1); ++i) {
      ago::plan::planned_step const &a = A::plan.steps[i], &b = B::plan.steps[i];
      if (!(a.key == b.key) || a.data.block != b.data.block || a.data.weights != b.data.weights ||
          !(a.data.source == b.data.source) || !(a.data.destination == b.data.destination))
        return false;
    }
  }
  return true;
}

/// Enters a network compiled with each of several options, under these names. Variants with the same program as the
/// first are marked.
template <auto const& Net, auto... Options>
bool add_variants(std::string network, int size, std::same_as<char const*> auto... names) {
  entry e{std::move(network), size, ago::passes::optimized<Net>::value, {}};
  using first = typename std::tuple_element_t<0, std::tuple<ago::model<Net, ago::untuned, Options>...>>::program;
  auto const add = [&]<class Model>(std::type_identity<Model>, char const* name) {
    e.variants.push_back(make_network_variant<Model>(name));
    static constexpr bool same = is_same_program<first, typename Model::program>();
    e.variants.back().is_first = same;
  };
  (add(std::type_identity<ago::model<Net, ago::untuned, Options>>(), names), ...);
  registry().push_back(std::move(e));
  return true;
}

/// Enters a network under every policy, first the library's own.
template <auto const& Net>
bool add_policies(std::string network, int size) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return add_variants<Net, ago::policy(I)...>(std::move(network), size, name_of(ago::policy(I))...);
  }(std::make_integer_sequence<int, ago::partition::policies>());
}

/// Enters a network under the library's policy, and under that policy with each part taken away.
template <auto const& Net>
bool add_gains(std::string network, int size) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return add_variants<Net, ago_without<all_parts[I]>{}...>(std::move(network), size, name_of(all_parts[I])...);
  }(std::make_index_sequence<std::size(all_parts)>());
}

}  // namespace bench
