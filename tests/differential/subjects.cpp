// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All networks that are compared, and the double precision twins of the functions that they call.
#include <reference/functions.hpp>

#include <cmath>

#include "comparison.hpp"
#include "experiment.hpp"
#include "large.hpp"
#include "networks.hpp"

namespace differential {
void define_functions() {
  reference::define_functions();
  reference::define<soft_sign>([](double x) { return x / (1 + std::abs(x)); });
  reference::define<bent>([](double x) { return (x > 0 ? x : x / 4) - (std::abs(x) < 1 ? x * x : 1); });
  reference::define<gaussian>([](double x) { return std::exp(-x * x); });
}

std::vector<subject> const& all_subjects() {
  static std::vector<subject> const all = [] {
    std::vector<subject> list = all_networks();
    add_large_networks(list);
    return list;
  }();
  return all;
}

}  // namespace differential
