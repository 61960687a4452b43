// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/plan/options.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace ago;
using namespace ago::partition;
using namespace ago::plan;

TEST_CASE("without a device, options have the usual one of their instruction set, wherever they are compiled") {
  constexpr options arm{.target = isa::neon}, x86{.target = isa::avx2}, emulated{.target = isa::emulated128};
#ifdef __APPLE__
  CHECK(arm.device == apple_m1);
#else
  CHECK(arm.device == cortex_a55);
#endif
  CHECK(x86.device == device{});
  CHECK(emulated.device == device{});
  CHECK(options{}.device == usual_device(native_isa));
  CHECK(options{.policy = policy::ago_ni}.device == usual_device(native_isa));
  CHECK(options{.winograd = winograd::off}.device == usual_device(native_isa));
  CHECK(options{.target = isa::neon, .policy = policy::apollo}.device == arm.device);
  CHECK(options{.target = isa::neon, .threads = {2}}.device.l2_bytes == arm.device.l2_bytes);
}

TEST_CASE("a device that is given is kept, also the default of another instruction set") {
  CHECK(options{.target = isa::neon, .device = device{}}.device == device{});
  CHECK(options{.target = isa::avx2, .device = cortex_a76}.device == cortex_a76);
  CHECK(options{.device = cortex_a53}.device == cortex_a53);
  CHECK(options{.policy = policy::fuse_ops, .device = neoverse_v1}.device == neoverse_v1);
}

TEST_CASE("threads are added to any device that has fewer") {
  CHECK(resolved({.target = isa::neon, .threads = {4}}).device == with_threads(options{.target = isa::neon}, 4).device);
  options const fewer{.device = {.threads = 3}, .threads = {2}};
  CHECK(resolved(fewer).device.threads == 3);
  CHECK(resolved(fewer).threads.count == 3);
}

namespace {

constexpr device device_of_two = [] {
  device r = cortex_a76;
  r.threads = 2;
  return r;
}();

struct one_subgraph {
  static constexpr auto partition(auto const& g, device const& on) { return partition_into(g, atoms_of(g), on); }
};

template <options_for Options = options{}>
struct compiled {
  static constexpr auto value = Options;
  using policy = policy_of<Options>;
};

}  // namespace

TEST_CASE("whatever converts to options is an argument of the same type; a policy of one's own makes another") {
  static_assert(std::is_same_v<compiled<>, compiled<options{}>> && std::is_same_v<compiled<>, compiled<options_for{}>>);
  static_assert(std::is_same_v<compiled<policy::apollo>, compiled<options{.policy = policy::apollo}>>);
  static_assert(std::is_same_v<compiled<policy::apollo>::policy, partition::apollo_policy>);
  static_assert(std::is_same_v<compiled<isa::scalar>::policy, partition::ago_policy>);
  static_assert(std::is_same_v<compiled<isa::neon>, compiled<options{.target = isa::neon}>>);
  static_assert(std::is_same_v<compiled<cortex_a55>, compiled<options{.device = cortex_a55}>>);
  static_assert(std::is_same_v<compiled<winograd::off>, compiled<options{.winograd = winograd::off}>>);
  static_assert(std::is_same_v<compiled<algebra::literal>, compiled<options{.algebra = algebra::literal}>>);
  static_assert(
      std::is_same_v<compiled<horizontal_fusion::off>, compiled<options{.horizontal_fusion = horizontal_fusion::off}>>);
  static_assert(std::is_same_v<compiled<packed>, compiled<options{.storage = packed}>>);
  static_assert(std::is_same_v<compiled<threads{2}>, compiled<options{.threads = {2}}>>);
  static_assert(compiled<options{.device = cortex_a76, .threads = {2}}>::value.device == device_of_two);
  using own = compiled<one_subgraph{}>;
  static_assert(std::is_same_v<own::policy, one_subgraph> && own::value.policy == policy::own);
  using elsewhere = compiled<options_for(one_subgraph{}, {.target = isa::neon, .device = cortex_a76})>;
  static_assert(std::is_same_v<elsewhere::policy, one_subgraph>);
  CHECK((elsewhere::value.target == isa::neon && elsewhere::value.device == cortex_a76));
  CHECK(elsewhere::value.policy == policy::own);
  constexpr options_for several = with_threads(options_for(one_subgraph{}), 3);
  static_assert(std::is_same_v<decltype(several), options_for<one_subgraph> const>);
  CHECK(several.device.threads == 3);
}
