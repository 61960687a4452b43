// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions: the executor agrees with another evaluator, and what is derived from an expression holds.
#include <ago/expression/bounds.hpp>
#include <ago/expression/matrix_form.hpp>

#include <doctest/doctest.h>

#include "generator.hpp"
#include "run.hpp"
#include "support/rounds.hpp"

using namespace expression_test;
using namespace ago::expression;

namespace {

/// Does it exceed a limit of the notation? Such are few.
bool is_too_large(definition const& d) {
  return d.bad.what == fault::too_large || d.bad.what == fault::index_too_complex;
}

/// The places of an operand that element_access a reads, over all points of the loops.
std::vector<long> places_read(index_expression const& e, element_access const& a) {
  std::vector<long> r;
  long points = 1;
  for (int x = 0; x < e.axis_count; ++x) points *= e.extent[x];
  for (long p = 0; p < points; ++p) {
    int at[max_axes]{};
    long left = p;
    for (int x = 0; x < e.axis_count; ++x) {
      at[x] = int(left % e.extent[x]);
      left /= e.extent[x];
    }
    long place = 0;
    bool inside = true;
    for (int d = 0; d < a.rank; ++d) {
      long const i = value_of(e.body, a.at[d].sum, at), extent = e.operands[a.operand].of[d];
      inside &= i >= 0 && i < extent;
      place = place * extent + i;
    }
    if (inside) r.push_back(place);
  }
  return r;
}

bool has_quotient(index_expression const& e, element_access const& a) {
  for (int d = 0; d < a.rank; ++d)
    for (int i = a.at[d].sum.first; i < a.at[d].sum.first + a.at[d].sum.count; ++i)
      if (e.body.terms[i].atom >= max_axes) return true;
  return false;
}

bool is_dependent(element_access const& a) {
  for (int d = 0; d < a.rank; ++d)
    if (a.at[d].node >= 0) return true;
  return false;
}

}  // namespace

TEST_CASE("random expressions have the values and extents that another evaluator finds") {
  constexpr int count = test::rounds(2000);
  int compared = 0, folds = 0, quotients = 0, pads = 0, inferred = 0, dependent = 0;
  for (unsigned seed = 1; seed <= unsigned(count); ++seed) {
    random_expression const e = generator(seed).draw();
    definition const d = writer(e).written();
    if (is_too_large(d)) continue;
    CAPTURE(seed);
    CAPTURE(int(d.bad.what));
    CAPTURE(d.bad.operand);
    CAPTURE(d.bad.dimension);
    REQUIRE(d.bad.what == fault::none);
    ++compared;
    index_expression const& x = d.expressions[0];
    for (int r = 0; r < e.rank; ++r) REQUIRE(d.result()[r] == e.extent[std::size_t(r)]);
    auto given = e.flat();
    for (std::size_t k = 0; k < 4; ++k)
      if (e.extents_of[k].empty()) given[k].assign(std::size_t(std::max(1l, d.values[k].extents.count())), 0);
    auto const got = run(d, given)[0];
    auto const expected = e.result();
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      REQUIRE(std::abs(got[i] - expected[i].value) <= 1e-12 * (1 + expected[i].size));
    folds += has_fold(x);
    quotients += x.body.quotient_count > 0;
    for (bool const g : e.is_given) inferred += !g;
    for (int a = 0; a < x.body.access_count; ++a) {
      pads += x.body.accesses[a].padded;
      dependent += is_dependent(x.body.accesses[a]);
    }
  }
  CHECK(compared > count * 9 / 10);
  CHECK(folds > count / 4);
  CHECK(quotients > count / 4);
  CHECK(pads > count / 4);
  CHECK(inferred > count / 8);
  CHECK(dependent > count / 50);
}

TEST_CASE("facts of random expressions hold: bounds, footprints, elements read once") {
  constexpr int count = test::rounds(2000);
  int once = 0, exact = 0, accesses = 0, simple = 0, simple_exact = 0;
  for (unsigned seed = 1; seed <= unsigned(count); ++seed) {
    random_expression const e = generator(seed).draw();
    definition const d = writer(e).written();
    if (d.bad.what != fault::none) continue;
    CAPTURE(seed);
    index_expression const& x = d.expressions[0];
    bounds const given[] = {{-2, 2}, {-2, 2}, {-2, 2}, {-2, 2}};
    bounds const tight = bounds_of(d, given, arithmetic::exact), loose = bounds_of(d, given, arithmetic::rounded);
    for (sized const& v : e.result()) {
      double const slack = 1e-12 * (1 + v.size);
      REQUIRE((v.value >= tight.lower - slack && v.value <= tight.upper + slack));
      REQUIRE((v.value >= loose.lower && v.value <= loose.upper));
    }
    for (int a = 0; a < x.body.access_count; ++a) {
      element_access const& r = x.body.accesses[a];
      if (r.operand < 0 || is_dependent(r)) continue;
      auto const places = places_read(x, r);
      long const different = long(std::set<long>(places.begin(), places.end()).size());
      REQUIRE(different <= footprint(x, a));
      ++accesses;
      exact += different == footprint(x, a);
      if (!has_quotient(x, r) && !r.padded) {
        ++simple;
        simple_exact += different == footprint(x, a);
      }
      if (reads_once(x, a)) {
        REQUIRE(different == long(places.size()));
        ++once;
      }
    }
  }
  CHECK(exact > accesses * 3 / 4);
  CHECK(simple_exact > simple * 95 / 100);
  CHECK(simple > accesses / 4);
  CHECK(once > accesses / 10);
}

namespace {

/// An operand with the padding of a matrix form.
values with_padding(values const& x, extents const& of, matrix_operand const& o, double pad) {
  values r(std::size_t(o.padded.count()), pad);
  for (long p = 0; p < of.count(); ++p) {
    long to = 0;
    for (int d = 0; d < of.rank; ++d) to += (p / of.stride(d) % of.of[d] + o.before[d]) * o.padded.stride(d);
    r[std::size_t(to)] = x[std::size_t(p)];
  }
  return r;
}

/// C through the offsets alone.
values multiplied(matrix_form const& f, values const& a, values const& b, long size) {
  values c(std::size_t(size), -1e300);
  using loop = matrix_loop;
  for (long z = 0; z < f.batch.extent(); ++z)
    for (long m = 0; m < f.m.extent(); ++m)
      for (long n = 0; n < f.n.extent(); ++n) {
        double sum = 0;
        for (long k = 0; k < f.k.extent(); ++k)
          sum += a.at(std::size_t(f.a.start + f.batch.offset(z, &loop::a) + f.m.offset(m, &loop::a) +
                                  f.k.offset(k, &loop::a))) *
                 b.at(std::size_t(f.b.start + f.batch.offset(z, &loop::b) + f.n.offset(n, &loop::b) +
                                  f.k.offset(k, &loop::b)));
        c.at(std::size_t(f.batch.offset(z, &loop::c) + f.m.offset(m, &loop::c) + f.n.offset(n, &loop::c))) =
            f.scale * sum;
      }
  return c;
}

}  // namespace

TEST_CASE("random sums of products are matrix products of scattered rows and columns") {
  constexpr int count = test::rounds(2000);
  int affine_forms = 0, affine_count = 0, quotient_forms = 0, quotient_count = 0, padded_count = 0, progressions = 0;
  for (unsigned seed = 1; seed <= unsigned(count); ++seed) {
    bool const quotients = seed % 2;
    random_expression const e = generator(seed).draw_product(quotients, true);
    definition const d = writer(e).written();
    if (d.bad.what != fault::none) continue;
    CAPTURE(seed);
    index_expression const& x = d.expressions[0];
    if (!is_complex(x)) continue;  // both factors are the same element
    matrix_form const f = matrix_form_of(x);
    bool const has_quotient = x.body.quotient_count > 0;
    (has_quotient ? quotient_count : affine_count) += 1;
    if (f.why_not != no_matrix::none) {
      REQUIRE(f.why_not == no_matrix::not_separable);
      REQUIRE(has_quotient);
      continue;
    }
    (has_quotient ? quotient_forms : affine_forms) += 1;
    auto const given = e.flat();
    auto const operand = [&](matrix_operand const& o) {
      element_access const& a = x.body.accesses[o.access];
      padded_count += o.is_padded(x.operands[o.operand]);
      CHECK((a.padded || !o.is_padded(x.operands[o.operand])));
      return with_padding(given[std::size_t(d.reads[0][o.operand])], x.operands[o.operand], o, double(a.pad()));
    };
    auto const expected = run(d, given)[0];
    REQUIRE(multiplied(f, operand(f.a), operand(f.b), x.result.count()) == expected);
    CHECK(f.m.extent() * f.n.extent() * f.batch.extent() == x.result.count());
    for (matrix_loops const* l : {&f.m, &f.k}) {
      if (!l->is_progression(&matrix_loop::a)) continue;
      ++progressions;
      for (long i = 0; i < l->extent(); ++i) CHECK(l->offset(i, &matrix_loop::a) == i * l->step(&matrix_loop::a));
    }
  }
  CHECK(affine_forms == affine_count);
  CHECK(affine_count > count / 4);
  CHECK(quotient_count > count / 8);
  CHECK(quotient_forms > quotient_count / 4);
  CHECK(padded_count > count / 10);
  CHECK(progressions > count / 4);
  MESSAGE(affine_forms, " of ", affine_count, " affine, ", quotient_forms, " of ", quotient_count, " with quotients");
}
