// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times the kernels of index expressions: capsule convolutions; sums of products with scattered operands or results
// beside the dense kernel of the same size; loop nests beside the same loops written by hand, which the same compiler
// has optimised with the same flags. All candidates of a line, and the peak of multiply-adds, are timed in turn.
#include "circumstances.hpp"
#include "command_line.hpp"
#include "expressions/loops.hpp"
#include "expressions/subjects.hpp"
#include "filter.hpp"
#include "measure.hpp"
#include "peak.hpp"
#include "report.hpp"

#include <ago/expression/check.hpp>
#include <ago/expression/counts.hpp>
#include <ago/expression/notation.hpp>

#include <cmath>
#include <utility>

namespace bench {
namespace {

using namespace ago::expression;

constexpr char usage[] =
    "usage: expressions [--filter REGEX] [--json] [--repetitions N] [--core N]\n"
    "  --filter       only expressions whose name matches\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed runs of every candidate (default 60)\n"
    "  --core         pin to this core and request the real-time class\n";

// Capsules: x[b, c, h, w, i, l], weight[k, c, r, s, l, j].
constexpr auto capsules = [](int count, int kernel, int stride, int size) {
  return compute("capsules", [=](operand x, weights parameter) {
    operand const weight = parameter("weight", count, x.extent(1), kernel, kernel, x.extent(5), size);
    var b, k, p, q, i, j, c, r, s, l;
    return result(b, k, p, q, i, j) =
               sum(c, r, s, l)(x(b, c, stride * p + r, stride * q + s, i, l) * weight(k, c, r, s, l, j));
  });
};

#define AGO_EXPRESSION(name, ...)                       \
  constexpr definition name##_definition = __VA_ARGS__; \
  static_assert(check<name##_definition>::ok);          \
  constexpr index_expression name = name##_definition.expressions[0]

AGO_EXPRESSION(capsules_28, capsules(256, 9, 2, 8)(extents(1, 1, 28, 28, 1, 1)));
AGO_EXPRESSION(capsules_20, capsules(32, 9, 2, 8)(extents(1, 256, 20, 20, 1, 1)));
AGO_EXPRESSION(capsules_14, capsules(16, 3, 2, 4)(extents(1, 16, 14, 14, 4, 4)));

// Products of scattered rows and columns.
AGO_EXPRESSION(turned_first, compute("turned_first", [](operand a, weights p) {
                 operand const b = p("b", 128, 192);
                 var i, j, k;
                 return result(i, j) = sum(k)(a(k, i) * b(k, j));
               })(extents(128, 196)));
AGO_EXPRESSION(turned_second, compute("turned_second", [](operand a, operand b) {
                 var i, j, k;
                 return result(i, j) = sum(k)(a(i, k) * b(j, k));
               })(extents(196, 128), extents(192, 128)));
AGO_EXPRESSION(turned_result, compute("turned_result", [](operand a, weights p) {
                 operand const b = p("b", 128, 192);
                 var i, j, k;
                 return result(j, i) = sum(k)(a(i, k) * b(k, j));
               })(extents(196, 128)));
AGO_EXPRESSION(small, compute("small", [](operand a, weights p) {
                 operand const b = p("b", 4, 16, 16, 4);  // k in two axes, n in two
                 var i, j{4}, c{16}, k{16}, l{4};
                 return result(j, i, c) = sum(k, l)(a(k, i, l) * b(j, k, c, l));
               })(extents(16, 196, 4)));
AGO_EXPRESSION(heads, compute("heads", [](operand q, operand k) {
                 var h, i, j, c;
                 return result(h, i, j) = sum(c)(q(i, h, c) * k(j, h, c));
               })(extents(196, 4, 64), extents(196, 4, 64)));
AGO_EXPRESSION(planes, compute("planes", [](operand x, weights p) {  // a convolution of planes
                 operand const w = p("w", 64, x.extent(0), 3, 3);
                 var k, h, q, c, r, s;
                 return result(k, h, q) = sum(c, r, s)(x(c, h + r, q + s) * w(k, c, r, s));
               })(extents(32, 30, 30)));

// Gradients. dy, x: [image, row, column, channel].
constexpr auto weight_gradient = [](int kernel, int stride) {
  return compute("weight_gradient", [=](operand dy, operand x) {
    int const pad = kernel / 2;
    var n, h, w, k, c, r{kernel}, s{kernel};
    return result(k, r, s, c) =
               sum(n, h, w)(dy(n, h, w, k) * padded(x, 0)(n, stride * h + r - pad, stride * w + s - pad, c));
  });
};
AGO_EXPRESSION(weight_gradient_14, weight_gradient(3, 1)(extents(1, 14, 14, 96), extents(1, 14, 14, 96)));
AGO_EXPRESSION(weight_gradient_28, weight_gradient(3, 1)(extents(1, 28, 28, 32), extents(1, 28, 28, 32)));
AGO_EXPRESSION(weight_gradient_strided, weight_gradient(3, 2)(extents(1, 14, 14, 96), extents(1, 28, 28, 32)));
AGO_EXPRESSION(weight_gradient_1, weight_gradient(1, 1)(extents(1, 14, 14, 96), extents(1, 14, 14, 576)));
AGO_EXPRESSION(weight_gradient_1_out, weight_gradient(1, 1)(extents(1, 14, 14, 576), extents(1, 14, 14, 96)));
constexpr auto data_gradient = compute("data_gradient", [](operand dy, operand w) {
  var m, k, c;
  return result(m, c) = sum(k)(dy(m, k) * w(k, c));
});
AGO_EXPRESSION(data_gradient_e, data_gradient(extents(196, 96), extents(96, 576)));
AGO_EXPRESSION(data_gradient_64, data_gradient(extents(1, 32), extents(32, 64)));
AGO_EXPRESSION(data_gradient_64_32, data_gradient(extents(32, 32), extents(32, 64)));
constexpr auto outer_product = compute("outer_product", [](operand dy, operand x) {
  var n, k, c;
  return result(k, c) = sum(n)(dy(n, k) * x(n, c));
});
AGO_EXPRESSION(outer_1, outer_product(extents(1, 32), extents(1, 64)));
AGO_EXPRESSION(outer_1_10, outer_product(extents(1, 10), extents(1, 32)));
AGO_EXPRESSION(outer_32, outer_product(extents(32, 32), extents(32, 64)));
AGO_EXPRESSION(outer_32_10, outer_product(extents(32, 10), extents(32, 32)));

// Loops.
using namespace loops;
AGO_EXPRESSION(channel_sums_e, compute("channel_sums", [](operand x) {
                 var n, h, w, c;
                 return result(c) = sum(n, h, w)(x(n, h, w, c));
               })(extents(1, image, image, wide)));
AGO_EXPRESSION(channel_squares_e, compute("channel_squares", [](operand x, operand m) {
                 var n, h, w, c;
                 scalar const d = x(n, h, w, c) - m(c);
                 return result(c) = sum(n, h, w)(d * d);
               })(extents(1, image, image, wide), extents(wide)));
AGO_EXPRESSION(window_gradient_e, compute("window_gradient", [](operand dy, operand x) {
                 var n, h, w, c, r{3}, s{3};
                 return result(c, r, s) = sum(n, h, w)(dy(n, h, w, c) * padded(x, 0)(n, h + r - 1, w + s - 1, c));
               })(extents(1, image, image, wide), extents(1, image, image, wide)));
AGO_EXPRESSION(flipped_windows_e, compute("flipped_windows", [](operand dy, operand k) {
                 var n, h{image}, w{image}, c, r, s;
                 return result(n, h, w, c) = sum(r, s)(padded(dy, 0)(n, h + 1 - r, w + 1 - s, c) * k(c, r, s));
               })(extents(1, image, image, wide), extents(wide, 3, 3)));
AGO_EXPRESSION(blend_e, compute("blend", [](operand a, operand b, operand c) {
                 var i, j;
                 return result(i, j) = a(i, j) * b(i, j) + c(i, j);
               })(extents(rows, columns), extents(rows, columns), extents(rows, columns)));
AGO_EXPRESSION(gate_e, compute("gate", [](operand a, operand b) {
                 var i, j;
                 return result(i, j) = a(i, j) * sigmoid(b(i, j));
               })(extents(rows, columns), extents(rows, columns)));
AGO_EXPRESSION(add_turned_e, compute("add_turned", [](operand a, operand b) {
                 var i, j;
                 return result(i, j) = a(i, j) + b(j, i);
               })(extents(rows, columns), extents(columns, rows)));
AGO_EXPRESSION(window_maxima_e, compute("window_maxima", [](operand x) {
                 var h, w, c, r{3}, s{3};
                 return result(h, w, c) = maximum(r, s)(x(h + r, w + s, c));
               })(extents(side, side, channels)));
AGO_EXPRESSION(window_sums_e, compute("window_sums", [](operand x) {
                 var h{side}, w{side}, c, r{3}, s{3};
                 return result(h, w, c) = sum(r, s)(padded(x, 0)(h + r - 1, w + s - 1, c));
               })(extents(side, side, channels)));
AGO_EXPRESSION(column_maxima_e, compute("column_maxima", [](operand x) {
                 var i, j;
                 return result(j) = maximum(i)(x(i, j));
               })(extents(rows, columns)));
AGO_EXPRESSION(row_sums_e, compute("row_sums", [](operand x) {
                 var i, j;
                 return result(i) = sum(j)(x(i, j));
               })(extents(rows, columns)));
AGO_EXPRESSION(shuffle_e, compute("shuffle", [](operand x) {
                 var i, c{channels};
                 return result(i, c) = x(i, c % 4 * (channels / 4) + c / 4);
               })(extents(side* side, channels)));
AGO_EXPRESSION(look_up_e, compute("look_up", [](operand row, operand table) {
                 var i, j;
                 return result(i, j) = table(row(i), j);
               })(extents(rows), extents(rows, columns)));
AGO_EXPRESSION(three_factors_e, compute("three_factors", [](operand a, operand b, operand s) {
                 var i, j, k;
                 return result(i, j) = sum(k)(a(i, k) * b(k, j) * s(k));
               })(extents(rows, depth), extents(depth, columns), extents(depth)));
AGO_EXPRESSION(distances_e, compute("distances", [](operand a, operand b) {
                 var i, j, k;
                 return result(i, j) = sum(k)(abs(a(i, k) - b(j, k)));
               })(extents(rows, depth), extents(channels, depth)));
AGO_EXPRESSION(running_sums_e, compute("running_sums", [](operand x) {
                 var i, j{depth}, k{depth};
                 return result(i, j) = sum(k)(select(k <= j, x(i, k), x.number(0)));
               })(extents(channels, depth)));

/// A line of the table.
struct line {
  std::string name, other;  ///< what it is compared with
  double operations;        ///< two for each multiply-add; 0: not products
  std::function<void()> run, run_other;
  std::function<double()> error;  ///< after both have run
};

template <index_expression const& E, int Weights>
line product(std::string name, std::function<void()> dense) {
  auto const s = contraction_subject<E, Weights>();
  return {std::move(name),
          "dense",
          2. * double(multiply_adds(E)),
          [s] { s->run(&ago::kernel::contraction_kernel<contraction_key<E, Weights>>::run); },
          std::move(dense),
          [s] { return error_of<E, Weights>(*s); }};
}

/// The operand of an expression that is value `v` of its definition.
template <definition const& D>
constexpr int operand_of(int v) {
  for (int k = 0; k < D.expressions[0].operand_count; ++k)
    if (D.reads[0][k] == v) return k;
  return -1;
}

/// A nest, or a contraction, beside loops by hand.
template <definition const& D, index_expression const& E, bool Contracts = false, class... Pointers>
line nest(std::string name, void (*by_hand)(Pointers...)) {
  auto const [s, run] = [] {
    if constexpr (Contracts)
      return std::pair(contraction_subject<E, -1>(), &ago::kernel::contraction_kernel<contraction_key<E, -1>>::run);
    else return std::pair(nest_subject<E>(), &ago::kernel::nest_kernel<nest_key<E>>::run);
  }();
  auto const out = std::make_shared<buffer>(std::size_t(E.result.count()));
  if (std::string(name) == "look_up")
    for (float& x : s->operand(operand_of<D>(0)).span()) x = (x + 1) * rows / 2;
  return {std::move(name),
          "loops",
          Contracts ? 2. * double(multiply_adds(E)) : 0.,
          [s = s, run = run] { s->run(run); },
          [s = s, out, by_hand] {
            auto const x = [&](int v) { return s->operand(operand_of<D>(v)).data(); };
            if constexpr (sizeof...(Pointers) == 2) by_hand(x(0), out->data());
            else if constexpr (sizeof...(Pointers) == 3) by_hand(x(0), x(1), out->data());
            else by_hand(x(0), x(1), x(2), out->data());
          },
          [s = s, out] {
            double worst = 0;
            for (std::size_t i = 0; i < out->span().size(); ++i)
              worst = std::fmax(worst, std::fabs(double(s->result().data()[i]) - double(out->data()[i])));
            return worst;
          }};
}

std::vector<line> all_lines() {
  return {
      product<capsules_28, 1>("capsules 28x28x1 9x9/2 256x(1,8)", {}),
      product<capsules_20, 1>("capsules 20x20x256 9x9/2 32x8", {}),
      product<capsules_14, 1>("capsules 14x14x16 3x3/2 4x4", {}),
      product<turned_first, 1>("product a[k,i] b[k,j] 196x128x192", dense_kernel<1, 196, 128, 192, true>()),
      product<turned_second, -1>("product a[i,k] b[j,k] 196x128x192", dense_kernel<1, 196, 128, 192, false>()),
      product<turned_result, 1>("product y[j,i] 196x128x192", dense_kernel<1, 196, 128, 192, true>()),
      product<small, 1>("product y[j,i,c] a[k,i,l] b[j,k,c,l] 196x64x64", dense_kernel<1, 196, 64, 64, true>()),
      product<heads, -1>("product y[h,i,j] q[i,h,c] k[j,h,c] 4x196x64x196", dense_kernel<4, 196, 64, 196, false>()),
      product<planes, 1>("product of planes 784x288x64", dense_kernel<1, 784, 288, 64, true>()),
      product<weight_gradient_14, -1>("weight gradient 14x14x96 3x3 96", dense_kernel<1, 96, 196, 864, false>()),
      product<weight_gradient_28, -1>("weight gradient 28x28x32 3x3 32", dense_kernel<1, 32, 784, 288, false>()),
      product<weight_gradient_strided, -1>("weight gradient 28x28x32 3x3/2 96", dense_kernel<1, 96, 196, 288, false>()),
      product<weight_gradient_1, -1>("weight gradient 196 576 to 96", dense_kernel<1, 96, 196, 576, false>()),
      product<weight_gradient_1_out, -1>("weight gradient 196 96 to 576", dense_kernel<1, 576, 196, 96, false>()),
      product<data_gradient_e, -1>("data gradient 196 576 from 96", dense_kernel<1, 196, 96, 576, false>()),
      product<data_gradient_64, -1>("data gradient 1 64 from 32", dense_kernel<1, 1, 32, 64, false>()),
      product<data_gradient_64_32, -1>("data gradient 32 64 from 32", dense_kernel<1, 32, 32, 64, false>()),
      product<outer_1, -1>("weight gradient 1 64 to 32", dense_kernel<1, 32, 1, 64, false>()),
      product<outer_1_10, -1>("weight gradient 1 32 to 10", dense_kernel<1, 10, 1, 32, false>()),
      product<outer_32, -1>("weight gradient 32 64 to 32", dense_kernel<1, 32, 32, 64, false>()),
      product<outer_32_10, -1>("weight gradient 32 32 to 10", dense_kernel<1, 10, 32, 32, false>()),
      nest<blend_e_definition, blend_e>("blend", &blend),
      nest<gate_e_definition, gate_e>("gate", &gate),
      nest<add_turned_e_definition, add_turned_e>("add_turned", &add_turned),
      nest<window_maxima_e_definition, window_maxima_e>("window_maxima", &window_maxima),
      nest<window_sums_e_definition, window_sums_e>("window_sums", &window_sums),
      nest<column_maxima_e_definition, column_maxima_e>("column_maxima", &column_maxima),
      nest<row_sums_e_definition, row_sums_e>("row_sums", &row_sums),
      nest<shuffle_e_definition, shuffle_e>("shuffle", &shuffle),
      nest<look_up_e_definition, look_up_e>("look_up", &look_up),
      nest<three_factors_e_definition, three_factors_e>("three_factors", &three_factors),
      nest<distances_e_definition, distances_e>("distances", &distances),
      nest<running_sums_e_definition, running_sums_e>("running_sums", &running_sums),
      nest<channel_sums_e_definition, channel_sums_e>("channel_sums", &channel_sums),
      nest<channel_squares_e_definition, channel_squares_e>("channel_squares", &channel_squares),
      nest<window_gradient_e_definition, window_gradient_e, true>("window_gradient", &window_gradient),
      nest<flipped_windows_e_definition, flipped_windows_e, true>("flipped_windows", &flipped_windows),
  };
}

int run(filter_arguments const& a) {
  print_circumstances(a.core);
  printer out(a.json);
  bool agrees = true;
  std::vector<line> const lines = all_lines();
  for (line const* chosen : filtered(lines, a.filter)) {
    line const& l = *chosen;
    double operations = 0;
    std::vector<candidate> candidates{{l.name, l.run}, {"peak", [&] { operations = peak_loop(); }}};
    if (l.run_other) candidates.push_back({l.other, l.run_other});
    std::vector<timing> const times = measure(candidates, a.repetitions);
    double const error = l.error(), rate = l.operations / times[0].median, peak = operations / times[1].minimum;
    if (error > 1e-3) {
      std::fprintf(stderr, "%s is wrong by %g\n", l.name.c_str(), error);
      agrees = false;
    }
    record r{{"expression", l.name}, {"median_ms", times[0].median * 1e3, "%.6f"}};
    r.push_back(rate > 0 ? field("gflops", rate * 1e-9, "%.1f") : field("gflops"));
    r.push_back(rate > 0 ? field("percent_of_peak", 100 * rate / peak, "%.1f") : field("percent_of_peak"));
    r.push_back(l.run_other ? field("beside", l.other) : field("beside"));
    r.push_back(l.run_other ? field("its_median_ms", times[2].median * 1e3, "%.6f") : field("its_median_ms"));
    r.push_back(l.run_other ? field("times_its_rate", times[2].median / times[0].median, "%.2f")
                            : field("times_its_rate"));
    out.add(r);
  }
  out.finish();
  return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::filter_arguments>("expressions", bench::usage, count, words, bench::run);
}
