// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Load on another core, which is not starved by the measured program.
#include <bench/arguments.hpp>
#include <bench/contention.hpp>

#include <ago/tuner/claim_core.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <stdexcept>

using namespace bench;

TEST_CASE("the loaded core is another one, and not a sibling if possible") {
  CHECK(disturbing_core({0, 1, 2, 3}, 3, {1, 3}) == 0);
  CHECK(disturbing_core({0, 1, 2, 3}, 0, {0, 1}) == 2);
  CHECK(disturbing_core({2, 3}, 3, {2, 3}) == 2);
  CHECK(disturbing_core({2, 3}, 2, {}) == 3);
  CHECK_THROWS_AS(disturbing_core({1}, 1, {1}), std::runtime_error);
  CHECK_THROWS_AS(disturbing_core({}, 0, {}), std::runtime_error);
  CHECK_THROWS_AS(disturbing_core({0, 1}, 7, {}), std::runtime_error);
}

TEST_CASE("the buffer is larger than any cache") { CHECK(streaming_bytes() >= 64u << 20); }

TEST_CASE("a core streams while another is busy in the real-time class") {
  std::vector<int> const usable = usable_cores();
  if (usable.size() < 2) {
    MESSAGE("skipped: this process may use only one core");
    return;
  }
  int const mine = usable.back();
  contention other(disturbing_core(usable, mine, siblings_of(mine)), 8 << 20);
  CHECK(other.bytes() == 8 << 20);
  std::thread([&] {  // a separate thread, because it cannot leave the real-time class
    ago::tuner::claim_core(mine);
    auto const begin = std::chrono::steady_clock::now();
    std::size_t const moved = other.moved();
    while (other.moved() < moved + 2 * other.bytes() &&
           std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {}
    CHECK(other.moved() >= moved + 2 * other.bytes());
  })
      .join();
  CHECK(other.rate() > 0);
}

namespace {

arguments parsed(std::vector<char const*> words) {
  words.insert(words.begin(), "networks");
  return parse<arguments>(int(words.size()), words.data());
}

}  // namespace

TEST_CASE("the size of the buffer is an argument") {
  CHECK_FALSE(parsed({}).contend);
  CHECK(parsed({"--contend"}).contend);
  CHECK_FALSE(parsed({"--contend"}).contend_bytes);
  CHECK(parsed({"--contend=9000000000"}).contend_bytes == 9'000'000'000u);
  for (char const* word : {"--contend=", "--contend=x", "--contend=12", "--contend=1048576k", "--contend=-1"})
    CHECK_THROWS_AS(parsed({word}), std::invalid_argument);
}

TEST_CASE("a folder for ONNX Runtime implies --peers") {
  CHECK_FALSE(parsed({}).peers);
  CHECK(parsed({"--onnxruntime", "folder"}).peers);
  CHECK(parsed({"--onnxruntime", "folder"}).onnxruntime == "folder");
  CHECK_FALSE(parsed({"--peers"}).onnxruntime);
  CHECK_THROWS_AS(parsed({"--onnxruntime"}), std::invalid_argument);
}

TEST_CASE("a profile is of the named variant") {
  CHECK_FALSE(parsed({}).profile);
  CHECK(parsed({"--profile"}).profile == "ago");
  CHECK(parsed({"--profile=ago-ni"}).profile == "ago-ni");
}
