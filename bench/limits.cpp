// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limits of a network on this machine: multiply-adds, register lanes without a channel, what activations and
// softmax add to the arithmetic, and weights that come from beyond L2. A layer takes at least as long as the longer of
// its arithmetic and the arrival of its weights.
#include "buffer.hpp"
#include "circumstances.hpp"
#include "command_line.hpp"
#include "entry.hpp"
#include "measure.hpp"
#include "peak.hpp"
#include "report.hpp"

#include <ago/kernel/attention/attention.hpp>
#include <ago/kernel/epilogue.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace bench {
namespace {

using vec = ago::simd::vec<ago::native_isa>;

/// Nine multiply-adds on each of 12 registers, as in a depthwise 3x3 window, and then K on the results, repeatedly.
template <ago::op K>
void window_loop(long rounds) {
  float const volatile half = .5f, one = 1.f;
  vec const scale(half), shift(one);
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
      if constexpr (K == ago::op::add) sum[i] = sum[i] + shift;
      else if constexpr (K != ago::op::identity)
        sum[i] = ago::kernel::activate<K, ago::native_isa>(sum[i], 0.f, 6.f, 0.f);
    }
  }
  use(sum);
}

/// Softmax of ROWS rows of scores as attention computes it, without the division of its results.
template <int ROWS>
void softmax_loop(float* scores, int floats, long rounds) {
  float factors[ROWS];
  for (long round = 0; round < rounds; round += ROWS)
    ago::kernel::weigh_rows<ago::native_isa>(scores, ROWS, floats, factors);
}

/// Seconds that an elementwise operator adds to the multiply-adds around it, for one register. Operators that are not
/// listed count as free.
class added_seconds {
 public:
  explicit added_seconds(int repetitions) {
    constexpr long rounds = 5'000, registers = 12 * rounds;
    constexpr int rows = 8, row = 256;
    buffer memory(rows * row);
    std::vector<candidate> loops;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (loops.push_back({ago::name_of(listed[I]), [] { window_loop<listed[I]>(rounds); }}), ...);
    }(std::make_index_sequence<listed_count>());
    loops.push_back({"softmax", [&] { softmax_loop<rows>(memory.data(), row, registers * vec::size / row); }});
    std::vector<timing> const t = measure(loops, repetitions);
    for (std::size_t i = 0; i < listed_count; ++i)
      seconds_[i] = std::max(0., t[i].minimum - t[0].minimum) / double(registers);
    softmax_ = t[listed_count].minimum / double(registers);
  }

  double of(ago::op kind) const {
    if (kind == ago::op::softmax) return softmax_;
    for (std::size_t i = 0; i < listed_count; ++i)
      if (listed[i] == kind) return seconds_[i];
    return 0;
  }

 private:
  /// The others are compared with the first one.
  static constexpr ago::op listed[] = {ago::op::identity, ago::op::add,        ago::op::relu,    ago::op::relu6,
                                       ago::op::clip,     ago::op::hard_swish, ago::op::sigmoid, ago::op::silu,
                                       ago::op::gelu,     ago::op::gelu_tanh};
  static constexpr std::size_t listed_count = std::size(listed);
  double seconds_[listed_count], softmax_;
};

/// Reads `floats` floats from end to end.
void read_all(float const* p, std::size_t floats) {
  vec sum[8];
  for (vec& s : sum) s = vec(0.f);
  for (std::size_t i = 0; i + 8 * vec::size <= floats; i += 8 * vec::size)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) sum[k] = sum[k] + vec::load(p + i + k * vec::size);
  use(sum);
}

struct rates {
  double multiply_adds;  ///< floating-point operations per second
  double bytes;          ///< per second, when reading a buffer as large as the weights of a network
};

rates measure_rates(std::size_t weights, int repetitions) {
  buffer const memory(weights);
  double operations = 0;
  std::vector<timing> const t =
      measure({{"peak", [&] { operations = peak_loop(); }}, {"weights", [&] { read_all(memory.data(), weights); }}},
              repetitions);
  return {operations / t[0].minimum, double(weights) * sizeof(float) / t[1].minimum};
}

/// How many channels a complex operator computes per channel that it has: a register holds channels of one group or
/// head; for a product that can be computed in pairs, half a register does.
double channels_computed(graph_view const& g, int v) {
  ago::ir::node const& n = g.node(v);
  bool const apart = n.kind == ago::op::conv2d || n.kind == ago::op::attention_values;
  int const channels = n.out.c / (apart ? n.groups : 1);
  bool const pairs = ago::ir::is_matrix_product(n.kind) && ago::ir::has_pairs(ago::native_isa);
  int const step = vec::size / (pairs ? 2 : 1);
  return double((channels + step - 1) / step * step) / channels;
}

/// The share of its multiply-adds that a convolution needs: a quarter with Winograd's F(4x4, 3x3).
double multiplied(ago::ir::node const& n) {
  return n.kind == ago::op::conv2d && n.groups == 1 && n.win.is_dense_square(3) ? .25 : 1;
}

record floor_of(entry const& e, added_seconds const& added, int repetitions) {
  graph_view const& g = e.graph;
  std::vector<int> root(std::size_t(g.size()), -1);
  std::vector<double> activation(root.size(), 0.), weights(root.size(), 0.), products(root.size(), 0.);
  double all_weights = 0;
  for (int v = g.input_count; v < g.size(); ++v) {
    std::size_t const at = std::size_t(v);
    ago::ir::node const& n = g.node(v);
    root[at] = is_complex(n.kind) ? v : root[std::size_t(g.operand(v))];
    if (root[at] < 0) continue;
    activation[std::size_t(root[at])] += double(n.out.count()) / vec::size * added.of(n.kind);
    if (root[at] != v) continue;
    products[at] = 2. * double(n.out.count()) * double(g.fan_in(v));
    if (has_weights(n.kind)) weights[at] = 4. * n.out.c * double(g.fan_in(v));
    all_weights += weights[at];
  }
  rates const m = measure_rates(std::size_t(all_weights / 4), repetitions);
  double floor = 0, direct = 0, multiplying = 0, lanes = 0, activating = 0, streaming = 0;
  for (std::size_t v = 0; v < root.size(); ++v) {
    double const multiply = products[v] / m.multiply_adds * multiplied(g.node(int(v)));
    double const stream = weights[v] / m.bytes;
    double const empty = products[v] > 0 ? multiply * (channels_computed(g, int(v)) - 1) : 0;
    floor += std::max(multiply + empty + activation[v], stream);
    direct += products[v] / m.multiply_adds;
    multiplying += multiply;
    lanes += empty;
    activating += activation[v];
    streaming += stream;
  }
  return {{"network", e.network},
          {"size", long(e.size)},
          {"floor_ms", floor * 1e3, "%.4f"},
          {"percent_of_peak", 100 * direct / floor, "%.1f"},
          {"multiply_adds_ms", multiplying * 1e3, "%.4f"},
          {"lanes_ms", lanes * 1e3, "%.4f"},
          {"activations_ms", activating * 1e3, "%.4f"},
          {"weights_ms", streaming * 1e3, "%.4f"},
          {"peak_gflops", m.multiply_adds * 1e-9, "%.1f"},
          {"weights_gb_per_s", m.bytes * 1e-9, "%.1f"}};
}

constexpr char usage[] =
    "usage: limits [--json] [--repetitions N] [--core N]\n"
    "  Prints the least time that each network can take on this machine, and the share of the multiply-add peak that\n"
    "  this is, counted by the multiply-adds of direct convolution.\n"
    "  multiply_adds_ms: multiply-adds at the peak; a quarter of them for convolutions that Winograd suits;\n"
    "  lanes_ms: multiply-adds in lanes without a channel, if channels do not fill the last register;\n"
    "  activations_ms: what activations, additions and softmax add to the multiply-adds around them;\n"
    "  weights_ms: reading all weights once, from where they are when a run begins.\n";

int run(common_arguments const& a) {
  print_circumstances(a.core);
  added_seconds const added(a.repetitions);
  printer out(a.json);
  for (entry const* e : sorted_entries()) out.add(floor_of(*e, added, a.repetitions));
  out.finish();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::common_arguments>("limits", bench::usage, count, words, bench::run);
}
