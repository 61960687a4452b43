// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the tests of matrix product kernels: random problems, guarded memory, and a reference as plain loops in double.
#pragma once

#include <ago/kernel/matrix/pack.hpp>
#include <ago/kernel/units.hpp>
#include <ago/plan/packing.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <vector>

#include "instruction_sets.hpp"

namespace matrix_test {

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

using packing_function = void (*)(kernel_key const&, packed_operator const&, parameter_source const&, float const*,
                                  float*);

constexpr kernel_key in_order(kernel_key key) {
  key.in_order = true;
  return key;
}

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  /// 0 ... n - 1
  int below(int n) { return int(next() % std::uint64_t(n)); }
  int between(int first, int last) { return first + below(last - first + 1); }
  /// -1 ... 1
  float real() { return float(double(next()) * 0x1p-30 - 1.0); }

 private:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return state_ >> 33;
  }
  std::uint64_t state_;
};

/// Floats, initially all `untouched`, between guard zones; under AddressSanitizer, a heap block of the exact size
/// instead, so that reads beyond it are detected too.
class guarded {
 public:
  /// `shift` floats past a 64-byte boundary.
  explicit guarded(long count, int shift = 0) : count_(count), shift_(guard + shift) {
    if (posix_memalign(&memory_, 64, sizeof(float) * (shift_ + count_ + guard)) != 0) std::abort();
    for (long i = 0; i < shift_ + count_ + guard; ++i) start()[i] = untouched();
  }
  guarded(guarded const&) = delete;
  ~guarded() { std::free(memory_); }

  float* data() { return start() + shift_; }
  float& operator[](long i) { return data()[i]; }
  static bool is_untouched(float x) {
    float const marker = untouched();
    return std::memcmp(&x, &marker, sizeof x) == 0;
  }
  bool guards_untouched() {
    for (long i = 0; i < shift_; ++i)
      if (!is_untouched(start()[i])) return false;
    for (long i = 0; i < guard; ++i)
      if (!is_untouched(data()[count_ + i])) return false;
    return true;
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  static constexpr long guard = 0;
#else
  static constexpr long guard = 64;
#endif
  static float untouched() {
    std::uint32_t const bits = 0x7fc0dead;  // a NaN, so that reading it shows in the result
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  float* start() { return static_cast<float*>(memory_); }
  void* memory_{};
  long count_, shift_;
};

/// A convolution (or matrix product: its window is one pixel) with its memory layout.
struct problem {
  shape in;
  int outputs;
  window win{};
  int groups = 1;
  int block = 0;
  bool bias = true, norm = true;
  int source_gap = 0, destination_gap = 0;  ///< channels of other parts of a concatenation
  bool broadcast = false;                   ///< binary stages read one pixel
  bool arena = false;                       ///< from an input to the arena; else from the arena to an output
  int seed = 0;
  double shared_error = 0;  ///< allowed everywhere, relative to the largest sum of magnitudes (Winograd mixes outputs)

  shape out() const {
    auto const extent = [](int in, int pads, int span, int stride) { return (in + pads - span) / stride + 1; };
    return {in.n, extent(in.h, win.pad_top + win.pad_bottom, win.span_h(), win.stride_h),
            extent(in.w, win.pad_left + win.pad_right, win.span_w(), win.stride_w), outputs};
  }
};

/// Draws which parameters exist, and the places of the values.
inline void draw_parameters_and_places(problem& p, random_numbers& random) {
  p.bias = random.below(4) > 0;
  p.norm = random.below(2) > 0;
  p.arena = random.below(2) > 0;
  p.broadcast = random.below(3) == 0;
  p.source_gap = random.below(2) * random.below(20);
  p.destination_gap = random.below(2) * random.below(20);
}

inline std::ostream& operator<<(std::ostream& to, problem const& p) {
  window const& w = p.win;
  return to << "in " << p.in.n << 'x' << p.in.h << 'x' << p.in.w << 'x' << p.in.c << " out " << p.out().h << 'x'
            << p.out().w << 'x' << p.outputs << " window " << w.kernel_h << 'x' << w.kernel_w << " stride "
            << w.stride_h << ',' << w.stride_w << " dilation " << w.dilation_h << ',' << w.dilation_w << " pads "
            << w.pad_top << ',' << w.pad_left << ',' << w.pad_bottom << ',' << w.pad_right << " groups " << p.groups
            << " block " << p.block << " gaps " << p.source_gap << ',' << p.destination_gap << " bias " << p.bias
            << " norm " << p.norm << " arena " << p.arena << " broadcast " << p.broadcast << " seed " << p.seed;
}

/// A user's function, for kernels and for the reference.
inline constexpr auto half_plus_one = [](auto x) { return x * decltype(x)(.5f) + decltype(x)(1.f); };
inline constexpr stage user_stage{op::map, &user_map<decltype(half_plus_one)>};

inline constexpr float leaky_slope = .1f, clip_lower = -.3f, clip_upper = .4f;

/// A value and a bound on the rounding error of its computation in float.
struct estimate {
  double value, error;
};

/// A problem with random numbers, solved by a kernel and by the reference.
class experiment {
 public:
  experiment(problem const& p, kernel_key const& key)
      : p_(p), key_(key), random_(std::uint64_t(p.seed)), out_(p.out()), taps_(p.win.kernel_h * p.win.kernel_w),
        depth_(taps_ * (p.in.c / p.groups)), weight_count_(long(p.outputs) * depth_),
        blob_(weight_count_ + 5L * p.outputs), source_(p.in.pixels() * (p.in.c + p.source_gap), p.arena),
        destination_(out_.pixels() * (p.outputs + p.destination_gap), p.arena ? 0 : 3),
        operand_(p.broadcast ? p.outputs : out_.count(), 1) {
    for (long i = 0; i < long(blob_.size()); ++i) blob_[i] = random_.real();
    for (int o = 0; o < p.outputs; ++o) {
      blob_[norm() + o] = .75f + .5f * random_.real();                   // gamma
      blob_[norm() + 3L * p.outputs + o] = .75f + .5f * random_.real();  // variance
    }
    for (long i = 0; i < p.in.pixels(); ++i)
      for (int c = 0; c < p.in.c; ++c) source_[source_at(i, c)] = random_.real();
    for (long i = 0; i < (p.broadcast ? p.outputs : out_.count()); ++i) operand_[i] = random_.real();
    describe();
  }

  void check(kernel_function run, packing_function pack) {
    guarded packed(packed_floats_);
    int const norms = p_.norm ? int(norm()) : -1;
    pack(key_, step_, {0, norms, p_.bias ? int(weight_count_) : -1, norms, 1e-3f}, blob_.data(), packed.data());
    for (int i = 0; i < key_.after.count(); ++i)
      if (step_.after[i].parameters >= 0)
        pack_stage(key_.after.stages[i].kind, packed.data() + step_.after[i].parameters);
    float const* const inputs[] = {source_.data(), operand_.data()};
    float* const outputs[] = {destination_.data()};
    run(step_, {{packed.data(), p_.arena ? destination_.data() : source_.data(), inputs, outputs}, step_.tables()});
    CHECK(packed.guards_untouched());
    CHECK(source_.guards_untouched());
    CHECK(operand_.guards_untouched());
    CHECK(destination_.guards_untouched());
    compare();
  }

 private:
  long norm() const { return weight_count_ + p_.outputs; }
  long source_at(long pixel, int c) const { return pixel * (p_.in.c + p_.source_gap) + p_.source_gap / 2 + c; }
  long destination_at(long pixel, int c) const {
    return pixel * (p_.outputs + p_.destination_gap) + (p_.destination_gap + 1) / 2 + c;
  }

  void describe() {
    using enum place::area;
    step_.in = p_.in;
    step_.out = out_;
    step_.win = p_.win;
    step_.groups = p_.groups;
    step_.block = p_.block;
    step_.source = {p_.arena ? input : place::area::arena, 0, int(source_at(0, 0)), p_.in.c + p_.source_gap};
    step_.destination = {p_.arena ? place::area::arena : output, 0, int(destination_at(0, 0)),
                         p_.outputs + p_.destination_gap};
    packed_floats_ = (packed_floats(key_, step_) + 15) / 16 * 16;
    for (int i = 0; i < key_.after.count(); ++i) {
      stage const& s = key_.after.stages[i];
      step_.after[i].alpha = s.kind == op::leaky_relu ? leaky_slope : clip_lower;
      step_.after[i].beta = clip_upper;
      if (is_binary(s.kind)) step_.after[i].operand = {input, 1, 0, p_.broadcast ? 0 : p_.outputs};
      long const floats = packed_floats(s, key_.target, step_.out);
      if (floats == 0) continue;
      step_.after[i].parameters = int(packed_floats_);
      packed_floats_ += floats;
    }
  }

  static double stage_scale(int o) { return .5 + .25 * (o % 5); }
  static double stage_shift(int o) { return -.5 + .25 * (o % 7); }
  void pack_stage(op kind, float* to) const {
    int const n = padded(p_.outputs, key_.target);
    for (int o = 0; o < n; ++o) {
      if (kind == op::bias) to[o] = o < p_.outputs ? float(stage_shift(o)) : 0.f;
      if (kind != op::batch_norm) continue;
      to[o] = o < p_.outputs ? float(stage_scale(o)) : 0.f;
      to[n + o] = o < p_.outputs ? float(stage_shift(o)) : 0.f;
    }
  }

  /// The definition term by term, with the sum of magnitudes as a measure of the rounding error.
  estimate convolve(int n, int y, int x, int o) {
    window const& w = p_.win;
    int const inputs = p_.in.c / p_.groups, group = o / (p_.outputs / p_.groups);
    double sum = 0, magnitude = 0;
    for (int ky = 0; ky < w.kernel_h; ++ky)
      for (int kx = 0; kx < w.kernel_w; ++kx)
        for (int c = 0; c < inputs; ++c) {
          int const iy = y * w.stride_h - w.pad_top + ky * w.dilation_h;
          int const ix = x * w.stride_w - w.pad_left + kx * w.dilation_w;
          if (iy < 0 || iy >= p_.in.h || ix < 0 || ix >= p_.in.w) continue;
          double const a = source_[source_at((long(n) * p_.in.h + iy) * p_.in.w + ix, group * inputs + c)];
          double const b = blob_[((long(o) * inputs + c) * w.kernel_h + ky) * w.kernel_w + kx];
          sum += a * b;
          magnitude += std::fabs(a * b);
        }
    double const bias = p_.bias ? blob_[weight_count_ + o] : 0;
    double value = sum + bias;
    magnitude += std::fabs(bias);
    if (p_.norm) {
      float const* const gamma = blob_.data() + norm() + o;
      long const step = p_.outputs;
      double const scale = gamma[0] / std::sqrt(gamma[3 * step] + double(1e-3f));
      value = (value - gamma[2 * step]) * scale + gamma[step];
      magnitude = (magnitude + std::fabs(gamma[2 * step])) * std::fabs(scale) + std::fabs(gamma[step]);
    }
    return {value, magnitude * (depth_ + 4) * 0x1p-24};
  }

  static double activation(op kind, double x) {
    auto const logistic = [](double t) { return 1 / (1 + std::exp(-t)); };
    auto const clamp = [](double t, double low, double high) { return t < low ? low : t > high ? high : t; };
    switch (kind) {
      case op::relu: return x < 0 ? 0 : x;
      case op::relu6: return clamp(x, 0, 6);
      case op::leaky_relu: return x < 0 ? double(leaky_slope) * x : x;
      case op::clip: return clamp(x, clip_lower, clip_upper);
      case op::hard_sigmoid: return clamp(x / 6 + .5, 0, 1);
      case op::hard_swish: return x * clamp(x / 6 + .5, 0, 1);
      case op::sigmoid: return logistic(x);
      case op::silu: return x * logistic(x);
      case op::gelu: return .5 * x * (1 + std::erf(x / std::sqrt(2.)));
      case op::gelu_tanh: return .5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.)) * (x + .044715 * x * x * x)));
      case op::tanh: return std::tanh(x);
      case op::map: return .5 * x + 1;
      default: return x;
    }
  }

  void apply_stages(estimate& e, long pixel, int o) {
    for (int i = 0; i < key_.after.count(); ++i) {
      op const kind = key_.after.stages[i].kind;
      double const other = is_binary(kind) ? double(operand_[(p_.broadcast ? 0 : pixel * p_.outputs) + o]) : 0;
      if (kind == op::add) e.value += other;
      else if (kind == op::mul) e.value *= other;
      else if (kind == op::bias) e.value += stage_shift(o);
      else if (kind == op::batch_norm) e.value = e.value * stage_scale(o) + stage_shift(o), e.error *= stage_scale(o);
      else e.value = activation(kind, e.value);
      e.error = e.error * 1.5 + 4e-7 * (1 + std::fabs(e.value));  // no slope is above 1.5
    }
  }

  void compare() {
    long wrong = 0, first_wrong = -1, overwritten = 0;
    estimate expected_there{};
    float found_there = 0;
    int const stride = p_.outputs + p_.destination_gap;
    std::vector<estimate> all;
    double shared = 0;
    for (long pixel = 0; pixel < out_.pixels(); ++pixel)
      for (int o = 0; o < p_.outputs; ++o) {
        int const x = int(pixel % out_.w), y = int(pixel / out_.w % out_.h), n = int(pixel / out_.w / out_.h);
        all.push_back(convolve(n, y, x, o));
        shared = std::fmax(shared, all.back().error / ((depth_ + 4) * 0x1p-24) * p_.shared_error);
      }
    for (long pixel = 0; pixel < out_.pixels(); ++pixel) {
      for (int o = 0; o < p_.outputs; ++o) {
        estimate expected = all[pixel * p_.outputs + o];
        expected.error += shared;
        apply_stages(expected, pixel, o);
        float const found = destination_[destination_at(pixel, o)];
        if (std::fabs(found - expected.value) <= expected.error) continue;
        if (wrong++ == 0) first_wrong = pixel * p_.outputs + o, expected_there = expected, found_there = found;
      }
      for (int c = 0; c < stride; ++c) {
        int const o = c - (p_.destination_gap + 1) / 2;
        if (o < 0 || o >= p_.outputs) overwritten += !guarded::is_untouched(destination_[pixel * stride + c]);
      }
    }
    CAPTURE(first_wrong);
    CAPTURE(expected_there.value);
    CAPTURE(expected_there.error);
    CAPTURE(found_there);
    CHECK(wrong == 0);
    CHECK(overwritten == 0);
  }

  problem p_;
  kernel_key key_;
  random_numbers random_;
  shape out_;
  int taps_, depth_;
  long weight_count_;
  std::vector<float> blob_;
  guarded source_, destination_, operand_;
  planned_data step_{};
  long packed_floats_ = 0;
};

/// Runs `p` through the kernel of `key` and compares every element.
inline void check(problem const& p, kernel_key const& key, kernel_function run, packing_function pack) {
  CAPTURE(p);
  CAPTURE(name_of(key.target));
  CAPTURE(key.tile.pixels);
  CAPTURE(key.tile.vectors);
  CAPTURE(key.tile.pixels_left);
  CAPTURE(key.tile.vectors_left);
  CAPTURE(key.partial);
  experiment(p, key).check(run, pack);
}

/// `after`: stages of the epilogue, or just their operators.
template <isa I, class... S>
constexpr kernel_key key_of(structure what, register_tile tile, bool partial, S... after) {
  kernel_key key;
  key.what = what;
  key.target = I;
  key.tile = tile;
  key.partial = partial && lanes(I) > 1;
  key.after = {{stage{after}...}};
  return key;
}

/// A number of output channels that a kernel of `key` supports: `panels` whole panels and a remainder.
inline int fitting_channels(kernel_key const& key, int panels, random_numbers& random) {
  int const vectors = panels * key.tile.vectors + key.tile.vectors_left, width = lanes(key.target);
  return vectors * width - (key.partial ? random.between(1, width - 1) : 0);
}

}  // namespace matrix_test
