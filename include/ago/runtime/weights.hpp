// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage of a model's packed weights: inside the model, or in memory prepared by ago_pack.
#pragma once

#include <ago/runtime/arguments.hpp>
#include <ago/runtime/large_pages.hpp>
#include <ago/runtime/packed.hpp>
#include <ago/runtime/status.hpp>

#include <type_traits>

namespace ago::runtime {

template <bool Fits>
struct packed_weights_fit {
  static_assert(Fits,
                "ago: these packed weights belong to another network, instruction set, schedule table or version of "
                "ago");
};

/// Weights that are packed when the model is constructed. `Behind`: bytes of the model after this base.
template <class Program, std::size_t Behind>
class own_weights {
  static constexpr std::size_t parameter_count = Program::parameter_count, floats = Program::packed_floats;

 public:
  /// Packs the weights, which are not needed afterwards. Arrays of another length do not compile.
  explicit own_weights(std::span<float const, parameter_count> weights) noexcept { pack(weights); }
  template <class Weights>
    requires(!std::is_convertible_v<Weights const&, std::span<float const, parameter_count>>)
  explicit own_weights(Weights const&) {
    (void)weights_fit<false, parameter_count_is<parameter_count>, gets_sizes<extent_of<Weights>>>{};
  }
  /// For weights whose number is known only at run time. If it is not parameter_count, `result` reports it, checked
  /// calls return status::no_weights, and other calls return NaN.
  own_weights(std::span<float const> weights, status& result) noexcept {
    result = weights.size() == parameter_count ? status::ok : status::wrong_weight_count;
    if (result == status::ok) pack(weights.template first<parameter_count>());
  }

 protected:
  float const* packed() const { return packed_; }
  bool has_weights() const { return has_weights_; }

 private:
  void pack(std::span<float const, parameter_count> weights) noexcept {
    prefer_large_pages(this, sizeof *this + Behind);
    Program::pack(weights, std::span<float, floats>(packed_, floats));
    has_weights_ = true;
  }

  alignas(64) float packed_[floats > 0 ? floats : 1];
  bool has_weights_ = false;
};

/// Weights that are packed at build time and used in place (ago::packed).
template <class Program>
class weights_elsewhere {
 public:
  /// Uses weights that ago_pack has linked into the program.
  template <std::uint64_t Signature>
  explicit weights_elsewhere(packed_weights<Signature> weights) noexcept {
    constexpr bool fits = Signature == Program::signature();
    (void)packed_weights_fit<fits>{};
    if constexpr (fits) packed_ = reinterpret_cast<float const*>(weights.file + sizeof(packed_header));
  }
  /// Uses the contents of a file written by ago_pack, at an address that is a multiple of 4 bytes (64 for speed). They
  /// must outlive the model. If they do not belong to this model, `result` reports it, checked calls return
  /// status::no_weights, and other calls return NaN.
  weights_elsewhere(std::span<std::byte const> file, status& result) noexcept
      : packed_(floats_of(file, Program::signature(), Program::packed_floats)) {
    result = packed_ ? status::ok : status::wrong_packed_weights;
  }

 protected:
  float const* packed() const { return packed_; }
  bool has_weights() const { return packed_ != nullptr; }

 private:
  float const* packed_ = nullptr;
};

}  // namespace ago::runtime
