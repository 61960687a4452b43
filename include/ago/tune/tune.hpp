// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuner's main function.
#pragma once

#include <ago/graph/requirements.hpp>

#include <ago/tune/network_problem.hpp>
#include <ago/tune/session.hpp>

namespace ago {

/// Finds the best schedules of `Net` on this machine, and writes them into a header with a table for
/// `ago::model<Net, table, Options>`, as the command line says: `--help` lists what it can. All of a program:
///
///   int main(int count, char** words) { return ago::tune<my_network>(count, words); }
///
/// Compile it as the network will be compiled: what is measured is the code that ships.
template <auto const& Net, options Options = options()>
int tune(int count, char const* const* words) {
  static_assert(check<Net>::ok);
  return tuner::session(count, words, [](tuner::flags const&) -> std::unique_ptr<tuner::subject> {
    return std::make_unique<tuner::network_problem<Net, Options>>();
  });
}

}  // namespace ago
