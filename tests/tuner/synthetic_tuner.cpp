// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuner for the synthetic landscape, for tests that start, kill and resume it.
#include <ago/tuner/session.hpp>

#include <cstdlib>
#include <memory>
#include <thread>

#include "synthetic.hpp"

namespace {

/// Takes SYNTHETIC_DELAY milliseconds for a measurement, and has the network name SYNTHETIC_NETWORK. On a busy machine
/// (SYNTHETIC_BUSY), times vary by a third, or are ten times as long in the first trial ("at first").
/// SYNTHETIC_STUBBORN: the last trial finds no difference.
struct slow_landscape : synthetic::landscape {
  slow_landscape() : landscape({.noise = busy() == "always" ? .3 : .02, .repeatable = true}) {
    if (char const* name = std::getenv("SYNTHETIC_NETWORK")) network_name = name;
    if (char const* text = std::getenv("SYNTHETIC_DELAY")) delay = std::chrono::milliseconds(std::atoi(text));
  }
  static std::string busy() {
    char const* const text = std::getenv("SYNTHETIC_BUSY");
    return text ? text : "";
  }
  ago::tuner::comparison measure(ago::tuner::candidate const& contender, ago::tuner::candidate const& incumbent,
                                 int runs) override {
    std::this_thread::sleep_for(delay);
    bool const last = runs > ago::tuner::settings{}.runs;
    if (last && std::getenv("SYNTHETIC_STUBBORN")) return landscape::measure(incumbent, incumbent, runs);
    ago::tuner::comparison r = landscape::measure(contender, incumbent, runs);
    if (measured == 1 && busy() == "at first")
      for (double* t : {&r.contender, &r.incumbent, &r.contender_least, &r.incumbent_least}) *t *= 10;
    return r;
  }
  std::chrono::milliseconds delay{0};
};

}  // namespace

int main(int count, char** words) {
  return ago::tuner::session(count, words, [](auto const&) { return std::make_unique<slow_landscape>(); });
}
