// How a network is compiled: for which machine, and by which variant of AGO.
#pragma once

#include <ago/graph/isa.hpp>

namespace ago {

/// Variants for comparison; all run on the same kernels and give the same results.
enum class policy : std::uint8_t {
  ago,     ///< atoms, CLUSTER, intensive fusion
  ago_ni,  ///< without intensive fusion: epilogues only
};

constexpr char const* name_of(policy p) { return p == policy::ago ? "ago" : "ago-ni"; }

/// What the analytic defaults know of a machine.
struct device {
  long l1_bytes = 32 << 10, l2_bytes = 1 << 20;
  bool operator==(device const&) const = default;
};

inline constexpr device cortex_a53{32 << 10, 256 << 10}, cortex_a55{32 << 10, 128 << 10}, cortex_a76{64 << 10, 512 << 10};

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
