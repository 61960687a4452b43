// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other engines: installed ones compute the same as ago, missing ones are left out.
#include <bench/contest.hpp>
#include <bench/registry.hpp>
#if AGO_BENCH_ONNXRUNTIME
#include <bench/peers/onnxruntime.hpp>
#endif

#include <doctest/doctest.h>

using namespace bench;

namespace {

using ago::tensor;

constexpr auto conv(int out) { return ago::pointwise{out} | ago::batch_norm{} | ago::relu{}; }

/// 58 channels are not a multiple of any vector, 64 are a multiple of all.
template <int Half>
inline constexpr auto shuffled = ago::input{.h = 5, .w = 4, .c = 3} | conv(2 * Half) | [](tensor x) {
  auto const [left, right] = ago::chunk<2>(x);
  return ago::concat(left, right | conv(Half)) | ago::channel_shuffle{2};
} | [](tensor x) {
  auto const [left, right] = ago::chunk<2>(x);
  return ago::concat(left | conv(Half), right | ago::depthwise{.kernel = 3, .pad = 1} | ago::bias{}) | conv(7);
};

/// The input, a value twice, and a nested concatenation.
inline constexpr auto joined = ago::input{.h = 5, .w = 4, .c = 3} | [](tensor x) {
  tensor const y = x | conv(16);
  return ago::concat(x, ago::concat(y, y | conv(5)), y, y) | conv(64) | conv(6);
};

/// A slice of a value that a sum could be added to in place; the slice is read after the sum.
inline constexpr auto read_later = ago::input{.h = 3, .w = 3, .c = 4} | [](tensor x) {
  tensor const y = x | conv(32);
  auto const [left, right] = ago::chunk<2>(y);
  tensor const sum = y + (y | conv(8) | ago::pointwise{32} | ago::batch_norm{});
  return ago::concat(sum | conv(16), left, right | conv(16)) | conv(5);
};

inline constexpr auto unusual = ago::input{.w = 6, .c = 8} | ago::linear{5} | ago::hyperbolic_tangent{};

/// A transformer's encoder with two heads.
inline constexpr auto encoder = ago::input{.w = 6, .c = 8} | ago::layer_norm{} | [](tensor x) {
  tensor const q = x | ago::linear{8}, k = x | ago::linear{8}, v = x | ago::linear{8};
  tensor const y = (x + (ago::attention{2}(q, k, v) | ago::linear{8})) | ago::layer_norm{1e-3f};
  return y + (y | ago::linear{16} | ago::gelu{} | ago::linear{8} | ago::relu{});
};

template <auto const& Net>
entry entered() {
  return {"net", 5, ago::passes::optimized<Net>::value, {make_variant<ago::model<Net>>("ago")}};
}

template <auto const& Net>
void check_peers() {
  entry const e = entered<Net>();
  contest c(e, "net");
  c.enter_peers(1);
  CHECK(c.contestants().size() == 1 + peer_options().size());
  CHECK(c.agrees());
}

/// Writes given results and reports a given time.
class fake final : public peer {
 public:
  fake(std::span<float const> result, float* out) : result_{result.begin(), result.end()}, out_{out} {}
  void run() override { std::copy(result_.begin(), result_.end(), out_); }
  std::function<double()> clock() override {
    return [] { return .25; };
  }

 private:
  std::vector<float> result_;
  float* out_;
};

}  // namespace

TEST_CASE("other engines slice, shuffle and concatenate channels like ago") {
  check_peers<shuffled<58>>();
  check_peers<shuffled<64>>();
  check_peers<joined>();
  check_peers<read_later>();
}

TEST_CASE("attention is one layer for other engines, with the factor of its scores, between linear layers") {
  using ago::op;
  auto const& graph = ago::passes::optimized<encoder>::value;
  layer_list const list = fuse_layers(graph, make_parameters(graph, 1));
  std::vector<op> kinds;
  for (layer const& l : list.layers) kinds.push_back(l.kind);
  CHECK(kinds == std::vector{op::input, op::layer_norm, op::linear, op::linear, op::linear, op::attention_values,
                             op::linear, op::layer_norm, op::linear, op::linear});
  layer const& attention = list.layers[5];
  CHECK(attention.source == 2);
  CHECK(attention.other == 3);
  CHECK(attention.parts == std::vector{4});
  CHECK(attention.groups == 2);
  CHECK(attention.alpha == .5f);
  CHECK(list.layers[6].other == 1);
  CHECK(list.layers[7].alpha == 1e-3f);
  CHECK(list.layers[7].weights.size() == 8);
  CHECK(list.layers[8].function == op::gelu);
}

TEST_CASE("ncnn and other engines that have attention compute the same as ago") {
  entry const e = entered<encoder>();
  contest c(e, "net");
  c.enter_peers(1);
  std::size_t having = 0;
  for (peer_option const& option : peer_options()) having += option.engine == "ncnn";
  CHECK(c.contestants().size() >= 1 + having);
  CHECK(c.agrees());
}

TEST_CASE("an engine that lacks an operator is left out, and the others continue") {
  entry const e = entered<unusual>();
  contest c(e, "net");
  c.enter_peers(1);
  c.enter("none", "", timed::network, [](peer_memory) -> std::unique_ptr<peer> { throw unsupported("not here"); });
  CHECK(c.contestants().size() == 1);
  CHECK(c.agrees());
  CHECK_THROWS_AS(c.enter("broken", "", timed::network,
                          [](peer_memory) -> std::unique_ptr<peer> { throw std::runtime_error("broken"); }),
                  std::runtime_error);
}

TEST_CASE("an engine in another process is timed by its own clock, and checked like the others") {
  entry const e = entered<unusual>();
  contest c(e, "net");
  REQUIRE(c.agrees());
  std::span<float const> const right = c.contestants()[0].out.span();
  c.enter("fake", "1.0", timed::network, [&](peer_memory m) { return std::make_unique<fake>(right, m.outputs[0]); });
  CHECK(c.agrees());
  c.run(3);
  CHECK(c.contestants()[1].time.median == doctest::Approx(.25));
  std::vector<float> wrong(right.begin(), right.end());
  wrong.back() += 1;
  c.enter("fake", "2.0", timed::network, [&](peer_memory m) { return std::make_unique<fake>(wrong, m.outputs[0]); });
  CHECK_FALSE(c.agrees());
}

#if AGO_BENCH_ONNXRUNTIME
TEST_CASE("a missing ONNX Runtime is reported with a sentence") {
  CHECK_THROWS_AS(find_onnxruntime("/no/such/folder"), unsupported);
}
#endif
