// The executor against PyTorch's results (vectors.inc, written by make_vectors.py).
#include <doctest/doctest.h>

#include "builder.hpp"
#include "executor.hpp"

namespace {

using ago::op;

struct torch_case {
  op kind;
  ago::shape in, out;
  ago::window win;
  int groups;
  bool count_pads;
  float alpha;
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

}  // namespace

TEST_CASE("convolutions, pooling, batch norm and activations mean what they mean in PyTorch") {
  CHECK(cases.size() == 38);
  for (torch_case const& t : cases) {
    CAPTURE(&t - cases.data());
    CAPTURE(std::string(name_of(t.kind)));
    reference::builder b;
    int const x = b.input(t.in);
    ago::node n{.kind = t.kind, .out = t.out, .win = t.win, .groups = t.groups, .count_pads = t.count_pads,
                .alpha = t.alpha};
    if (is_complex(t.kind)) {
      int const group_in = t.kind == op::depthwise ? 1 : t.in.c / t.groups;
      n.weight = b.reserve(t.out.c * group_in * t.win.kernel_h * t.win.kernel_w);
    }
    if (t.kind == op::batch_norm) n.norm = b.reserve(4 * t.out.c);
    b.output(b.append(n, {x}));
    std::vector<float> parameters = data(b.graph.parameters, 29, 17, 8);
    if (t.kind == op::batch_norm)
      for (std::size_t c = 0; c < std::size_t(t.out.c); ++c) {
        float& variance = parameters[3 * std::size_t(t.out.c) + c];
        variance = std::abs(variance) + .25f;
      }
    auto const y = reference::run(b.graph, parameters, {data(t.in.count(), 37, 27, 2)})[0];
    REQUIRE(y.size() == t.expected.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      CHECK(y[i] == doctest::Approx(t.expected[i]).epsilon(1e-7).scale(1e-4));
    }
  }
}
