// The networks that are measured: one registration each, in networks/.
#pragma once

#include "graph_view.hpp"

#include <ago/ago.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A network compiled with one set of choices.
struct variant {
  std::string name;
  ago::isa target{};
  std::size_t arena_bytes = 0, weight_bytes = 0;
  int subgraphs = 0, steps = 0;
  /// Packs the parameters; what comes back runs the network from its input to its output.
  std::function<std::function<void()>(std::span<float const> parameters, float const* in, float* out)> prepare;
};

/// A network at one input size.
struct entry {
  std::string network;
  int size = 0;
  graph_view graph;
  std::vector<variant> variants;
};

/// All entries of this program, in no particular order.
inline std::vector<entry>& registry() {
  static std::vector<entry> all;
  return all;
}

template <class Model>
variant make_variant(std::string name) {
  auto const prepare = [](std::span<float const> parameters, float const* in, float* out) -> std::function<void()> {
    auto const model = std::make_shared<Model>(parameters.first<Model::parameter_count>());
    return [model, in, out] {
      (*model)(std::span<float const, Model::input_size()>(in, Model::input_size()),
               std::span<float, Model::output_size()>(out, Model::output_size()));
    };
  };
  return {std::move(name), Model::target, Model::arena_bytes, Model::weight_bytes, Model::subgraphs, Model::steps,
          prepare};
}

/// Enters a network, with all the variants of it that are compared.
template <auto const& Net>
bool add_network(std::string network, int size) {
  registry().push_back({std::move(network), size, ago::optimized<Net>::value, {make_variant<ago::model<Net>>("ago")}});
  return true;
}

}  // namespace bench
