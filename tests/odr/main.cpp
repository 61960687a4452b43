// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translation units built for different processors in one program.
#include "network.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace {

odr::answer ask(odr::user user) {
  float image[odr::pixels * odr::channels];
  for (int i = 0; i < odr::pixels * odr::channels; ++i) image[i] = std::sin(float(i));
  return user(image);
}

float largest(float const (&scores)[odr::classes]) {
  float most = 0;
  for (float score : scores) most = std::fmax(most, std::fabs(score));
  return most;
}

/// The largest difference between two scores, relative to the largest score.
float difference(odr::answer const& a, odr::answer const& b) {
  float differences[odr::classes];
  for (int i = 0; i < odr::classes; ++i) differences[i] = a.scores[i] - b.scores[i];
  return largest(differences) / largest(a.scores);
}

}  // namespace

TEST_CASE("the network's scores are all different") {
  auto const a = ask(odr::baseline);
  for (int i = 0; i < odr::classes; ++i)
    for (int k = 0; k < i; ++k) CHECK(std::fabs(a.scores[i] - a.scores[k]) > 1e-3f * largest(a.scores));
}

TEST_CASE("two translation units with equal flags give bit-identical results") {
  CHECK(difference(ask(odr::baseline), ask(odr::baseline_again)) == 0);
}

#if defined(__x86_64__)
TEST_CASE("each translation unit uses its own instruction set") {
  auto const reference = ask(odr::baseline);
  CHECK(std::string(reference.target) == "sse2");

  struct {
    char const* target;
    bool supported;
    odr::user user;
  } const users[] = {
      {"sse4.2", bool(__builtin_cpu_supports("sse4.2")), odr::sse42},
      {"avx2+fma", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), odr::avx2},
      {"avx512",
       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw"),
       odr::avx512},
  };
  for (auto const& [target, supported, user] : users) {
    if (!supported) {
      MESSAGE("this processor has no " << target);
      continue;
    }
    auto const a = ask(user);
    CHECK(std::string(a.target) == target);
    CHECK(difference(a, reference) < 1e-5f);
  }
}
#endif
