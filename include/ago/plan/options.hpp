// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of a network's compilation: the machine, and the variant of AGO.
#pragma once

#include <ago/graph/isa.hpp>
#include <ago/graph/preprocessing.hpp>
#include <ago/partition/policy.hpp>

namespace ago {

/// Whether 3x3 convolutions with stride 1 may be computed by Winograd, with fewer multiplications, where that is
/// faster. Results then differ from the direct convolution by rounding; winograd_kernel states the bound. Intensive
/// fusion always computes them directly.
enum class winograd : std::uint8_t { on, off };

/// The number of threads that compute one inference (docs/threads.md).
struct threads {
  int count = 1;
};

/// Where a model's packed weights are stored.
enum class storage : std::uint8_t {
  own,     ///< inside the model, which packs them when it is constructed
  packed,  ///< in read-only memory, packed at build time by ago_pack (docs/weights.md)
};
inline constexpr storage packed = storage::packed;

/// The last argument of model and program. An instruction set, a policy, a device, winograd, algebra,
/// horizontal_fusion, threads or `packed` converts to it. Only the policies ago and ago_ni use horizontal fusion:
/// the others partition the network as it is.
struct options {
  isa target;
  ago::policy policy;
  ago::device device;
  ago::winograd winograd;
  ago::algebra algebra;
  ago::horizontal_fusion horizontal_fusion;
  ago::storage storage = ago::storage::own;
  bool operator==(options const&) const = default;

  /// For usual_device(t).
  constexpr options(isa t = native_isa, ago::policy p = ago::policy::ago) : options(t, p, usual_device(t)) {}
  constexpr options(isa t, ago::policy p, ago::device d, ago::winograd w = ago::winograd::on,
                    ago::algebra a = ago::algebra::exact,
                    ago::horizontal_fusion h = ago::horizontal_fusion::where_it_pays, ago::threads n = {})
      : target(t), policy(p), device(d), winograd(w), algebra(a), horizontal_fusion(h) {
    if (n.count > d.threads) device.threads = n.count;
  }
  constexpr options(ago::policy p, ago::device d = usual_device(native_isa)) : options(native_isa, p, d) {}
  constexpr options(ago::device d) : options(native_isa, ago::policy::ago, d) {}
  constexpr options(ago::winograd w) : options(native_isa, ago::policy::ago, usual_device(native_isa), w) {}
  constexpr options(ago::algebra a)
      : options(native_isa, ago::policy::ago, usual_device(native_isa), ago::winograd::on, a) {}
  constexpr options(ago::horizontal_fusion h)
      : options(native_isa, ago::policy::ago, usual_device(native_isa), ago::winograd::on, ago::algebra::exact, h) {}
  constexpr options(ago::storage s) : options() { storage = s; }
  constexpr options(ago::threads n) : options(native_isa, n) {}
  constexpr options(isa t, ago::threads n)
      : options(t, ago::policy::ago, usual_device(t), ago::winograd::on, ago::algebra::exact,
                ago::horizontal_fusion::where_it_pays, n) {}
};

/// The same options for `count` threads.
constexpr options with_threads(options o, int count) {
  o.device.threads = count;
  return o;
}

/// The same options with packed weights stored elsewhere.
constexpr options with_storage(options o, storage where) {
  o.storage = where;
  return o;
}

/// Which siblings horizontal fusion merges.
constexpr merging merging_of(options const& o) {
  bool const ours = o.policy == policy::ago || o.policy == policy::ago_ni;
  if (!ours || o.horizontal_fusion == horizontal_fusion::off) return {};
  return {o.horizontal_fusion, lanes(o.target), o.device.l2_bytes};
}

}  // namespace ago
