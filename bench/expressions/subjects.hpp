// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of index expressions as candidates of a measurement, with memory of their own.
#pragma once

#include "../buffer.hpp"

#include <ago/kernel/attention/matmul.hpp>
#include <ago/kernel/contraction/kernel.hpp>
#include <ago/kernel/matrix/pack.hpp>
#include <ago/kernel/matrix/pointwise.hpp>
#include <ago/kernel/matrix/schedule.hpp>
#include <ago/kernel/nest/kernel.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace bench {

using ago::expression::index_expression;

/// Fills with numbers from -1 to 1.
inline void fill(buffer const& x, unsigned seed) {
  for (float& f : x.span()) {
    seed = seed * 1664525u + 1013904223u;
    f = float(seed >> 8) * 0x1p-23f - 1;
  }
}

/// A kernel with its operands and its result.
class subject_of_kernel {
 public:
  /// `weights`: the operand that is packed ahead; -1: none.
  subject_of_kernel(index_expression const& e, int weights) : result_(std::size_t(e.result.count())) {
    step_.out = {1, 1, int(e.result.count() / e.result.of[e.result.rank - 1]), e.result.of[e.result.rank - 1]};
    int values = 0;
    for (int i = 0; i < e.operand_count; ++i) {
      operands_.emplace_back(std::size_t(e.operands[i].count()));
      fill(operands_.back(), unsigned(i));
      if (i == weights) continue;
      ago::plan::place const at{ago::plan::place::area::input, std::uint16_t(i), 0, 1};
      (values == 0 ? step_.source : step_.other[values - 1]) = at;
      ++values;
    }
    step_.destination = {ago::plan::place::area::output, 0, 0, step_.out.c};
    for (buffer const& x : operands_) inputs_.push_back(x.data());
  }
  void reserve(long packed, long scratch) {
    packed_ = std::make_unique<buffer>(std::size_t(packed));
    arena_ = std::make_unique<buffer>(std::size_t(scratch));
  }
  void run(ago::plan::kernel_function f) {
    float* outputs[] = {result_.data()};
    f(step_, ago::plan::kernel_memory{{packed_->data(), arena_->data(), inputs_.data(), outputs}, step_.tables()});
  }
  float* packed() const { return packed_->data(); }
  buffer& operand(int i) { return operands_[std::size_t(i)]; }
  buffer const& result() const { return result_; }

 private:
  std::vector<buffer> operands_;
  std::vector<float const*> inputs_;
  std::unique_ptr<buffer> packed_, arena_;
  buffer result_;
  ago::plan::planned_data step_{};
};

template <index_expression const& E, int Weights>
inline constexpr ago::plan::kernel_key contraction_key{
    .what = ago::plan::structure::contraction, .described = &E, .weight_operand = std::int8_t(Weights)};
template <index_expression const& E>
inline constexpr ago::plan::kernel_key nest_key{.what = ago::plan::structure::nest, .described = &E};

template <index_expression const& E, int Weights>
std::shared_ptr<subject_of_kernel> contraction_subject() {
  constexpr ago::kernel::contraction_layout L = ago::kernel::layout_of_contraction(contraction_key<E, Weights>);
  auto s = std::make_shared<subject_of_kernel>(E, Weights);
  s->reserve(L.packed_floats(), L.scratch_floats());
  if (Weights >= 0) ago::kernel::pack_contraction<ago::native_isa>(L, E, s->operand(Weights).data(), s->packed());
  return s;
}
template <index_expression const& E>
std::shared_ptr<subject_of_kernel> nest_subject() {
  auto s = std::make_shared<subject_of_kernel>(E, -1);
  s->reserve(0, 0);
  return s;
}

/// The greatest difference of a few elements of a product from their definition.
template <index_expression const& E, int Weights>
double error_of(subject_of_kernel& s) {
  using loop = ago::expression::matrix_loop;
  static constexpr ago::kernel::contraction_layout L = ago::kernel::layout_of_contraction(contraction_key<E, Weights>);
  auto const reader = [&](ago::expression::matrix_operand const& o) {
    return ago::kernel::padded_reader{E.operands[o.operand], o, E.body.accesses[o.access].pad(),
                                      s.operand(o.operand).data()};
  };
  auto const a = reader(L.form.a), b = reader(L.form.b);
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    int const z = i % L.batches, m = i * 7919 % L.rows, n = i * 104729 % L.columns;
    double sum = 0;
    for (int k = 0; k < L.depth; ++k)
      sum += double(a(L.form.a.start + L.form.batch.offset(z, &loop::a) + L.form.m.offset(m, &loop::a) +
                      L.form.k.offset(k, &loop::a))) *
             double(b(L.form.b.start + L.form.batch.offset(z, &loop::b) + L.form.n.offset(n, &loop::b) +
                      L.form.k.offset(k, &loop::b)));
    long const at = L.form.batch.offset(z, &loop::c) + L.form.m.offset(m, &loop::c) + L.form.n.offset(n, &loop::c);
    worst = std::fmax(worst, std::fabs(sum - double(s.result().data()[at])));
  }
  return worst;
}

/// The dense kernel for the same extents: pointwise with weights, or the product of two values for each batch.
template <int Batches, int Rows, int Depth, int Columns, bool HasWeights>
std::function<void()> dense_kernel() {
  using namespace ago;
  using namespace ago::ir;
  using namespace ago::kernel;
  using namespace ago::plan;
  constexpr auto made = [] {
    std::pair<kernel_key, step_data> r;
    r.first.what = HasWeights ? structure::pointwise : structure::matmul;
    r.second.in = {1, Batches, Rows, Depth};
    r.second.out = {1, Batches, Rows, Columns};
    if (HasWeights) choose_matrix(r.first, r.second, {});
    r.first.partial = has_partial_vector(r.first, Columns);
    return r;
  }();
  struct memory {
    buffer in{std::size_t(Batches * Rows * Depth)}, other{std::size_t(Batches * Depth * Columns)};
    buffer out{std::size_t(Batches * Rows * Columns)}, packed{std::size_t((Depth + 1) * (Columns + 64))};
    buffer arena{1 << 21};
    planned_data s{};
  };
  auto const m = std::make_shared<memory>();
  fill(m->in, 1);
  fill(m->other, 2);
  static_cast<step_data&>(m->s) = made.second;
  m->s.source = {place::area::input, 0, 0, Depth};
  m->s.destination = {place::area::output, 0, 0, Columns};
  m->s.other[0] = {place::area::input, 1, 0, Columns};
  m->s.other_shape = {1, Batches, Depth, Columns};
  m->s.alpha = 1;
  if (HasWeights) pack_matrix<native_isa>(made.first, m->s, {.weight = 0}, m->other.data(), m->packed.data());
  return [m] {
    float const* const inputs[] = {m->in.data(), m->other.data()};
    float* const outputs[] = {m->out.data()};
    kernel_memory const memory{{m->packed.data(), m->arena.data(), inputs, outputs}, m->s.tables()};
    if constexpr (HasWeights) pointwise_kernel<made.first>::run(m->s, memory);
    else matmul_kernel<made.first>::run(m->s, memory);
  };
}

}  // namespace bench
