// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model with the table that a tuner wrote during the build.
#include "networks.hpp"

#include <ago/ago.hpp>
#include <ago/tuner/sample_data.hpp>

#include <tuned_chains.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

using namespace tune_test;

namespace {

template <class Model>
std::vector<float> outputs_of() {
  std::vector<float> const weights = tuner::sample_parameters<chains>();
  std::vector<float> const image = tuner::sample_inputs(passes::optimized<chains>::value)[0];
  static Model net(std::span<float const, Model::parameter_count>(weights.data(), weights.size()));
  std::vector<float> scores(Model::output_size());
  net(std::span<float const, Model::input_size()>(image.data(), image.size()),
      std::span<float, Model::output_size()>(scores.data(), scores.size()));
  return scores;
}

using by_default = model<chains>;
using by_table = model<chains, tuned::tuned_chains>;

}  // namespace

TEST_CASE("the model uses the table, and its results are the same as before") {
  CHECK(tuned::tuned_chains.sorted());
  CHECK(by_table::tuned_steps >= int(std::size(tuned::tuned_chains.entries)));
  std::vector<float> const expected = outputs_of<by_default>(), got = outputs_of<by_table>();
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(got[k] == doctest::Approx(expected[k]).epsilon(1e-4));
}

TEST_CASE("without pipelines, as requested from the tuner, every step runs alone") {
  using program = by_table::program;
  CHECK(program::steps == program::first_part(program::steps));
}
