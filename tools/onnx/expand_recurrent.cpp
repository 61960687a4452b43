// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RNN, GRU and LSTM, unrolled: one product of all steps with W, and a cell for each step. R, and what else all steps
// read, are values that they share, not constants, of which each step would have a copy.
#include <algorithm>
#include <functional>

#include "recurrent_activations.hpp"

namespace ago::onnx::expansion {
namespace {

enum input { x_of_steps, weights, recurrent_weights, bias, lengths, initial_h, initial_c, peepholes };

/// What the three have in common: sizes, weights, activations, and the loop over steps and directions.
class recurrence {
 public:
  using cell = std::function<void(recurrence&, int gates_of_input, int& h, int& c)>;

  recurrence(parts_of_operation& parts, std::int64_t gates, std::vector<std::string> const& usual)
      : p(parts), gates_(gates) {
    site const& s = p.what();
    std::string const direction = s.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      throw fault{"direction", "it is not one of forward, reverse, bidirectional"};
    }
    directions_ = direction == "bidirectional" ? 2 : 1;
    backwards_ = direction == "reverse";
    batch_first_ = s.flag("layout", false);
    activations_ = activations_of(p, usual, directions_);
    activations_each_ = usual.size();
    clip_ = s.real("clip", 0);
    if (s.has("clip") && !(clip_ > 0)) throw fault{"clip", "it is not positive"};
    extents const x = s.dims(x_of_steps), r = s.dims(recurrent_weights);
    if (x.size() != 3 || r.size() != 3) throw fault{"", "inputs of " + text_of(x) + " and weights R of " + text_of(r)};
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    inputs_ = x[2];
    units_ = r[2];
    check_sizes();
  }

  parts_of_operation& p;

  std::int64_t units() const { return units_; }

  /// The direction's rows of a matrix from `first` on, turned to columns.
  constant columns(input which, char const* what, std::int64_t first, std::int64_t rows, std::int64_t width) {
    p.afford({rows, width});
    float const* const from = of_direction(which, what) + first * width;
    constant c{.dims = {width, rows}};
    for (std::int64_t k = 0; k < width; ++k) {
      for (std::int64_t i = 0; i < rows; ++i) c.reals.push_back(from[i * width + k]);
    }
    return c;
  }
  /// `count` of the direction's numbers from `first` on.
  constant vector(input which, char const* what, std::int64_t first, std::int64_t count) {
    p.afford({count});
    float const* const from = of_direction(which, what) + first;
    return {.dims = {count}, .reals = {from, from + count}};
  }

  /// A constant as one value that all steps read.
  int shared(constant c) { return p.make(shared_constant, {p.constant_of(std::move(c))}); }
  /// R of some gates, for products with the hidden state.
  int recurrent_matrix(std::int64_t first_gate, std::int64_t count) {
    return shared(columns(recurrent_weights, "R", first_gate * units_, count * units_, units_));
  }
  /// A vector of a gate, or -1 if there is no such input.
  int vector_of(input which, char const* what, std::int64_t gate) {
    return p.has(which) ? shared(vector(which, what, gate * units_, units_)) : -1;
  }

  // Arithmetic on values, where -1 is a value of zeros.
  int add(int a, int b) { return a < 0 ? b : b < 0 ? a : p.make("Add", {a, b}); }
  int subtract(int a, int b) { return a < 0 ? p.make("Neg", {b}) : p.make("Sub", {a, b}); }
  int times(int a, int b) { return a < 0 || b < 0 ? -1 : p.make("Mul", {a, b}); }
  int product(int a, int matrix) { return a < 0 ? -1 : p.make("MatMul", {a, matrix}); }
  /// A value of several gates in parts, each of some of them.
  std::vector<int> parts(int x, extents gates) {
    for (std::int64_t& count : gates) count *= units_;
    return x < 0 ? std::vector<int>(gates.size(), -1) : p.split(x, std::move(gates));
  }
  int activated(std::size_t which, int x) {
    activation const& f = activations_[d_ * activations_each_ + which];
    if (clip_ > 0) x = p.make("Min", {p.make("Max", {x, p.number(-clip_)}), p.number(clip_)});
    return apply(p, f, x);
  }

  /// Defines the outputs: `make_cell` makes the cell of a direction.
  void run(std::function<cell()> const& make_cell, bool has_cell_state) {
    std::vector<int> all, last_h, last_c;
    for (d_ = 0; d_ < directions_; ++d_) {
      bool const backwards = backwards_ || d_ == 1;
      std::vector<int> const x = p.split(of_inputs(), extents(static_cast<std::size_t>(steps_), 1), 0);
      cell const next = make_cell();
      int h = initial(initial_h), c = has_cell_state ? initial(initial_c) : -1;
      std::vector<int> of_steps(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t const t = backwards ? x.size() - 1 - i : i;
        next(*this, p.reshape(x[t], {batch_, gates_ * units_}), h, c);
        of_steps[t] = p.wants(0) ? p.reshape(h, {1, 1, batch_, units_}) : h;
      }
      if (p.wants(0)) all.push_back(joined(of_steps, 0));
      last_h.push_back(p.reshape(h, {1, batch_, units_}));
      if (has_cell_state) last_c.push_back(p.reshape(c, {1, batch_, units_}));
    }
    if (p.wants(0))
      p.finish("Transpose", {joined(all, 1)}, {{"perm", batch_first_ ? extents{2, 0, 1, 3} : extents{0, 1, 2, 3}}});
    define_last(last_h, 1);
    if (has_cell_state) define_last(last_c, 2);
  }

 private:
  float const* of_direction(input which, char const* what) const {
    std::vector<float> const& all = p.what().reals(which, what);
    return all.data() + d_ * (all.size() / directions_);
  }

  void expect(input which, char const* what, extents const& dims) const {
    if (p.has(which) && p.what().dims(which) != dims) {
      throw fault{what, "it has the shape " + text_of(p.what().dims(which)) + ", expected " + text_of(dims)};
    }
  }

  void check_sizes() const {
    auto const d = static_cast<std::int64_t>(directions_);
    if (std::min({steps_, batch_, inputs_, units_}) < 1) throw fault{"", "a sequence, a batch or a state is empty"};
    if (std::int64_t const given = p.what().integer("hidden_size", units_); given != units_) {
      throw fault{"hidden_size", "it is " + std::to_string(given) + ", R is for " + std::to_string(units_)};
    }
    check_dims({8, gates_, units_, std::max(units_, inputs_)});
    expect(weights, "W", {d, gates_ * units_, inputs_});
    expect(recurrent_weights, "R", {d, gates_ * units_, units_});
    expect(bias, "B", {d, 2 * gates_ * units_});
    expect(lengths, "sequence_lens", {batch_});
    extents const state = batch_first_ ? extents{batch_, d, units_} : extents{d, batch_, units_};
    expect(initial_h, "initial_h", state);
    expect(initial_c, "initial_c", state);
    expect(peepholes, "P", {d, 3 * units_});
    constexpr std::int64_t most = 1024;
    if (steps_ > most) {
      throw fault{"", std::to_string(steps_) + " steps; at most " + std::to_string(most) + " are unrolled"};
    }
    if (!p.has(lengths)) return;
    for (std::int64_t const length : p.what().integers(lengths, "sequence_lens")) {
      if (length != steps_) {
        throw fault{"sequence_lens", "a length of " + std::to_string(length) + " of " + std::to_string(steps_) +
                                         " steps; shorter sequences are not supported"};
      }
    }
  }

  /// The products of all steps with W, plus the biases that are simply added: [steps, batch, gates * units].
  int of_inputs() {
    int x = p.operand(x_of_steps);
    if (batch_first_) x = p.transpose(x, {1, 0, 2});
    std::int64_t const rows = gates_ * units_;
    x = p.make("MatMul", {x, p.constant_of(columns(weights, "W", 0, rows, inputs_))});
    if (!p.has(bias)) return x;
    constant both = vector(bias, "B", 0, rows);
    std::vector<float> const of_state = vector(bias, "B", rows, rows).reals;
    // If a GRU resets after its product, the last gate's other bias is reset, too.
    bool const apart = p.what().flag("linear_before_reset", false);
    for (std::int64_t i = 0; i < rows - (apart ? units_ : 0); ++i) {
      both.reals[static_cast<std::size_t>(i)] += of_state[static_cast<std::size_t>(i)];
    }
    return p.make("Add", {x, p.constant_of(std::move(both))});
  }

  /// The direction's initial state [batch, units]; -1: zeros.
  int initial(input which) {
    if (!p.has(which)) return -1;
    value const& given = p.what().input(which);
    bool const zero = given.known &&
                      std::all_of(given.known->reals.begin(), given.known->reals.end(), [](float x) { return x == 0; });
    if (zero) return -1;
    int x = p.operand(which);
    if (batch_first_) x = p.transpose(x, {1, 0, 2});
    if (directions_ == 2) x = p.split(x, {1, 1}, 0)[d_];
    return p.reshape(x, {batch_, units_});
  }

  int joined(std::vector<int> const& parts, std::int64_t axis) {
    return parts.size() == 1 ? parts[0] : p.make("Concat", parts, {{"axis", axis}});
  }

  void define_last(std::vector<int> const& of_directions, std::size_t output) {
    if (!p.wants(output)) return;
    p.finish("Transpose", {joined(of_directions, 0)}, {{"perm", batch_first_ ? extents{1, 0, 2} : extents{0, 1, 2}}},
             {output});
  }

  std::int64_t gates_, steps_ = 0, batch_ = 0, inputs_ = 0, units_ = 0;
  std::size_t directions_ = 1, d_ = 0, activations_each_ = 1;
  bool backwards_ = false, batch_first_ = false;
  std::vector<activation> activations_;
  float clip_ = 0;
};

}  // namespace

void recurrent_network(parts_of_operation& p) {
  recurrence r(p, 1, {"Tanh"});
  r.run(
      [&] {
        return [matrix = r.recurrent_matrix(0, 1)](recurrence& of, int x, int& h, int&) {
          h = of.activated(0, of.add(x, of.product(h, matrix)));
        };
      },
      false);
}

void gated_recurrent_units(parts_of_operation& p) {
  recurrence r(p, 3, {"Sigmoid", "Tanh"});
  bool const product_first = p.what().flag("linear_before_reset", false);
  r.run(
      [&]() -> recurrence::cell {
        int const first = r.recurrent_matrix(0, product_first ? 3 : 2);
        int const second = product_first ? -1 : r.recurrent_matrix(2, 1);
        int const reset_bias = product_first ? r.vector_of(bias, "B", 5) : -1;
        return [=](recurrence& of, int x, int& h, int&) {
          std::vector<int> const w = of.parts(x, {2, 1});
          int const m = of.product(h, first);
          std::vector<int> const u = product_first ? of.parts(m, {2, 1}) : std::vector<int>{m, -1};
          std::vector<int> const both = of.parts(of.activated(0, of.add(w[0], u[0])), {1, 1});
          int const update = both[0], reset = both[1];
          int const before =
              product_first ? of.times(reset, of.add(u[1], reset_bias)) : of.product(of.times(reset, h), second);
          int const fresh = of.activated(1, of.add(w[1], before));
          h = of.add(fresh, of.times(update, of.subtract(h, fresh)));  // (1 - update) fresh + update h
        };
      },
      false);
}

void long_short_term_memory(parts_of_operation& p) {
  recurrence r(p, 4, {"Sigmoid", "Tanh", "Tanh"});
  bool const coupled = p.what().flag("input_forget", false);
  r.run(
      [&]() -> recurrence::cell {
        int const matrix = r.recurrent_matrix(0, 4);
        int const of_i = r.vector_of(peepholes, "P", 0), of_o = r.vector_of(peepholes, "P", 1);
        int const of_f = coupled ? -1 : r.vector_of(peepholes, "P", 2);
        return [=](recurrence& of, int x, int& h, int& c) {
          std::vector<int> const g = of.parts(of.add(x, of.product(h, matrix)), {1, 1, 1, 1});  // i, o, f, c
          int const i = of.activated(0, of.add(g[0], of.times(of_i, c)));
          int f = -1;
          if (c >= 0)
            f = coupled ? of.p.make("Sub", {of.p.number(1), i}) : of.activated(0, of.add(g[2], of.times(of_f, c)));
          c = of.add(of.times(f, c), of.times(i, of.activated(1, g[3])));
          int const o = of.activated(0, of.add(g[1], of.times(of_o, c)));
          h = of.times(o, of.activated(2, c));
        };
      },
      true);
}

}  // namespace ago::onnx::expansion
