// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/attention/attention.hpp>
#include <ago/kernel/pack_stages.hpp>

#include "kernel/attention/support.hpp"

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;
using namespace product_test;

namespace {

/// An attention: extents, operands, and the definition as plain loops in double.
struct problem {
  int images = 1, heads = 1, d = 1;            ///< d: channels of a head
  int ph = 1, pw = 1;                          ///< of a patch
  int h = 1, w = 1, other_h = 1, other_w = 1;  ///< in patches
  float scale = 1;

  int tokens() const { return h * w; }
  int others() const { return other_h * other_w; }
  shape q() const { return {images, h * ph, w * pw, heads * d}; }
  shape kv() const { return {images, other_h * ph, other_w * pw, heads * d}; }
  shape scores() const { return {images * ph * pw, heads, tokens(), others()}; }

  planned_data step(shape const& in, shape const& out) const {
    planned_data s;
    s.in = in;
    s.out = out;
    s.other_shape = kv();
    s.groups = heads;
    s.patch = {ph, pw};
    s.alpha = scale;
    return s;
  }
  /// The pixel of token t at `place` of its patch, in image n of a value of `columns` x `rows` patches.
  long pixel(int n, int place, int t, int rows, int columns) const {
    int const y = t / columns * ph + place / pw, x = t % columns * pw + place % pw;
    return (long(n) * rows * ph + y) * columns * pw + x;
  }
  long query(int n, int place, int t) const { return pixel(n, place, t, h, w); }
  long key(int n, int place, int u) const { return pixel(n, place, u, other_h, other_w); }
};

struct operands {
  slice q, k, v;
  operands(test::numbers& r, problem const& p) : q(r, p.q()), k(r, p.kv()), v(r, p.kv()) {}
};

/// A score, and the sum of its terms' magnitudes.
double score(problem const& p, operands const& o, int n, int place, int head, int t, int u, double& magnitude) {
  float const* const q = o.q.at(p.query(n, place, t)) + head * p.d;
  float const* const k = o.k.at(p.key(n, place, u)) + head * p.d;
  double sum = 0;
  magnitude = 0;
  for (int j = 0; j < p.d; ++j) {
    sum += double(q[j]) * double(k[j]);
    magnitude += std::fabs(double(q[j]) * double(k[j]));
  }
  magnitude *= std::fabs(double(p.scale));
  return sum * double(p.scale);
}

/// Calls f(image, place, head, token) for all combinations.
template <class F>
void for_each_row(problem const& p, F f) {
  for (int n = 0; n < p.images; ++n)
    for (int place = 0; place < p.ph * p.pw; ++place)
      for (int head = 0; head < p.heads; ++head)
        for (int t = 0; t < p.tokens(); ++t) f(n, place, head, t);
}

/// The results in double, dense, and a bound on the error of each.
struct solution {
  std::vector<double> value, bound;
};

solution solve(problem const& p, operands const& o) {
  std::size_t const count = std::size_t(p.q().count());
  solution r{std::vector<double>(count), std::vector<double>(count)};
  for_each_row(p, [&](int n, int place, int head, int t) {
    std::vector<double> weight(std::size_t(p.others()));
    double most = -INFINITY, off = 0, sum = 0;
    for (int u = 0; u < p.others(); ++u) {
      double magnitude;
      double const x = weight[std::size_t(u)] = score(p, o, n, place, head, t, u, magnitude);
      most = std::fmax(most, x);
      off = std::fmax(off, (p.d + 2) * 0x1p-24 * magnitude);
    }
    std::vector<float const*> values;
    for (double& x : weight) sum += x = std::exp(x - most);
    for (int u = 0; u < p.others(); ++u) values.push_back(o.v.at(p.key(n, place, u)) + head * p.d);
    for (int j = 0; j < p.d; ++j) {
      double result = 0;
      for (int u = 0; u < p.others(); ++u) result += weight[std::size_t(u)] * double(values[std::size_t(u)][j]);
      std::size_t const at = std::size_t(p.query(n, place, t) * p.q().c + head * p.d + j);
      r.value[at] = result / sum;
      r.bound[at] = 2 * off + (p.others() + 16) * 0x1p-24;  // no value exceeds 1
    }
  });
  return r;
}

/// The largest error as a fraction of its bound. NaN must occur exactly where it is expected.
double worst(shape const& s, place const& at, float const* out, std::vector<double> const& exact,
             std::vector<double> const& bound) {
  double most = 0;
  for (long i = 0; i < s.count(); ++i) {
    double const e = exact[std::size_t(i)], y = double(out[at.offset + i / s.c * at.pixel_stride + i % s.c]);
    if (std::isnan(e) && std::isnan(y)) continue;
    double const error = std::fabs(y - e) / bound[std::size_t(i)];
    if (!(error <= most)) most = error;
  }
  return most;
}

/// A destination with gaps between its pixels; checks that they are not written.
struct result {
  shape s;
  place at;
  test::guarded memory;
  result(test::numbers& r, shape const& s_)
      : s(s_), at{place::area::output, 0, 0, s_.c + r.integer(0, 1) * r.integer(0, 20)},
        memory(test::extent(s_, at.pixel_stride)) {}
  bool gaps_intact() const {
    bool good = memory.intact();
    for (std::size_t i = 0; i < memory.size(); ++i)
      good = good && (int(i) % at.pixel_stride < s.c || memory[i] == test::guarded::canary);
    return good;
  }
};

template <isa I>
double check_attention(problem const& p, operands const& o, test::numbers& r, solution const& exact) {
  constexpr kernel_key k = key(structure::attention, I);
  result out(r, p.q());
  planned_data s = p.step(p.q(), p.q());
  s.source = o.q.input(0);
  s.other[0] = o.k.input(1);
  s.other[1] = o.v.input(2);
  s.destination = out.at;
  run<attention_kernel<k>>(k.what, I, s, nullptr, {o.q.base(), o.k.base(), o.v.base()}, out.memory.data());
  CHECK(out.gaps_intact());
  return worst(p.q(), out.at, out.memory.data(), exact.value, exact.bound);
}

template <isa I>
double check_attention(problem const& p, operands const& o, test::numbers& r) {
  return check_attention<I>(p, o, r, solve(p, o));
}

problem random_problem(test::numbers& r, isa target) {
  int const l = lanes(target), depths[] = {1, 2, 3, 7, 16, 36, 48, 60, 64, l, l + 1, 3 * l + 1};
  int const counts[] = {1, 2, 3, 4, 5, 7};
  problem p;
  p.images = r.integer(1, 2);
  p.heads = r.integer(1, 4);
  p.d = r.one_of(depths);
  p.ph = r.integer(0, 2) ? 1 : r.integer(1, 3);
  p.pw = r.integer(0, 2) ? 1 : r.integer(1, 3);
  p.h = p.other_h = r.one_of(counts);
  p.w = p.other_w = r.one_of(counts);
  if (r.integer(0, 1)) {
    p.other_h = r.one_of(counts);
    p.other_w = r.one_of(counts);
  }
  p.scale = r.real(.1f, 3.f) / std::sqrt(float(p.d));
  return p;
}

constexpr problem bert{.heads = 2, .d = 64, .h = 1, .w = 128, .other_h = 1, .other_w = 128, .scale = .125f};
constexpr problem mobile(int heads, int d, int side) {
  return {
      .heads = heads, .d = d, .ph = 2, .pw = 2, .h = side, .w = side, .other_h = side, .other_w = side, .scale = .15f};
}

}  // namespace

TEST_CASE("attention is exact to its bound for any tokens, heads, patches and strides") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 150; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem const p = random_problem(r, I);
      operands const o(r, p);
      CAPTURE(seed);
      CHECK(check_attention<I>(p, o, r) <= 1);
    }
  });
}

TEST_CASE("attention computes the sizes of known networks") {
  for (problem const& p :
       {bert, mobile(4, 36, 16), mobile(4, 48, 8), mobile(4, 60, 4), mobile(4, 36, 14), mobile(4, 48, 7)}) {
    test::numbers r(1);
    operands const o(r, p);
    solution const exact = solve(p, o);
    CAPTURE(p.d);
    test::for_each_isa([&]<isa I>(std::integral_constant<isa, I>) {
      if constexpr (!is_emulated(I)) CHECK(check_attention<I>(p, o, r, exact) <= 1);
    });
  }
}

TEST_CASE("attention takes so many tokens that the results of a few rows exceed the cache") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    problem const p{.d = 5, .h = 3, .w = 7, .other_h = 31, .other_w = 37};
    test::numbers r(1);
    operands const o(r, p);
    CHECK(check_attention<I>(p, o, r) <= 1);
  });
}

TEST_CASE("attention with large scores picks a value") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    problem p{.heads = 2, .d = 9, .h = 4, .w = 5, .other_h = 5, .other_w = 5};
    p.scale = 1e4f;
    test::numbers r(1);
    operands const o(r, p);
    CHECK(check_attention<I>(p, o, r) <= 1);
  });
}

TEST_CASE("a NaN stays within its head and its place of the patch") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    problem const p{.heads = 3, .d = 5, .ph = 2, .pw = 1, .h = 3, .w = 3, .other_h = 3, .other_w = 3};
    test::numbers r(1);
    operands query(r, p), key(r, p), value(r, p);
    query.q.at(p.query(0, 1, 4))[7] = NAN;
    key.k.at(p.key(0, 1, 4))[7] = NAN;
    value.v.at(p.key(0, 1, 4))[7] = NAN;
    CHECK(check_attention<I>(p, query, r) <= 1);
    CHECK(check_attention<I>(p, key, r) <= 1);
    CHECK(check_attention<I>(p, value, r) <= 1);
  });
}

TEST_CASE("scores are the scaled products of queries and keys") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    constexpr kernel_key k = key(structure::attention_scores, I);
    for (int seed = 0; seed < 100; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem const p = random_problem(r, I);
      operands const o(r, p);
      result out(r, p.scores());
      planned_data s = p.step(p.q(), p.scores());
      s.source = o.q.input(0);
      s.other[0] = o.k.input(1);
      s.destination = out.at;
      run<attention_scores_kernel<k>>(k.what, I, s, nullptr, {o.q.base(), o.k.base()}, out.memory.data());
      std::vector<double> exact, bound;
      for_each_row(p, [&](int n, int place, int head, int t) {
        for (int u = 0; u < p.others(); ++u) {
          double magnitude;
          exact.push_back(score(p, o, n, place, head, t, u, magnitude));
          bound.push_back((p.d + 2) * 0x1p-24 * magnitude);
        }
      });
      CAPTURE(seed);
      CHECK(out.gaps_intact());
      CHECK(worst(p.scores(), out.at, out.memory.data(), exact, bound) <= 1);
    }
  });
}

TEST_CASE("values are weighted and summed") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    constexpr kernel_key k = key(structure::attention_values, I);
    for (int seed = 0; seed < 100; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem const p = random_problem(r, I);
      slice const weights(r, p.scores()), values(r, p.kv());
      result out(r, p.q());
      planned_data s = p.step(p.scores(), p.q());
      s.source = weights.input(0);
      s.other[0] = values.input(1);
      s.destination = out.at;
      run<attention_values_kernel<k>>(k.what, I, s, nullptr, {weights.base(), values.base()}, out.memory.data());
      std::vector<double> exact(std::size_t(p.q().count())), bound(exact.size());
      for_each_row(p, [&](int n, int place, int head, int t) {
        float const* const row = weights.at(n * p.ph * p.pw + place, head, t);
        for (int j = 0; j < p.d; ++j) {
          std::size_t const at = std::size_t(p.query(n, place, t) * p.q().c + head * p.d + j);
          double magnitude = 0;
          for (int u = 0; u < p.others(); ++u) {
            double const term = double(row[u]) * double(values.at(p.key(n, place, u))[head * p.d + j]);
            exact[at] += term;
            magnitude += std::fabs(term);
          }
          bound[at] = (p.others() + 1) * 0x1p-24 * magnitude;
        }
      });
      CAPTURE(seed);
      CHECK(out.gaps_intact());
      CHECK(worst(p.q(), out.at, out.memory.data(), exact, bound) <= 1);
    }
  });
}

TEST_CASE("attention equals scores, softmax and weighted values one after another") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    constexpr kernel_key first = key(structure::attention_scores, I), second = key(structure::attention_values, I);
    problem const p{.images = 2, .heads = 3, .d = 11, .ph = 2, .pw = 2, .h = 4, .w = 3, .other_h = 5, .other_w = 2};
    test::numbers r(1);
    operands const o(r, p);
    test::guarded scores(std::size_t(p.scores().count())), out(std::size_t(p.q().count()));
    place const dense{place::area::output, 0, 0, p.others()};
    planned_data s = p.step(p.q(), p.scores());
    s.source = o.q.input(0);
    s.other[0] = o.k.input(1);
    s.destination = dense;
    run<attention_scores_kernel<first>>(first.what, I, s, nullptr, {o.q.base(), o.k.base()}, scores.data());
    planned_data middle;
    middle.in = middle.out = p.scores();
    middle.source = {place::area::input, 0, 0, p.others()};
    middle.destination = dense;
    test::call<softmax_kernel<key(structure::softmax, I)>>(middle, nullptr, {scores.data()}, scores.data());
    planned_data last = p.step(p.scores(), p.q());
    last.source = middle.source;
    last.other[0] = o.v.input(1);
    last.destination = {place::area::output, 0, 0, p.q().c};
    run<attention_values_kernel<second>>(second.what, I, last, nullptr, {scores.data(), o.v.base()}, out.data());
    solution const exact = solve(p, o);
    CHECK(worst(p.q(), last.destination, out.data(), exact.value, exact.bound) <= 1);
    CHECK(check_attention<I>(p, o, r) <= 1);
  });
}

TEST_CASE("an epilogue follows attention") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    constexpr kernel_key k = key(structure::attention, I, op::bias, op::add, op::leaky_relu);
    problem const p{.heads = 3, .d = 7, .ph = 1, .pw = 2, .h = 2, .w = 3, .other_h = 2, .other_w = 4};
    test::numbers r(1);
    operands const o(r, p);
    slice const added(r, p.q());
    planned_data s = p.step(p.q(), p.q());
    s.source = o.q.input(0);
    s.other[0] = o.k.input(1);
    s.other[1] = o.v.input(2);
    s.destination = {place::area::output, 0, 0, p.q().c};
    s.after[0].parameters = 0;
    s.after[1].operand = added.input(3);
    s.after[2].alpha = .1f;
    auto const bias = r.vector(std::size_t(p.q().c));
    test::aligned packed(std::size_t(packed_floats(k.after.stages[0], I, s.out)));
    packing_data from;
    from.after[0].shift = 0;
    pack_stages<I>(k, s, from, bias.data(), packed.data());
    test::guarded out(std::size_t(p.q().count()));
    run<attention_kernel<k>>(k.what, I, s, packed.data(), {o.q.base(), o.k.base(), o.v.base(), added.base()},
                             out.data());
    solution exact = solve(p, o);
    for (std::size_t i = 0; i < exact.value.size(); ++i) {
      long const pixel = long(i) / p.q().c, c = long(i) % p.q().c;
      double const x = exact.value[i] + double(bias[std::size_t(c)]) + double(added.at(pixel)[c]);
      exact.value[i] = x < 0 ? double(.1f) * x : x;
      exact.bound[i] += 1e-6;
    }
    CHECK(worst(p.q(), s.destination, out.data(), exact.value, exact.bound) <= 1);
  });
}
