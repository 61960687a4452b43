// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuner of the synthetic landscape, for tests that start, kill and resume one.
#include <ago/tune/session.hpp>

#include <cstdlib>
#include <memory>
#include <thread>

#include "synthetic.hpp"

namespace {

/// Takes SYNTHETIC_DELAY milliseconds for a measurement, and calls itself SYNTHETIC_NETWORK.
struct slow_landscape : synthetic::landscape {
  slow_landscape() : landscape({.repeatable = true}) {
    if (char const* name = std::getenv("SYNTHETIC_NETWORK")) network_name = name;
    if (char const* text = std::getenv("SYNTHETIC_DELAY")) delay = std::chrono::milliseconds(std::atoi(text));
  }
  ago::tuner::comparison measure(ago::tuner::candidate const& contender, ago::tuner::candidate const& incumbent,
                                 int runs) override {
    std::this_thread::sleep_for(delay);
    return landscape::measure(contender, incumbent, runs);
  }
  std::chrono::milliseconds delay{0};
};

}  // namespace

int main(int count, char** words) {
  return ago::tuner::session(count, words, [](auto const&) { return std::make_unique<slow_landscape>(); });
}
