// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All networks that are compared, and the double precision twins of the functions that they call.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "comparison.hpp"
#include "experiment.hpp"
#include "large.hpp"
#include "networks.hpp"

namespace differential {
namespace {

template <auto const& Lambda>
void define(auto twin) {
  reference::define(&ago::ir::user_map<std::remove_cvref_t<decltype(Lambda)>>, +twin);
}

}  // namespace

void define_functions() {
  define<soft_sign>([](double x) { return x / (1 + std::abs(x)); });
  define<bent>([](double x) { return (x > 0 ? x : x / 4) - (std::abs(x) < 1 ? x * x : 1); });
  define<gaussian>([](double x) { return std::exp(-x * x); });
  define<ago::ir::elu_function>([](double x, double a, double b) { return (x < 0 ? a * std::expm1(x) : x) * b; });
  define<ago::ir::celu_function>([](double x, double a, double) { return x < 0 ? a * std::expm1(x / a) : x; });
  define<ago::ir::softplus_function>([](double x) { return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x))); });
  define<ago::ir::mish_function>(
      [](double x) { return x * std::tanh(std::max(x, 0.) + std::log1p(std::exp(-std::abs(x)))); });
  define<ago::ir::squared>([](double x) { return x * x; });
  define<ago::ir::reciprocal_root_above>([](double x, double a, double) { return 1 / std::sqrt(x + a); });
  define<ago::ir::root_at_least>([](double x, double a, double) { return std::max(std::sqrt(x), a); });
  define<ago::ir::affine_function>([](double x, double a, double b) { return a * x + b; });
  define<ago::ir::power_function>([](double x, double a, double) { return std::pow(x, a); });
  define<ago::ir::affine_sigmoid_function>([](double x, double a, double b) { return std::clamp(a * x + b, 0., 1.); });
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
