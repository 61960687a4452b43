// What no kernel can be faster than on this machine: multiply-adds, what clamps take from their ports, and weights that
// come from beyond L2. A layer takes at least the longer of its arithmetic and the arrival of its weights.
#include "buffer.hpp"
#include "circumstances.hpp"
#include "command_line.hpp"
#include "entry.hpp"
#include "measure.hpp"
#include "peak.hpp"
#include "report.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {
namespace {

using vec = ago::vec<ago::native_isa>;

struct machine {
  double multiply_adds;  ///< floating-point operations a second
  double clamp;          ///< seconds that a minimum or maximum of one register adds to multiply-adds around it
  double bytes;          ///< a second, read from where the weights of a network lie
};

/// Nine multiply-adds and `CLAMPS` minima or maxima on each of 12 registers, a depthwise 3x3 window over and over.
template <int CLAMPS>
void window_loop(long rounds) {
  float const volatile half = .5f, one = 1.f;
  vec const scale(half), shift(one), low(0.f), high(6.f);
  vec sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = vec(float(i));
#pragma GCC unroll 1
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 9
    for (int k = 0; k < 9; ++k)
#pragma GCC unroll 12
      for (int i = 0; i < 12; ++i) sum[i] = fma(sum[i], scale, shift);
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      if (CLAMPS > 0) sum[i] = max(low, sum[i]);
      if (CLAMPS > 1) sum[i] = min(high, sum[i]);
    }
  }
  use(sum);
}

/// Reads `floats` floats from end to end.
void read_all(float const* p, std::size_t floats) {
  vec sum[8];
  for (vec& s : sum) s = vec(0.f);
  for (std::size_t i = 0; i + 8 * vec::size <= floats; i += 8 * vec::size)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) sum[k] = sum[k] + vec::load(p + i + k * vec::size);
  use(sum);
}

machine measure_machine(std::size_t weights, int repetitions) {
  constexpr long rounds = 20'000;
  buffer const memory(weights);
  double operations = 0;
  std::vector<timing> const t = measure({{"peak", [&] { operations = peak_loop(); }},
                                         {"window", [] { window_loop<0>(rounds); }},
                                         {"clamped window", [] { window_loop<2>(rounds); }},
                                         {"weights", [&] { read_all(memory.data(), weights); }}},
                                        repetitions);
  return {operations / t[0].minimum, std::max(0., t[2].minimum - t[1].minimum) / (2. * 12 * rounds),
          double(weights) * sizeof(float) / t[3].minimum};
}

/// Minima, maxima and additions that an elementwise operator takes for one register.
int port_uses(ago::op kind) {
  switch (kind) {
    case ago::op::relu:
    case ago::op::add: return 1;
    case ago::op::relu6:
    case ago::op::clip: return 2;
    default: return 0;
  }
}

record floor_of(entry const& e, int repetitions) {
  graph_view const& g = e.graph;
  std::vector<int> root(std::size_t(g.size()), -1);
  std::vector<double> clamps(root.size(), 0.), weights(root.size(), 0.), products(root.size(), 0.);
  double all_weights = 0;
  for (int v = g.input_count; v < g.size(); ++v) {
    std::size_t const at = std::size_t(v);
    root[at] = is_complex(g.node(v).kind) ? v : root[std::size_t(g.operand(v))];
    if (root[at] < 0) continue;
    clamps[std::size_t(root[at])] += double(g.node(v).out.count()) / vec::size * port_uses(g.node(v).kind);
    if (root[at] != v) continue;
    products[at] = 2. * double(g.node(v).out.count()) * double(g.fan_in(v));
    if (has_weights(g.node(v).kind)) weights[at] = 4. * g.node(v).out.c * double(g.fan_in(v));
    all_weights += weights[at];
  }
  machine const m = measure_machine(std::size_t(all_weights / 4), repetitions);
  double floor = 0, arithmetic = 0, clamping = 0, streaming = 0;
  for (std::size_t v = 0; v < root.size(); ++v) {
    double const multiplying = products[v] / m.multiply_adds, clamp = clamps[v] * m.clamp;
    double const stream = weights[v] / m.bytes;
    floor += std::max(multiplying + clamp, stream);
    arithmetic += multiplying;
    clamping += clamp;
    streaming += stream;
  }
  return {{"network", e.network},
          {"size", long(e.size)},
          {"floor_ms", floor * 1e3, "%.4f"},
          {"percent_of_peak", 100 * arithmetic / floor, "%.1f"},
          {"multiply_adds_ms", arithmetic * 1e3, "%.4f"},
          {"clamps_ms", clamping * 1e3, "%.4f"},
          {"weights_ms", streaming * 1e3, "%.4f"},
          {"peak_gflops", m.multiply_adds * 1e-9, "%.1f"},
          {"weights_gb_per_s", m.bytes * 1e-9, "%.1f"}};
}

constexpr char usage[] =
    "usage: limits [--json] [--repetitions N] [--core N]\n"
    "  The least time that each network can take on this machine, and the share of the multiply-add peak it is.\n"
    "  clamps_ms: minima, maxima and additions of the epilogues, as far as they take ports from multiply-adds;\n"
    "  weights_ms: reading all weights once, from where they lie when a run begins.\n";

int run(common_arguments const& a) {
  print_circumstances(a.core);
  printer out(a.json);
  for (entry const* e : sorted_entries()) out.add(floor_of(*e, a.repetitions));
  out.finish();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::common_arguments>("limits", bench::usage, count, words, bench::run);
}
