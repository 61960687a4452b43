// How a network is entered: one line for each size, in networks/.
#pragma once

#include "entry.hpp"

#include <ago/ago.hpp>

#include <memory>
#include <utility>

namespace bench {

template <class Model>
variant make_variant(std::string name) {
  auto const prepare = [](std::span<float const> parameters, float const* in, float* out) -> std::function<void()> {
    auto const model = std::make_shared<Model>(parameters.first<Model::parameter_count>());
    return [model, in, out] {
      (*model)(std::span<float const, Model::input_size()>(in, Model::input_size()),
               std::span<float, Model::output_size()>(out, Model::output_size()));
    };
  };
  return {std::move(name), Model::target, Model::arena_bytes, Model::weight_bytes, Model::subgraphs,
          Model::steps,    prepare};
}

/// Enters a network with all its variants; the first one is what others are compared with.
template <auto const& Net>
bool add_network(std::string network, int size) {
  registry().push_back({std::move(network),
                        size,
                        ago::optimized<Net>::value,
                        {make_variant<ago::model<Net>>("ago"),
                         make_variant<ago::model<Net, ago::untuned, ago::policy::ago_ni>>("ago-ni")}});
  return true;
}

}  // namespace bench
