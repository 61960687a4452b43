// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parameters of a network are trained, and where their gradients are.
#pragma once

#include <ago/learning/training_options.hpp>
#include <ago/network/parameters.hpp>

namespace ago::learning {

/// What training does with a parameter.
enum class row_use : std::uint8_t {
  frozen,
  trained,
  statistic,  ///< of a trained batch norm: a running mean or variance, for which there is a value of the batch
};

/// For each parameter of a network, what is done with it, and its place among the gradients, where those of all
/// parameters that are not frozen follow each other in order of declaration.
template <int N>
struct trained_rows {
  row_use use[N > 0 ? N : 1]{};
  int place[N > 0 ? N : 1]{};
  int count{};    ///< rows that are not frozen
  int floats{};   ///< of all gradients
  int trained{};  ///< rows that are trained
};

template <int N>
constexpr trained_rows<N> rows_to_train(parameter_table<N> const& all, training const& how) {
  trained_rows<N> r;
  auto const selected = [&](int i) { return how.train.matches(all[i]) && !how.freeze.matches(all[i]); };
  for (int i = 0; i < N; ++i) {
    bool const mean = all[i].role == role::mean, variance = all[i].role == role::variance;
    if (mean || variance) {  // they follow gamma and beta
      int const gamma = i - 2 - variance;
      if (r.use[gamma] == row_use::trained || r.use[gamma + 1] == row_use::trained) r.use[i] = row_use::statistic;
    } else if (selected(i)) {
      r.use[i] = row_use::trained;
      ++r.trained;
    }
    if (r.use[i] == row_use::frozen) continue;
    r.place[i] = r.floats;
    r.floats += all[i].count();
    ++r.count;
  }
  return r;
}

}  // namespace ago::learning
