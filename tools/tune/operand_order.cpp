// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Would products be faster with their operands swapped, that is with pixels instead of channels in the registers?
// Prints the analytic cost of both orders for the products of the example networks; see docs/tuning.md.
#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <ago/ago.hpp>
#include <ago/tuner/analytic_cost.hpp>

#include <algorithm>
#include <cstdio>

namespace {

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

/// Quarter cycles to transpose a float, at one shuffle per cycle: n lanes need n * log2(n) shuffles for n * n floats.
constexpr double transposing(isa target) { return target == isa::avx512 ? 4 * 64. / 256 : 4 * 24. / 64; }

/// Quarter cycles in both orders, and for the transpositions alone.
struct orders {
  double usual = 0, swapped = 0, moved = 0;
};

/// Swapping exchanges the pixels and the channels of the product.
orders orders_of_matrix(planned_step const& p) {
  step_data const& s = p.data;
  isa const target = p.key.target;
  long const pixels = s.out.pixels();
  orders r;
  r.usual = kernel::matrix_cycles(p.key.target, p.key, p.data, {});
  planned_step other = p;
  other.key.paired = false;
  other.data.out = {1, 1, s.out.c, int(pixels)};
  int const across = padded(int(pixels), target) / lanes(target);
  other.key.tile = cheapest_tile(
      target, s.out.c, across, [](int, int) { return true; },
      [&](register_tile const& t) { return kernel::matrix_cost(target, t, s.out.c, across, s.in.c, false); });
  r.swapped = kernel::matrix_cycles(target, other.key, other.data, {});
  r.moved = transposing(target) * double(pixels) * (s.in.c + s.out.c);
  return r;
}

/// Multiply-adds of whole vectors and half register tiles, two per cycle. Usually keys are transposed for packing; if
/// swapped, queries, values and results are.
orders orders_of_attention(isa target, planned_data const& s) {
  attention_layout const l = layout_of_attention(structure::attention, s, s, target);
  int const queries = l.rows, keys = l.first.columns, d = l.first.depth;
  auto const registers = [=](int n) { return (n + lanes(target) - 1) / lanes(target); };
  auto const rows = [half = product_tile(target).pixels / 2](int n) { return (n + half - 1) / half * half; };
  double const batches = double(s.in.n) * s.patch.pixels() * s.groups;
  orders r;
  r.usual = batches * 2 * rows(queries) * (double(registers(keys)) * d + double(registers(d)) * keys);
  r.swapped = batches * 2 * registers(queries) * (double(rows(keys)) * d + double(rows(d)) * keys);
  r.moved = batches * transposing(target) * d * (double(keys) + queries);
  return r;
}

template <auto const& Net, isa Target>
void print_orders(char const* name) {
  if constexpr (available(Target)) {
    double cycles = 0, gained = 0, gained_if_free = 0, gained_by_attention = 0;
    int products = 0, faster = 0;
    for (planned_step const& p : program<Net, untuned, options{.target = Target}>::plan.steps) {
      if (p.key.what == structure::pointwise) {
        orders const o = orders_of_matrix(p);
        cycles += o.usual;
        gained += std::max(0., o.usual - o.swapped - o.moved);
        gained_if_free += std::max(0., o.usual - o.swapped);
        faster += o.swapped + o.moved < o.usual;
        ++products;
      } else if (p.key.what == structure::attention) {
        orders const o = orders_of_attention(Target, p.data);
        cycles += o.usual;
        gained_by_attention += o.usual - o.swapped - o.moved;
      } else if (p.key.what == structure::convolution) {
        step_data const& s = p.data;
        cycles += 2. * double(s.out.pixels()) * matrix_depth(s) * padded(s.out.c, Target) / lanes(Target);
      }
    }
    auto const percent = [cycles](double x) { return 100 * x / cycles; };
    std::printf(
        "%-8s %-18s %3d products, %2d faster swapped, which saves %4.2f %% of all cycles, %4.2f %% if "
        "transposing were free; attention %5.2f %%\n",
        name_of(Target), name, products, faster, percent(gained), percent(gained_if_free),
        percent(gained_by_attention));
  }
}

template <isa Target>
void print_all() {
  using namespace networks;
  print_orders<mobilenet_v2<224>, Target>("mobilenet_v2<224>");
  print_orders<mobilenet_v2<56>, Target>("mobilenet_v2<56>");
  print_orders<mnasnet<224>, Target>("mnasnet<224>");
  print_orders<shufflenet_v2<224>, Target>("shufflenet_v2<224>");
  print_orders<shufflenet_v2<56>, Target>("shufflenet_v2<56>");
  print_orders<squeezenet<224>, Target>("squeezenet<224>");
  print_orders<mobilevit_s<256>, Target>("mobilevit_s<256>");
  print_orders<mobilevit_s<224>, Target>("mobilevit_s<224>");
  print_orders<bert_tiny<128>, Target>("bert_tiny<128>");
}

}  // namespace

int main() {
  print_all<isa::avx512>();
  print_all<isa::avx2>();
}
