// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The figures of a partition as text.
#pragma once

#include "inspection.hpp"

#include <string>
#include <vector>

namespace ago::tools {

struct figure {
  char const* label;
  char const* meaning;
  std::string text;
};

/// All figures, the same ones in the same order for every inspection that is measured, or is not.
std::vector<figure> figures_of(inspection const& i);

/// `x` with a fixed number of decimals: "12.3".
std::string fixed(double x, int decimals);
/// A number with blanks as thousands separators.
std::string grouped(long x);

}  // namespace ago::tools
