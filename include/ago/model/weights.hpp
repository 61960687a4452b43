// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a model has its packed weights: inside, or where ago_pack has put them.
#pragma once

#include <ago/model/arguments.hpp>
#include <ago/model/large_pages.hpp>
#include <ago/model/packed.hpp>
#include <ago/model/status.hpp>

#include <type_traits>

namespace ago {

template <bool Fits>
struct packed_weights_fit {
  static_assert(Fits,
                "ago: these packed weights belong to another network, instruction set, schedule table or version of "
                "ago");
};

namespace detail {

/// Packed when the model is made. `Behind`: bytes of the model behind this.
template <class Program, std::size_t Behind>
class own_weights {
  static constexpr std::size_t parameter_count = Program::parameter_count, floats = Program::packed_floats;

 public:
  /// Packs the weights, which are not needed afterwards. An array of another length does not compile.
  explicit own_weights(std::span<float const, parameter_count> weights) noexcept { pack(weights); }
  template <class Weights>
    requires(!std::is_convertible_v<Weights const&, std::span<float const, parameter_count>>)
  explicit own_weights(Weights const&) {
    (void)weights_fit<false, parameter_count_is<parameter_count>, gets_sizes<extent_of<Weights>>>{};
  }
  /// For weights whose number is known at run time only. If it is not parameter_count, `result` says so, the model
  /// answers every checked call with status::no_weights, and every other one with NaN.
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

/// Packed at build time, and used where they are. (ago::packed)
template <class Program>
class weights_elsewhere {
 public:
  /// Weights that ago_pack has linked into the program.
  template <std::uint64_t Signature>
  explicit weights_elsewhere(packed_weights<Signature> weights) noexcept {
    constexpr bool fits = Signature == Program::signature();
    (void)packed_weights_fit<fits>{};
    if constexpr (fits) packed_ = reinterpret_cast<float const*>(weights.file + sizeof(packed_header));
  }
  /// Those in a file that ago_pack has written, at a multiple of 4 bytes (of 64, for speed). They must outlive the
  /// model. If they are not this model's, `result` says so, the model answers every checked call with
  /// status::no_weights, and every other one with NaN.
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

}  // namespace detail

}  // namespace ago
