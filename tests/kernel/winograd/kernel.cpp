// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/matrix/convolution.hpp>
#include <ago/kernel/winograd/kernel.hpp>
#include <ago/kernel/winograd/pack.hpp>

#include "kernel/matrix/support.hpp"
#include "kernel/support.hpp"

namespace {

using namespace matrix_test;

constexpr window square{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};

/// Relative to the largest sum of the magnitudes of an output's terms.
constexpr double error_of(kernel_key const& key) { return key.what == structure::winograd_2 ? 8e-7 : 3e-6; }

template <isa I, class... S>
constexpr kernel_key winograd_key(int outputs, register_tile tile, bool partial, S... after) {
  return key_of<I>(outputs == 2 ? structure::winograd_2 : structure::winograd_4, tile, partial, after...);
}

/// Runs the kernel with scratch that is initially all NaN, so that reads before writes show.
template <kernel_key K>
void run_with_scratch(step_data const& s, kernel_memory const& m) {
  matrix_test::guarded scratch(layout_of_winograd(K, s).scratch_floats());
  winograd_kernel<K>::run(s, m, scratch.data());
  CHECK(scratch.guards_untouched());
}

template <kernel_key K>
void check(problem p) {
  p.shared_error = error_of(K);
  CAPTURE(name_of(K.what));
  matrix_test::check(p, K, &run_with_scratch<K>, &pack_winograd<K.target>);
}

int tiles_of(kernel_key const& key, problem const& p) {
  int const t = winograd_tile(key.what);
  return p.in.n * ((p.out().h + t - 1) / t) * ((p.out().w + t - 1) / t);
}

/// A random problem that a kernel of `key` supports.
problem random_problem(kernel_key const& key, int seed) {
  random_numbers random(seed * 7919 + key.tile.pixels * 31 + key.tile.vectors);
  problem p{.in = {}, .outputs = 0, .win = square, .seed = seed};
  do {
    for (int* pad : {&p.win.pad_top, &p.win.pad_left, &p.win.pad_bottom, &p.win.pad_right})
      *pad = random.below(8) == 0 ? random.below(6) : random.below(3);
    p.in = {random.between(1, 3), random.between(1, 15), random.between(1, 15), 1};
  } while (p.out().h < 1 || p.out().w < 1 || p.in.h + p.win.pad_top + p.win.pad_bottom < 3 ||
           p.in.w + p.win.pad_left + p.win.pad_right < 3 || tiles_of(key, p) % key.tile.pixels != key.tile.pixels_left);
  p.in.c = random.below(2) == 0 ? random.between(1, 5) : random.between(1, 2 * lanes(key.target) + 1);
  p.outputs = fitting_channels(key, key.tile.vectors_left > 0 ? random.below(2) : random.between(1, 2), random);
  p.block = random.below(2) * random.below(20);
  draw_parameters_and_places(p, random);
  return p;
}

template <kernel_key K>
void check_random(int problems) {
  for (int seed = 1; seed <= problems; ++seed) check<K>(random_problem(K, seed));
}

TEST_CASE_TEMPLATE("Winograd computes any image, padding, batch and number of channels", T,
                   std::integral_constant<int, 2>, std::integral_constant<int, 4>) {
  on_every_isa([]<isa I>() { check_random<winograd_key<I>(T::value, {4, 3, 3, 2}, true, op::relu6)>(25); });
  on_isas_in_turn<2>([]<isa I>() { check_random<winograd_key<I>(T::value, {5, 2, 1, 1}, true, op::add)>(25); });
  on_machines_in_turn<0>([]<isa I>() {
    check_random<winograd_key<I>(T::value, {6, 2, 5, 0}, false, op::bias, op::relu, op::batch_norm)>(25);
  });
  on_machines_in_turn<1>([]<isa I>() { check_random<winograd_key<I>(T::value, {1, 1, 0, 0}, true)>(40); });
}

constexpr kernel_key points_first(kernel_key key) {
  key.points_first = true;
  return key;
}

TEST_CASE("Winograd computes the products of all panels point after point") {
  on_every_in_order([]<isa I>() {
    check_random<points_first(in_order(winograd_key<I>(4, {4, 3, 3, 2}, true, op::relu6)))>(25);
    check_random<points_first(in_order(winograd_key<I>(4, {6, 2, 5, 0}, false, op::bias, op::relu)))>(25);
    check_random<points_first(winograd_key<I>(4, {5, 2, 1, 1}, true, op::add))>(25);
    check_random<points_first(in_order(winograd_key<I>(4, {3, 1, 2, 0}, true, op::silu, op::add)))>(10);
  });
}

constexpr register_tile tile_of_epilogues{3, 1, 2, 0};

TEST_CASE_TEMPLATE("Winograd applies any epilogue", T, std::integral_constant<int, 2>, std::integral_constant<int, 4>) {
  on_machines_in_turn<0>(
      []<isa I>() { check_random<winograd_key<I>(T::value, tile_of_epilogues, true, op::sigmoid, op::mul)>(6); });
  if constexpr (!test::is_sanitized) {  // these only compute, as kernel/epilogue.cpp does with sanitizers
    on_machines_in_turn<1>([]<isa I>() {
      check_random<winograd_key<I>(T::value, tile_of_epilogues, true, op::hard_swish, op::leaky_relu)>(6);
    });
    on_machines_in_turn<2>(
        []<isa I>() { check_random<winograd_key<I>(T::value, tile_of_epilogues, true, op::silu, op::add)>(6); });
    on_machines_in_turn<0>(
        []<isa I>() { check_random<winograd_key<I>(T::value, tile_of_epilogues, false, user_stage)>(6); });
  }
}

/// A step with its kernel: input 0 to output 0, both dense, and its packed weights.
class subject {
 public:
  subject(kernel_key const& key, shape in, int outputs, window const& win, int block, float const* blob) : key_(key) {
    step_.in = in;
    step_.win = win;
    step_.out = {in.n, in.h + win.pad_top + win.pad_bottom - 2, in.w + win.pad_left + win.pad_right - 2, outputs};
    step_.source = {place::area::input, 0, 0, in.c};
    step_.destination = {place::area::output, 0, 0, outputs};
    step_.block = block;
    weights_.resize(packed_floats(key, step_));
    int const bias = 9 * in.c * outputs;
    if (key.what == structure::convolution) pack_matrix<native_isa>(key, step_, {0, -1, bias}, blob, weights_.data());
    else pack_winograd<native_isa>(key, step_, {0, -1, bias}, blob, weights_.data());
  }
  /// `arena`: for the scratch.
  void run(kernel_function kernel, float const* source, float* destination, float* arena = nullptr) const {
    kernel(step_, {{weights_.data(), arena, &source, &destination}, step_.tables()});
  }
  planned_data const& step() const { return step_; }

 private:
  kernel_key key_;
  planned_data step_{};
  std::vector<float> weights_;
};

template <kernel_key K>
std::vector<float> result_of(shape in, int outputs, window const& win, int block, float const* blob,
                             float const* source) {
  subject const s(K, in, outputs, win, block, blob);
  std::vector<float> out(s.step().out.count());
  if constexpr (K.what == structure::convolution) s.run(&convolution_kernel<K>::run, source, out.data());
  else s.run(&run_with_scratch<K>, source, out.data());
  return out;
}

constexpr kernel_key one_vector(structure what) { return key_of<native_isa>(what, {1, 1, 0, 0}, true); }

TEST_CASE("results are bit-identical for every block of tiles") {
  test::numbers random(5);
  shape const in{2, 13, 11, 9};
  int const outputs = 2 * lanes(native_isa) + 1 - (lanes(native_isa) == 1);
  std::vector<float> const blob = random.vector(9u * in.c * outputs + outputs), source = random.vector(in.count());
  auto const same = [&]<kernel_key K>() {
    std::vector<float> const whole = result_of<K>(in, outputs, square, 0, blob.data(), source.data());
    for (int block : {1, 2, 7, 16, 1000})
      CHECK(result_of<K>(in, outputs, square, block, blob.data(), source.data()) == whole);
  };
  same.operator()<one_vector(structure::winograd_2)>();
  same.operator()<one_vector(structure::winograd_4)>();
}

TEST_CASE("Winograd reads and writes nothing outside the user's memory") {
  test::numbers random(6);
  auto const run = [&]<kernel_key K>() {
    for (int channels : {1, 3, lanes(native_isa), lanes(native_isa) + 3})
      for (int size : {3, 4, 6, 7}) {
        shape const in{1, size, size, channels};
        int const outputs = lanes(native_isa) > 1 ? lanes(native_isa) - 1 : 1;
        std::vector<float> const blob = random.vector(9u * channels * outputs + outputs);
        test::guarded source(in.count());
        random.fill(source.data(), source.size());
        for (window w : {square, window{3, 3}}) {
          subject const s(K, in, outputs, w, 0, blob.data());
          test::guarded destination(s.step().out.count());
          s.run(&run_with_scratch<K>, source.data(), destination.data());
          CHECK(destination.intact());
        }
      }
  };
  run.operator()<one_vector(structure::winograd_2)>();
  run.operator()<one_vector(structure::winograd_4)>();
}

/// The largest difference from double, relative to the largest output.
template <kernel_key K>
double measured_error(shape in, int outputs, bool positive, unsigned seed) {
  test::numbers random(seed);
  float const low = positive ? 0.f : -1.f;
  std::vector<float> const blob = random.vector(9u * in.c * outputs + outputs);
  std::vector<float> const source = random.vector(in.count(), low);
  std::vector<float> const found = result_of<K>(in, outputs, square, 0, blob.data(), source.data());
  double worst = 0, largest = 0;
  for (int y = 0; y < in.h; ++y)
    for (int x = 0; x < in.w; ++x)
      for (int o = 0; o < outputs; ++o) {
        double sum = blob[9u * in.c * outputs + o];
        for (int ky = y == 0; ky < 3 && y + ky - 1 < in.h; ++ky)
          for (int kx = x == 0; kx < 3 && x + kx - 1 < in.w; ++kx)
            for (int c = 0; c < in.c; ++c)
              sum += double(source[((y + ky - 1) * in.w + x + kx - 1) * in.c + c]) *
                     blob[(o * in.c + c) * 9 + ky * 3 + kx];
        worst = std::fmax(worst, std::fabs(found[(y * in.w + x) * outputs + o] - sum));
        largest = std::fmax(largest, std::fabs(sum));
      }
  return worst / largest;
}

TEST_CASE("the error of Winograd stays within its stated bound") {
  double errors[3]{};
  unsigned seed = 0;
  for (bool positive : {false, true})
    for (int channels : {1, 3, 16, 64, 256, 512})
      for (int size : {4, 7, 14, 28, 56}) {
        if (channels * size > (test::is_sanitized ? 900 : 3600)) continue;
        shape const in{1, size, size, channels};
        int const outputs = 4;
        ++seed;
        auto const measure = [&]<structure What>(double& worst) {
          worst = std::fmax(worst, measured_error<one_vector(What)>(in, outputs, positive, seed));
        };
        measure.operator()<structure::convolution>(errors[0]);
        measure.operator()<structure::winograd_2>(errors[1]);
        measure.operator()<structure::winograd_4>(errors[2]);
      }
  MESSAGE("direct ", errors[0], ", F(2x2, 3x3) ", errors[1], ", F(4x4, 3x3) ", errors[2]);
  CHECK(errors[1] < 2e-6);
  CHECK(errors[2] < 1e-5);
}

TEST_CASE("both tiles agree with the direct convolution") {
  test::numbers random(7);
  for (int problem = 0; problem < 40; ++problem) {
    shape const in{random.integer(1, 2), random.integer(3, 20), random.integer(3, 20), random.integer(1, 40)};
    window w = square;
    for (int* pad : {&w.pad_top, &w.pad_left, &w.pad_bottom, &w.pad_right}) *pad = random.integer(0, 2);
    int const width = lanes(native_isa), outputs = width * random.integer(1, 3) - (width > 1);
    std::vector<float> const blob = random.vector(9u * in.c * outputs + outputs), source = random.vector(in.count());
    auto const direct = result_of<one_vector(structure::convolution)>(in, outputs, w, 0, blob.data(), source.data());
    auto const two = result_of<one_vector(structure::winograd_2)>(in, outputs, w, 0, blob.data(), source.data());
    auto const four = result_of<one_vector(structure::winograd_4)>(in, outputs, w, 0, blob.data(), source.data());
    double largest = 0, of_two = 0, of_four = 0;
    for (std::size_t i = 0; i < direct.size(); ++i) {
      largest = std::fmax(largest, std::fabs(direct[i]));
      of_two = std::fmax(of_two, std::fabs(direct[i] - two[i]));
      of_four = std::fmax(of_four, std::fabs(direct[i] - four[i]));
    }
    CHECK(of_two <= 3e-6 * largest);
    CHECK(of_four <= 1e-5 * largest);
  }
}

/// The value of a filter's polynomial at a point in both directions, divided by the products of Lagrange's formula.
double transformed(float const* g, std::vector<double> const& points, int y, int x) {
  auto const factors = [&](int k, double(&f)[3]) {
    bool const infinite = k == int(points.size());
    double divisor = 1;
    for (int j = 0; j < int(points.size()) && !infinite; ++j)
      if (j != k) divisor *= points[k] - points[j];
    for (int i = 0; i < 3; ++i) f[i] = infinite ? i == 2 : std::pow(points[k], i) / divisor;
  };
  double across[3], down[3], sum = 0;
  factors(y, down);
  factors(x, across);
  for (int i = 0; i < 9; ++i) sum += g[i] * down[i / 3] * across[i % 3];
  return sum;
}

template <isa I>
void check_packing(int tile, int inputs, int outputs, int vectors, bool norm) {
  // F(2x2, 3x3) has the sign of the first row in the other transform.
  std::vector<double> const points =
      tile == 2 ? std::vector<double>{0, 1, -1} : std::vector<double>{0, 11. / 16, -11. / 16, 1.5, -1.5};
  int const n = tile + 2, width = lanes(I), vectors_in_all = (outputs + width - 1) / width;
  kernel_key const key = winograd_key<I>(tile, {4, vectors, 0, vectors_in_all % vectors}, true);
  planned_data s;
  s.in = {1, 9, 9, inputs};
  s.out = {1, 9, 9, outputs};
  s.win = square;
  REQUIRE(packed_floats(key, s) == long(vectors_in_all) * width * (n * n * inputs + 1));
  test::numbers random(inputs * 100 + outputs);
  std::vector<float> blob = random.vector(5u + 9u * inputs * outputs + 5u * outputs, .5f, 1.5f);
  int const shifts = 5 + 9 * inputs * outputs, norms = norm ? shifts + outputs : -1;
  matrix_test::guarded packed(packed_floats(key, s));
  pack_winograd<I>(key, s, {5, norms, shifts, norms, 1e-3f}, blob.data(), packed.data());
  CHECK(packed.guards_untouched());
  float const* at = packed.data();
  long wrong = 0;
  auto const compare = [&](double expected) { wrong += !(std::fabs(*at++ - expected) <= 1e-6 * std::fabs(expected)); };
  float const* const n_of = blob.data() + norms;  // gamma, beta, mean, variance
  auto const scale = [&](int o) { return norm ? n_of[o] / std::sqrt(double(n_of[3 * outputs + o]) + 1e-3) : 1; };
  for (int o = 0; o < vectors_in_all * width; ++o) {
    double shift = o < outputs ? blob[shifts + o] : 0;
    if (o < outputs && norm) shift = (shift - n_of[2 * outputs + o]) * scale(o) + n_of[outputs + o];
    compare(shift);
  }
  for (int first = 0; first < vectors_in_all; first += vectors)
    for (int point = 0; point < n * n; ++point)
      for (int c = 0; c < inputs; ++c)
        for (int o = first * width; o < (first + vectors) * width && o < vectors_in_all * width; ++o) {
          float const* const g = blob.data() + 5 + (o * inputs + c) * 9;
          double const sign = tile == 2 && (point / n == 0) != (point % n == 0) ? -1 : 1;
          compare(o < outputs ? sign * scale(o) * transformed(g, points, point / n, point % n) : 0);
        }
  CHECK(wrong == 0);
}

TEST_CASE("weights are transformed, folded, packed in panels and padded with zeros") {
  on_every_isa([]<isa I>() {
    for (int tile : {2, 4})
      for (int outputs : {1, lanes(I), lanes(I) + 1, 3 * lanes(I) - (lanes(I) > 1)})
        for (int vectors : {1, 2, 3})
          for (bool norm : {false, true}) check_packing<I>(tile, 3, outputs, vectors, norm);
  });
}

}  // namespace
