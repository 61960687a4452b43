// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of examples/capsules, computed by the executor, agree with PyTorch.
#include <ago/expression/check.hpp>

#include <capsules/operators.hpp>
#include <digits/data.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include "operators.hpp"
#include "run.hpp"

extern "C" {
extern unsigned char const capsules_weights[], capsules_weights_end[];
extern unsigned char const capsules_expected[], capsules_expected_end[];
}

using namespace expression_test;
using namespace ago::expression;

namespace {

inline constexpr definition edges = operators::dilated_convolution(32, 3, 1, 1)(extents(1, 8, 8, 1));
inline constexpr definition poses = capsules::poses(edges.result());
inline constexpr definition primary = capsules::capsule_convolution(8, 3, 1)(poses.result());
inline constexpr definition squashed = capsules::squash(primary.result());
inline constexpr definition secondary = capsules::capsule_convolution(8, 3, 2)(squashed.result());
inline constexpr definition shortened = capsules::squash(secondary.result());
inline constexpr definition votes = capsules::votes(10)(shortened.result());
inline constexpr definition average = capsules::average(votes.result());
inline constexpr definition class_pose = capsules::squash(average.result());
inline constexpr definition agreement = capsules::agreement(votes.result(), class_pose.result());
inline constexpr definition route = capsules::route(votes.result(), agreement.result());
inline constexpr definition lengths = capsules::lengths(class_pose.result());
static_assert(check<edges>::ok && check<poses>::ok && check<primary>::ok && check<squashed>::ok);
static_assert(check<secondary>::ok && check<shortened>::ok && check<votes>::ok && check<average>::ok);
static_assert(check<class_pose>::ok && check<agreement>::ok && check<route>::ok && check<lengths>::ok);
static_assert(secondary.result() == extents(1, 8, 2, 2, 4, 4) && votes.result() == extents(1, 32, 10, 4, 4));
static_assert(route.result() == class_pose.result() && lengths.result() == extents(1, 10));

/// Takes parameters off the front of the file of weights.
class parameters {
 public:
  /// For all parameters of an operator.
  std::vector<values> of(definition const& d) {
    std::vector<values> r;
    for (int v = 0; v < d.value_count; ++v)
      if (d.values[v].role == value_role::parameter) r.push_back(next(d.values[v].extents.count()));
    return r;
  }
  values next(long count) {
    auto const part = rest.take<float>(static_cast<std::size_t>(count));
    return {part.begin(), part.end()};
  }
  void finish() const { rest.finish(); }

 private:
  digits::reader rest{"capsules.weights", capsules_weights, capsules_weights_end};
};

/// The only result of an operator.
values apply(definition const& d, std::vector<values> inputs, std::vector<values> const& weights = {}) {
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  return run(d, inputs)[0];
}

}  // namespace

TEST_CASE("a trained capsule network has PyTorch's lengths") {
  parameters all;
  auto const of_edges = all.of(edges);
  values const bias = all.next(32);
  auto const of_primary = all.of(primary), of_secondary = all.of(secondary), of_votes = all.of(votes);
  all.finish();
  auto const set = digits::held_out({"capsules.expected", capsules_expected, capsules_expected_end});
#ifdef AGO_TEST_FULL
  std::size_t const step = 10;
#else
  std::size_t const step = 90;
#endif
  for (std::size_t image = 0; image < set.images.size(); image += step) {
    values pixels;
    for (int const pixel : set.images[image]) pixels.push_back(pixel / 16.);
    values filtered = apply(edges, {pixels}, of_edges);
    for (std::size_t i = 0; i < filtered.size(); ++i) filtered[i] = std::max(filtered[i] + bias[i % 32], 0.);
    values const first = apply(squashed, {apply(primary, {apply(poses, {filtered})}, of_primary)});
    values const second = apply(shortened, {apply(secondary, {first}, of_secondary)});
    values const vote = apply(votes, {second}, of_votes);
    values pose = apply(class_pose, {apply(average, {vote})});
    values logits = apply(agreement, {vote, pose});
    for (int routing = 1; routing < 3; ++routing) {
      pose = apply(class_pose, {apply(route, {vote, logits})});
      values const more = apply(agreement, {vote, pose});
      for (std::size_t i = 0; i < logits.size(); ++i) logits[i] += more[i];
    }
    values const length = apply(lengths, {pose});
    CHECK(std::max_element(length.begin(), length.end()) - length.begin() == set.expected_classes[image]);
    for (std::size_t k = 0; k < 10; ++k)
      CHECK(length[k] == doctest::Approx(double(set.expected_logits[image][k])).epsilon(2e-6));
  }
}
