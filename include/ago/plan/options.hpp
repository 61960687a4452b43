// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of a network's compilation: the machine, and the variant of AGO.
#pragma once

#include <ago/ir/isa.hpp>
#include <ago/partition/policy.hpp>
#include <ago/passes/preprocessing.hpp>
#include <ago/plan/factor_layout.hpp>

#include <concepts>
#include <type_traits>

namespace ago::plan {

/// Whether 3x3 convolutions with stride 1 may be computed by Winograd, with fewer multiplications, where that is
/// faster. Results then differ from the direct convolution by rounding; winograd_kernel states the bound. Intensive
/// fusion always computes them directly.
enum class winograd : std::uint8_t { on, off };

/// The number of threads that compute one inference (docs/threads.md).
struct threads {
  int count = 1;
  bool operator==(threads const&) const = default;
};

/// Where a model's packed weights are stored.
enum class storage : std::uint8_t {
  own,      ///< inside the model, which packs them when it is constructed
  packed,   ///< in read-only memory, packed at build time by ago_pack (docs/weights.md)
  trained,  ///< the parameters, which change, are one more input: read there where possible, and otherwise packed right
            ///< before each step, where those of other steps were
};
inline constexpr storage packed = storage::packed;

/// How a network is compiled. Only the policies ago and ago_ni use horizontal fusion; the others partition the network
/// as it is.
///
///     model<net, untuned, options{.policy = policy::paper, .device = cortex_a55}>
///
/// g++ 12 evaluates f(options{...}) in a constant expression only if `.device` is given or f is a constructor; name the
/// options before.
struct options {
  isa target = native_isa;
  ago::partition::policy policy = ago::partition::policy::ago;
  ago::partition::device device = usual_device(target);
  ago::plan::threads threads = {};  ///< at least; see resolved()
  ago::plan::winograd winograd = ago::plan::winograd::on;
  ago::passes::algebra algebra = ago::passes::algebra::exact;
  ago::passes::horizontal_fusion horizontal_fusion = ago::passes::horizontal_fusion::where_it_pays;
  ago::plan::storage storage = ago::plan::storage::own;
  factor_layout factors = factor_layout::chosen;
  bool operator==(options const&) const = default;
};

/// The same options with as many threads in the device, which is where planning looks for them.
constexpr options resolved(options const& o) {
  options r = o;
  if (r.threads.count > r.device.threads) r.device.threads = r.threads.count;
  r.threads.count = r.device.threads;
  return r;
}

constexpr void choose(options& o, isa t) {
  o.target = t;
  o.device = usual_device(t);
}
constexpr void choose(options& o, device const& d) {
  o.device = d;
  o.threads.count = d.threads;
}
constexpr void choose(options& o, threads n) {
  o.threads = n;
  o = resolved(o);
}
constexpr void choose(options& o, policy p) { o.policy = p; }
constexpr void choose(options& o, winograd w) { o.winograd = w; }
constexpr void choose(options& o, algebra a) { o.algebra = a; }
constexpr void choose(options& o, horizontal_fusion h) { o.horizontal_fusion = h; }
constexpr void choose(options& o, storage s) { o.storage = s; }

/// One member alone stands for options.
template <class T>
concept is_option = requires(options& o, T const& x) { choose(o, x); };

/// Stands for a policy of the library, which options::policy names.
struct named_policy {};
template <class Policy>
concept is_named = std::same_as<Policy, named_policy>;

/// The last argument of model and program, deduced: options, one of their members alone (an instruction set, a policy,
/// a device, threads, winograd, algebra, horizontal_fusion or `packed`), or a policy of the user's, alone or with
/// options:
///
///     model<net, untuned, isa::avx2>
///     model<net, untuned, my_policy{}>
///     model<net, untuned, options_for(my_policy{}, cortex_a55)>
///     model<net, untuned, options_for(my_policy{}, {.target = isa::avx2, .device = zen_4})>
template <class Policy = named_policy>
struct options_for : options {
  constexpr options_for()
    requires is_named<Policy>
      : options{} {}
  constexpr options_for(options const& o)
    requires is_named<Policy>
      : options(resolved(o)) {}
  template <is_option O>
    requires is_named<Policy>
  constexpr options_for(O o) : options{} {
    choose(*this, o);
  }
  constexpr options_for(Policy, options const& o = {})
    requires(!is_named<Policy>)
      : options(resolved(o)) {
    policy = ago::partition::policy::own;
  }
  template <is_option O>
    requires(!is_named<Policy>)
  constexpr options_for(Policy p, O o) : options_for(p, options_for<>(o)) {}
  bool operator==(options_for const&) const = default;

  /// Whether the policy has what a policy needs; programs assert it.
  static constexpr bool partitions() { return is_named<Policy> || is_policy<Policy>; }
};
options_for() -> options_for<>;
options_for(options) -> options_for<>;
template <is_option O>
options_for(O) -> options_for<>;
template <class Policy>
options_for(Policy) -> options_for<Policy>;
template <class Policy>
options_for(Policy, options) -> options_for<Policy>;
template <class Policy, is_option O>
options_for(Policy, O) -> options_for<Policy>;

/// The policy that options name, or the user's own.
template <options_for Options, class Policy>
struct policy_in {
  // ago_policy: so that no further errors hide the one that is reported.
  using type = std::conditional_t<is_policy<Policy>, Policy, ago_policy>;
};
/// One of the library's.
template <options_for Options>
struct policy_in<Options, named_policy> {
  using type = policy_type<Options.policy>;
};
template <class Policy>
std::type_identity<Policy> own_policy_in(options_for<Policy> const&);

/// The policy's type.
template <options_for Options>
using policy_of = typename policy_in<Options, typename decltype(own_policy_in(Options))::type>::type;

/// The same options for `count` threads.
template <std::derived_from<options> Options>
constexpr Options with_threads(Options const& o, int count) {
  Options r = o;
  r.device.threads = r.threads.count = count;
  return r;
}

/// The same options with packed weights stored elsewhere.
template <std::derived_from<options> Options>
constexpr Options with_storage(Options const& o, storage where) {
  Options r = o;
  r.storage = where;
  return r;
}

/// Which siblings horizontal fusion merges before `Policy` partitions the network.
template <class Policy>
constexpr merging merging_of(options const& o) {
  if (!merges_siblings<Policy> || o.horizontal_fusion == horizontal_fusion::off) return {};
  return {o.horizontal_fusion, lanes(o.target), o.device.l2_bytes};
}

}  // namespace ago::plan

namespace ago {
using plan::options;
using plan::options_for;
using plan::packed;
using plan::storage;
using plan::threads;
using plan::winograd;
}  // namespace ago
