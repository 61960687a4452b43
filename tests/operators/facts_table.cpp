// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the table of docs/what-is-an-operator.md: what follows from the description of each operator.
#include <ago/operators/facts.hpp>
#include <ago/partition/apollo.hpp>
#include <ago/partition/pattern.hpp>
#include <ago/simd/map.hpp>

#include <cmath>
#include <cstdio>
#include <string>

#include "samples.hpp"

using namespace ago;
using namespace ago::described;
using ago::ir::class_of;
using ago::ir::op_class;
using ago::ir::operators;
using namespace ago::partition;

namespace {

constexpr char const* classes[] = {
    "input",       "constant",    "convolution", "matrix_product", "value_product", "contraction",
    "parametric",  "arithmetic",  "function",    "commutative",    "ordered",       "power",
    "window_pool", "global_pool", "norm",        "reduction",      "movement",      "concat",
    "pad",         "expand",      "layout",      "identity",       "resize",        "embedding",
    "nest"};
static_assert(ir::has_enumerators<op_class, ir::lines_of(classes)>());
constexpr char const* kinds[] = {"elementwise", "broadcast", "injective", "reduction", "fusable_out", "opaque"};
static_assert(ir::has_enumerators<pattern, ir::lines_of(kinds)>());
constexpr char const* types[] = {"elementwise", "broadcast", "reduction", "transpose", "matmul", "conv", "opaque"};
static_assert(ir::has_enumerators<apollo_type, ir::lines_of(types)>());

/// A fact, and in brackets what a table says instead.
std::string fact(char const* derived, char const* stated) {
  return derived == std::string(stated) ? derived : std::string(derived) + " (" + stated + ")";
}
std::string loops(expression::definition const& d) {
  std::string r;
  auto const all = loops_of(d);
  for (int i = 0; i < all.count; ++i)
    if (all.extent[i] > 1) r += (r.empty() ? "" : " ") + std::to_string(all.extent[i]);
  return r;
}
std::string number(long x) { return x ? std::to_string(x) : ""; }
std::string bound(double x) {
  if (std::isinf(x)) return x < 0 ? "-∞" : "∞";
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

void print(op kind) {
  auto const g = operators_test::sample_of(kind);
  int const v = g.node_count - 1;
  description const made = described::description_of(g, v);
  expression::definition const& d = made.as;
  char const *const of = classes[int(class_of(kind))], *const tvm = kinds[int(pattern_of(kind))],
                    *const type = types[int(partition::apollo_type_of(g, v))];
  if (!made.exists || class_of(kind) == op_class::nest) {
    std::printf("| %s | (%s) | (%s) | (%s) | | | | |\n", name_of(kind), of, tvm, type);
    return;
  }
  expression::bounds given[expression::definition::max_values]{};
  for (int k = 0; k < d.input_count; ++k) given[k] = {0, 3};
  expression::bounds const b = bounds_of(d, given, expression::arithmetic::rounded);
  std::printf("| %s | %s | %s | %s | %s | %s | %s | %s ... %s |\n", name_of(kind),
              fact(classes[int(class_of(d))], of).c_str(), fact(kinds[int(kind_of(d))], tvm).c_str(),
              fact(types[int(dataflow_of(d))], type).c_str(), loops(d).c_str(), number(multiply_adds(d)).c_str(),
              number(weight_bytes(d)).c_str(), bound(b.lower).c_str(), bound(b.upper).c_str());
}

}  // namespace

int main() {
  std::puts("| operator | class | TVM | Apollo | loops | multiply-adds | bytes of weights | bounds |");
  std::puts("|---|---|---|---|---|---|---|---|");
  for (int k = 0; k < ir::operator_count; ++k) print(op(k));
}
