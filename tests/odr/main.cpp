// Translation units built for different processors live in one program.
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

/// The largest difference between two answers; the network ends in tanh, so scores are within -1 and 1.
float difference(odr::answer const& a, odr::answer const& b) {
  float largest = 0;
  for (int i = 0; i < odr::classes; ++i) largest = std::fmax(largest, std::fabs(a.scores[i] - b.scores[i]));
  return largest;
}

}  // namespace

TEST_CASE("the network tells images apart") {
  auto const a = ask(odr::baseline);
  float smallest = 1, largest = -1;
  for (float score : a.scores) smallest = std::fmin(smallest, score), largest = std::fmax(largest, score);
  CHECK(largest - smallest > 1e-3f);
  CHECK(std::fabs(largest) < .999f);
}

TEST_CASE("two translation units with equal flags give equal bits") {
  CHECK(difference(ask(odr::baseline), ask(odr::baseline_again)) == 0);
}

#if defined(__x86_64__)
TEST_CASE("each translation unit uses its own instruction set") {
  auto const reference = ask(odr::baseline);
  CHECK(std::string(reference.target) == "sse2");

  struct { char const* target; bool supported; odr::user user; } const users[] = {
      {"sse4.2", bool(__builtin_cpu_supports("sse4.2")), odr::sse42},
      {"avx2+fma", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), odr::avx2},
      {"avx512", __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"), odr::avx512},
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
