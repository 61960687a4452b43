// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled network as a value, so that a single comparison serves all networks.
#pragma once

#include <ago/ago.hpp>
#include <ago/runtime/any_program.hpp>

namespace ago::importer {

struct subject {
  char const* name;
  runtime::any_program code;
};

template <auto const& Net>
subject subject_of(char const* name) {
  return {name, runtime::any_program::of<program<Net>>()};
}

/// Runs networks on stored inputs and compares with stored outputs. Arguments: --weights FILE and --data FOLDER for one
/// subject, or --cases FILE with a line for each run. Returns zero if everything agrees.
int compare(subject const* subjects, int count, int argc, char** argv);

}  // namespace ago::importer
