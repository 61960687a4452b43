// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executor compared with PyTorch's results (vectors.inc, written by make_vectors.py).
#include <doctest/doctest.h>

#include "builder.hpp"
#include "executor.hpp"

namespace {

using ago::op;

struct torch_case {
  ago::ir::node node;
  std::vector<ago::shape> operands;
  std::vector<double> expected;
};

std::vector<torch_case> const cases{
#include "vectors.inc"
};

/// The formulas of make_vectors.py.
std::vector<float> data(long count, int factor, int modulus, float divisor) {
  std::vector<float> all;
  for (int i = 0; i < count; ++i) all.push_back(float((i * factor + 5) % modulus - modulus / 2) / divisor);
  return all;
}

/// Gives a node the parameters of its kind.
void reserve_parameters(reference::builder& b, ago::ir::node& n, ago::shape const& in) {
  if (has_weights(n.kind)) {
    int const group_in = n.kind == op::depthwise ? 1 : in.c / n.groups;
    n.weight = b.reserve(n.out.c * group_in * n.win.kernel_h * n.win.kernel_w);
  }
  if (n.kind == op::batch_norm) n.norm = b.reserve(4 * n.out.c);
  if (n.kind == op::positions) n.weight = b.reserve(n.out.h * n.out.w * n.out.c);
  if (n.kind == op::embedding) n.weight = b.reserve(n.entries * n.out.c);
  if (n.kind == op::layer_norm) {
    n.weight = b.reserve(n.out.c);
    n.shift = b.reserve(n.out.c);
  }
}

}  // namespace

TEST_CASE("operators have the same meaning as in PyTorch") {
  CHECK(cases.size() == 79);
  for (torch_case const& t : cases) {
    CAPTURE(&t - cases.data());
    CAPTURE(std::string(name_of(t.node.kind)));
    reference::builder b;
    std::vector<int> operands;
    std::vector<std::vector<float>> inputs;
    for (ago::shape const& s : t.operands) {
      operands.push_back(b.input(s));
      inputs.push_back(inputs.empty() ? data(s.count(), 37, 27, 2) : data(s.count(), 23, 19, 4));
    }
    ago::ir::node n = t.node;
    reserve_parameters(b, n, t.operands[0]);
    b.output(b.append(n, operands));
    std::vector<float> parameters = data(b.graph.parameters, 29, 17, 8);
    if (n.kind == op::batch_norm)
      for (std::size_t c = 0; c < std::size_t(n.out.c); ++c) {
        float& variance = parameters[3 * std::size_t(n.out.c) + c];
        variance = std::abs(variance) + .25f;
      }
    auto const y = reference::run(b.graph, parameters, inputs)[0];
    REQUIRE(y.size() == t.expected.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      CHECK(y[i] == doctest::Approx(t.expected[i]).epsilon(1e-7).scale(1e-4));
    }
  }
}
