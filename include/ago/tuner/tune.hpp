// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuner's main function.
#pragma once

#include <ago/requirements.hpp>

#include <ago/tuner/machine.hpp>
#include <ago/tuner/network_problem.hpp>
#include <ago/tuner/session.hpp>

namespace ago {

/// Finds the best schedules of `Net` on this machine and writes them into a header as a table for a model,
/// `ago::model<Net, table, Options>`. `--help` lists the flags. A complete program:
///
///   int main(int count, char** words) { return ago::tune<my_network>(count, words); }
///
/// Compile it with the same flags as the network: what is measured is the code that ships.
template <auto const& Net, options_for Options = options{}>
int tune(int count, char const* const* words) {
  static_assert(lowering::check<Net>::ok);
  return tuner::session(count, words, [](tuner::flags const&) -> std::unique_ptr<tuner::subject> {
    tuner::warn_of_misfit(Options.device, Options.target);
    return std::make_unique<tuner::network_problem<Net, Options>>();
  });
}

}  // namespace ago
