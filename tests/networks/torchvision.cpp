#include <ago/ago.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using namespace ago;

/// Outputs at equal distances of a network in PyTorch, for the parameters and the input that `uniform` makes.
struct answer {
  std::string_view network;
  int size, parameters;
  double largest;
  double outputs[40];
};

constexpr answer answers[] = {
#include "vectors.inc"
};

/// Number i of the sequence of make_vectors.py.
float uniform(std::uint32_t i, double low, double high) {
  std::uint32_t x = (i + 0x9e3779b9u) * 0x85ebca6bu;
  x = (x ^ x >> 15) * 0xc2b2ae35u;
  x = (x ^ x >> 13) * 0x27d4eb2fu;
  x ^= x >> 16;
  return float(low + (high - low) * (double(x >> 8) * 0x1p-24));
}

float parameter_value(parameter const& p, int i) {
  switch (p.role) {
    case role::mean: return uniform(std::uint32_t(i), -.2, .2);
    case role::variance: return uniform(std::uint32_t(i), .8, 1.25);
    case role::gamma: return uniform(std::uint32_t(i), .6, 1.4);
    case role::weight: {
      double const high = std::sqrt(6. / (p.kind == op::positions ? p.dims[2] : p.count() / p.dims[0]));
      return uniform(std::uint32_t(i), -high, high);
    }
    default: return uniform(std::uint32_t(i), -.3, .3);
  }
}

float pixel(std::uint32_t i) { return uniform(i, -1, 1); }
float word(std::uint32_t i) { return std::floor(uniform(i, 0, 30522)); }

template <auto const& Net>
void check(std::string_view network, int size, float (*input)(std::uint32_t) = pixel) {
  CAPTURE(network);
  CAPTURE(size);
  answer const* expected = nullptr;
  for (answer const& a : answers)
    if (a.network == network && a.size == size) expected = &a;
  REQUIRE(expected);
  using net = model<Net>;
  REQUIRE(net::parameter_count == std::size_t(expected->parameters));

  std::vector<float> weights(net::parameter_count), in(net::input_size()), out(net::output_size());
  for (parameter const& p : parameters<Net>)
    for (int i = p.offset; i < p.offset + p.count(); ++i) weights[std::size_t(i)] = parameter_value(p, i);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = input(std::uint32_t(i));
  auto const run = std::make_unique<net>(std::span<float const, net::parameter_count>(weights));
  (*run)(std::span<float const, net::input_size()>(in), std::span<float, net::output_size()>(out));

  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < std::size(expected->outputs); ++i) {
    double const difference = std::fabs(double(out[i * (out.size() / 40)]) - expected->outputs[i]);
    if (!(difference <= worst)) worst = difference;
  }
  for (float const x : out) largest = std::fmax(largest, std::fabs(double(x)));
  MESSAGE(network, ' ', size, ": largest difference ", worst / expected->largest, " of the largest output");
  CHECK(worst <= 1e-5 * expected->largest);
  CHECK(std::fabs(largest - expected->largest) <= 1e-5 * expected->largest);
}

TEST_CASE("MobileNet-V2 answers as torchvision's") {
  check<networks::mobilenet_v2<56>>("mobilenet_v2", 56);
  check<networks::mobilenet_v2<112>>("mobilenet_v2", 112);
  check<networks::mobilenet_v2<224>>("mobilenet_v2", 224);
}

TEST_CASE("MnasNet answers as torchvision's") {
  check<networks::mnasnet<56>>("mnasnet", 56);
  check<networks::mnasnet<112>>("mnasnet", 112);
  check<networks::mnasnet<224>>("mnasnet", 224);
}

TEST_CASE("ShuffleNet-V2 answers as torchvision's") {
  check<networks::shufflenet_v2<56>>("shufflenet_v2", 56);
  check<networks::shufflenet_v2<112>>("shufflenet_v2", 112);
  check<networks::shufflenet_v2<224>>("shufflenet_v2", 224);
}

TEST_CASE("SqueezeNet answers as torchvision's") {
  check<networks::squeezenet<56>>("squeezenet", 56);
  check<networks::squeezenet<112>>("squeezenet", 112);
  check<networks::squeezenet<224>>("squeezenet", 224);
}

TEST_CASE("MobileViT answers as PyTorch does") {
  check<networks::mobilevit_s<64>>("mobilevit_s", 64);
  check<networks::mobilevit_s<224>>("mobilevit_s", 224);  // images of 7x7 are stretched
  check<networks::mobilevit_s<256>>("mobilevit_s", 256);
}

TEST_CASE("BERT-tiny answers as PyTorch does") {
  check<networks::bert_tiny<16>>("bert_tiny", 16);
  check<networks::bert_tiny<128>>("bert_tiny", 128);
  check<networks::bert_tiny_ids<128>>("bert_tiny_ids", 128, word);
}

// Parameters that are trained, and multiply-adds, as published for 224 pixels.
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

/// Bytes that steps only move from one place to another.
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

// At most a third of all values between operators, after the passes: what an interpreter without planning would take.
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
