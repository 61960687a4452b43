// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowered form of a model built by hand.
#pragma once

#include "import/builder.hpp"
#include "import/lowering.hpp"
#include "onnx/network.hpp"

#include <algorithm>
#include <numeric>

namespace ago_test {

/// first, first + 1, ...
inline floats counted(std::size_t n, float first = 1) {
  floats r(n);
  std::iota(r.begin(), r.end(), first);
  return r;
}

inline ago::importer::lowered_model lowered_of(network const& net) { return ago::importer::lower(net.load()); }

/// The number of layers of a kind.
template <class Layer>
int count(ago::importer::call_list const& list) {
  return int(std::count_if(list.calls.begin(), list.calls.end(),
                           [](ago::importer::call const& c) { return std::holds_alternative<Layer>(c.what); }));
}
/// The only layer of its kind.
template <class Layer>
ago::importer::call const& only(ago::importer::call_list const& list) {
  REQUIRE(count<Layer>(list) == 1);
  return *std::find_if(list.calls.begin(), list.calls.end(),
                       [](ago::importer::call const& c) { return std::holds_alternative<Layer>(c.what); });
}

}  // namespace ago_test
