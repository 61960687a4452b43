// How a network is compiled: for which machine, and by which variant of AGO.
#pragma once

#include <ago/graph/isa.hpp>
#include <ago/partition/device.hpp>

namespace ago {

/// Variants for comparison; all run on the same kernels and give the same results.
enum class policy : std::uint8_t {
  ago,     ///< atoms, CLUSTER, intensive fusion
  ago_ni,  ///< without intensive fusion: epilogues only
};

constexpr char const* name_of(policy p) { return p == policy::ago ? "ago" : "ago-ni"; }

/// The last argument of model and program. An instruction set, a policy or a device alone will do for it.
struct options {
  isa target;
  ago::policy policy;
  ago::device device;
  bool operator==(options const&) const = default;

  constexpr options(isa t = native_isa, ago::policy p = ago::policy::ago, ago::device d = {})
      : target(t), policy(p), device(d) {}
  constexpr options(ago::policy p, ago::device d = {}) : options(native_isa, p, d) {}
  constexpr options(ago::device d) : options(native_isa, ago::policy::ago, d) {}
};

}  // namespace ago
