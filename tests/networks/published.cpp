// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of the networks, and their memory and work, at compile time.
#include <ago/ago.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;
using namespace ago::plan;

namespace {

// Trained parameters and multiply-adds, as published for 224 pixels.
template <auto const& Net>
constexpr long trained_parameters() {
  long count = 0;
  for (parameter const& p : parameters<Net>)
    if (p.role != role::mean && p.role != role::variance) count += p.count();
  return count;
}
template <auto const& Net>
constexpr long multiply_adds() {
  auto const& g = optimized<Net>::value;
  long count = 0;
  for (int v = g.input_count; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    if (!is_complex(n.kind)) continue;
    int const window = has_weights(n.kind) ? n.win.kernel_h * n.win.kernel_w : 1;
    int const depth = n.kind == op::depthwise          ? 1
                      : n.kind == op::attention_values ? g.source(v).out.c  // tokens
                                                       : g.source(v).out.c / n.groups;
    count += n.out.count() * window * depth;
  }
  return count;
}
static_assert(trained_parameters<networks::mobilevit_s<224>>() == 5'578'632);
static_assert(trained_parameters<networks::bert_tiny_ids<512>>() + 128 + 128 * 128 + 128 == 4'385'920);
static_assert(trained_parameters<networks::mobilenet_v2<224>>() == 3'504'872);
static_assert(trained_parameters<networks::mnasnet<224>>() == 4'383'312);
static_assert(trained_parameters<networks::shufflenet_v2<224>>() == 2'278'604);
static_assert(trained_parameters<networks::squeezenet<224>>() == 1'235'496);
static_assert(multiply_adds<networks::mobilenet_v2<224>>() / 100'000 == 3007);  // 300.8 million, rounded down
static_assert(multiply_adds<networks::mnasnet<224>>() / 100'000 == 3144);
static_assert(multiply_adds<networks::shufflenet_v2<224>>() / 100'000 == 1449);
static_assert(multiply_adds<networks::mobilevit_s<224>>() / 100'000 == 15215);
static_assert(multiply_adds<networks::mobilevit_s<256>>() / 100'000 == 20008);
static_assert(multiply_adds<networks::bert_tiny<128>>() / 100'000 == 587);
static_assert(multiply_adds<networks::squeezenet<224>>() / 100'000 == 3491);

/// Bytes that steps only copy.
template <auto const& Net>
constexpr long copied_bytes() {
  using program = ago::program<Net>;
  long sum = 0;
  for (auto const& s : program::plan.steps) {
    bool const moves = s.key.what == structure::copy || s.key.what == structure::from_nchw ||
                       s.key.what == structure::to_nchw || s.key.what == structure::pad ||
                       (s.key.what == structure::elementwise && s.key.after.count() == 0);
    if (moves) sum += 4 * s.data.out.count();
  }
  return sum;
}
static_assert(copied_bytes<networks::squeezenet<224>>() == 0);
static_assert(copied_bytes<networks::shufflenet_v2<224>>() == 0);
static_assert(copied_bytes<networks::mobilevit_s<224>>() == 0);
static_assert(copied_bytes<networks::bert_tiny<128>>() == 0);

// The arena is at most a third of all values between operators after the passes, which an interpreter without planning
// would need.
template <auto const& Net>
constexpr bool is_frugal() {
  auto const& g = optimized<Net>::value;
  long bytes = 0;
  for (int v = g.input_count; v < g.node_count; ++v) bytes += 4 * g.nodes[v].out.count();
  return 3 * long(program<Net>::arena_bytes) <= bytes;
}
static_assert(is_frugal<networks::mobilenet_v2<224>>() && is_frugal<networks::mnasnet<224>>());
static_assert(is_frugal<networks::squeezenet<224>>() && is_frugal<networks::shufflenet_v2<224>>());
static_assert(is_frugal<networks::mobilevit_s<224>>() && is_frugal<networks::bert_tiny<128>>());

}  // namespace

TEST_CASE("networks have the published sizes, copy nothing, and need little memory") {
  MESSAGE(
      "bytes of arena at 224: MobileNet-V2 ", program<networks::mobilenet_v2<224>>::arena_bytes, ", MnasNet ",
      program<networks::mnasnet<224>>::arena_bytes, ", SqueezeNet ", program<networks::squeezenet<224>>::arena_bytes,
      ", ShuffleNet-V2 ", program<networks::shufflenet_v2<224>>::arena_bytes, ", MobileViT-S ",
      program<networks::mobilevit_s<224>>::arena_bytes, "; BERT-tiny ", program<networks::bert_tiny<128>>::arena_bytes);
}
