// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks under every policy: the results are the same, whatever the partition.
#include "answers.hpp"

#include <networks/bert_tiny.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>

#include <string>

using namespace networks_test;

namespace {

template <auto const& Net, policy Policy>
std::vector<float> result_of() {
  using net = model<Net, untuned, Policy>;
  std::vector<float> weights(net::parameter_count), in(net::input_size()), out(net::output_size());
  for (parameter const& p : parameters<Net>)
    for (int i = p.offset; i < p.offset + p.count(); ++i) weights[std::size_t(i)] = parameter_value(p, i);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = pixel(std::uint32_t(i));
  auto const run = std::make_unique<net>(std::span<float const, net::parameter_count>(weights));
  (*run)(std::span<float const, net::input_size()>(in), std::span<float, net::output_size()>(out));
  return out;
}

template <auto const& Net, policy Policy>
void agrees_with(std::vector<float> const& expected) {
  auto const got = result_of<Net, Policy>();
  REQUIRE(got.size() == expected.size());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const difference = std::fabs(double(got[i]) - expected[i]);
    if (!(difference <= worst)) worst = difference;
    largest = std::fmax(largest, std::fabs(double(expected[i])));
  }
  std::string const name = name_of(Policy);
  CAPTURE(name);
  CHECK(worst <= 1e-5 * largest);
  using compiled = program<Net, untuned, Policy>;
  MESSAGE(name, ": ", compiled::subgraphs, " subgraphs, ", compiled::partition.minis.count, " mini-subgraphs, ",
          compiled::steps, " steps; largest difference ", worst / largest);
}

template <auto const& Net, policy... Policies>
void policies_agree() {
  auto const expected = result_of<Net, policy::ago>();
  (agrees_with<Net, Policies>(expected), ...);
}
template <auto const& Net>
void all_policies_agree() {
  using enum policy;
  policies_agree<Net, ago_ni, paper, paper_adjacent, fuse_ops, apollo, neoflow>();
}

TEST_CASE("BERT-tiny has equal results under every policy") { all_policies_agree<networks::bert_tiny<16>>(); }

#ifdef AGO_TEST_FULL  // tests/runtime and tests/differential have all policies for small networks of convolutions
TEST_CASE("MobileNet-V2 has equal results under every policy") { all_policies_agree<networks::mobilenet_v2<56>>(); }
// A program of these takes two seconds to compile: each policy for one of them.
TEST_CASE("ShuffleNet-V2 has equal results under policies that differ in kind") {
  policies_agree<networks::shufflenet_v2<56>, policy::paper_adjacent, policy::fuse_ops, policy::neoflow>();
}
TEST_CASE("MobileViT-S has equal results under the other policies") {
  policies_agree<networks::mobilevit_s<64>, policy::ago_ni, policy::paper, policy::apollo>();
}
#endif

}  // namespace
