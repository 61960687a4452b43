// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of a network's compilation: the machine, and the variant of AGO.
#pragma once

#include <ago/graph/isa.hpp>
#include <ago/graph/preprocessing.hpp>
#include <ago/partition/policy.hpp>

#include <concepts>
#include <type_traits>

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
  own,      ///< inside the model, which packs them when it is constructed
  packed,   ///< in read-only memory, packed at build time by ago_pack (docs/weights.md)
  trained,  ///< inside a trainer, behind the parameters, which change
};
inline constexpr storage packed = storage::packed;

/// The last argument of model and program. An instruction set, a policy, a device, winograd, algebra,
/// horizontal_fusion, threads or `packed` converts to it. Only the policies ago and ago_ni use horizontal fusion;
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
  constexpr options(isa t, ago::device d) : options(t, ago::policy::ago, d) {}
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

namespace detail {

/// Stands for a policy of the library, which options::policy names.
struct named_policy {};
template <class Policy>
concept is_named = std::same_as<Policy, named_policy>;

}  // namespace detail

/// The last argument of model and program, deduced: options, whatever converts to them, or a policy of the user's,
/// alone or with options:
///
///     model<net, untuned, my_policy{}>
///     model<net, untuned, options_for(my_policy{}, cortex_a55)>
///     model<net, untuned, options_for(my_policy{}, {isa::avx2, zen_4})>
template <class Policy = detail::named_policy>
struct options_for : options {
  constexpr options_for()
    requires detail::is_named<Policy>
      : options() {}
  template <std::convertible_to<options> O>
    requires detail::is_named<Policy>
  constexpr options_for(O o) : options(o) {}
  constexpr options_for(Policy, options const& o = {})
    requires(!detail::is_named<Policy>)
      : options(o) {
    policy = ago::policy::own;
  }
  bool operator==(options_for const&) const = default;

  /// Whether the policy has what a policy needs; programs assert it.
  static constexpr bool partitions() { return detail::is_named<Policy> || is_policy<Policy>; }
};
options_for() -> options_for<>;
template <std::convertible_to<options> O>
options_for(O) -> options_for<>;
template <class Policy>
options_for(Policy) -> options_for<Policy>;
template <class Policy>
options_for(Policy, options) -> options_for<Policy>;

namespace detail {

template <options_for Options, class Policy>
struct policy_in {
  // ago_policy: so that no further errors hide the one that is reported.
  using type = std::conditional_t<is_policy<Policy>, Policy, ago_policy>;
};
template <options_for Options>
struct policy_in<Options, named_policy> {
  using type = policy_type<Options.policy>;
};
template <class Policy>
std::type_identity<Policy> own_policy_in(options_for<Policy> const&);

}  // namespace detail

/// The policy's type.
template <options_for Options>
using policy_of = typename detail::policy_in<Options, typename decltype(detail::own_policy_in(Options))::type>::type;

/// The same options for `count` threads.
template <std::derived_from<options> Options>
constexpr Options with_threads(Options o, int count) {
  o.device.threads = count;
  return o;
}

/// The same options with packed weights stored elsewhere.
template <std::derived_from<options> Options>
constexpr Options with_storage(Options o, storage where) {
  o.storage = where;
  return o;
}

/// Which siblings horizontal fusion merges before `Policy` partitions the network.
template <class Policy>
constexpr merging merging_of(options const& o) {
  if (!merges_siblings<Policy> || o.horizontal_fusion == horizontal_fusion::off) return {};
  return {o.horizontal_fusion, lanes(o.target), o.device.l2_bytes};
}

}  // namespace ago
