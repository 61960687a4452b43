// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layers.hpp"

#include <memory>
#include <type_traits>

namespace ago::importer {

layer_value::layer_value() = default;
layer_value::layer_value(layer_value const&) = default;
layer_value::layer_value(layer_value&&) noexcept = default;
layer_value::~layer_value() = default;

// The variant's own assignments, which tell apart all pairs of states, take as long to compile as all of the above.
static_assert(std::is_nothrow_move_constructible_v<any_layer>);
layer_value& layer_value::operator=(layer_value&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}
layer_value& layer_value::operator=(layer_value const& other) { return *this = layer_value(other); }

}  // namespace ago::importer
