// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When parameters are updated, and where their gradients are until then: programs of random accesses, step by step.
#include <ago/learning/update_plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using namespace ago;
using namespace ago::learning;
using plan::place;

constexpr int rows = 24;
using table = lowering::parameter_table<rows>;
using uses = trained_rows<rows>;

/// What steps do with parameters and outputs.
struct accesses {
  enum class kind { read, pack, write, read_output };
  struct access {
    int step;
    kind what;
    int row;  ///< -1: the loss
    bool operator==(access const&) const = default;
  };
  static constexpr int inputs = 2;
  table const& parameters;
  uses const& use;
  std::vector<access> all;      ///< in the order of steps
  std::vector<bool> is_second;  ///< of steps: with the one before

  waits waits_of(int step) const { return is_second[std::size_t(step)] ? waits::nothing : waits::all; }
  int output_of(int row) const {
    int r = 0;
    for (int i = 0; i <= row; ++i) r += use.use[i] != row_use::frozen;
    return r;
  }
  void for_each_access(auto const& read, auto const& packed, auto const& written) const {
    for (access const& a : all) {
      place const output{place::area::output, std::uint16_t(output_of(a.row))};
      if (a.what == kind::write) written(a.step, output);
      if (a.what == kind::read_output) read(a.step, output, shape{});
      if (a.row < 0) continue;
      int const offset = parameters[a.row].offset;
      if (a.what == kind::read)
        read(a.step, place{place::area::input, inputs, offset, parameters[a.row].count()},
             shape{1, 1, 1, parameters[a.row].count()});
      if (a.what == kind::pack) packed(a.step, plan::parameter_source{.weight = offset});
    }
  }
};

struct random_case {
  std::mt19937 random;
  table parameters;
  uses use;
  accesses of{parameters, use, {}, {}};
  int steps = 60;

  int draw(int low, int high) { return std::uniform_int_distribution(low, high)(random); }

  explicit random_case(unsigned seed) : random(seed) {
    int offset = 0;
    for (int i = 0; i < rows; ++i) {
      int const count = draw(0, 5) == 0 ? draw(200, 2000) : draw(1, 99);
      parameters.rows[i].dims[0] = count;
      parameters.rows[i].rank = 1;
      parameters.rows[i].offset = offset;
      offset += count;
      use.use[i] = draw(0, 4) == 0 ? row_use::frozen : draw(0, 4) == 0 ? row_use::statistic : row_use::trained;
    }
    using kind = accesses::kind;
    int const loss = draw(0, 20);
    of.all.push_back({loss, kind::write, -1});
    for (int i = 0; i < rows; ++i) {
      for (int k = draw(1, 3); k > 0; --k)
        of.all.push_back({draw(0, steps - 1), draw(0, 1) ? kind::read : kind::pack, i});
      if (use.use[i] == row_use::frozen) continue;
      int const first = draw(5, steps - 1), last = std::min(steps - 1, first + draw(0, 3));
      for (int const k : {first, last}) of.all.push_back({k, kind::write, i});
      if (draw(0, 2) == 0) of.all.push_back({std::min(steps - 1, last + draw(0, 9)), kind::read_output, i});
    }
    std::ranges::stable_sort(of.all, {}, &accesses::access::step);
    for (int k = 0; k < steps; ++k) of.is_second.push_back(k > 0 && !of.is_second.back() && draw(0, 3) == 0);
  }
};

/// Runs the steps on memory in which every float of a gradient has the number of its row.
struct simulation {
  random_case const& c;
  update_plan<rows> plan = plan_updates(c.of, c.parameters, c.use);
  std::vector<std::vector<int>> own{std::size_t(rows + 1)};
  std::vector<float> memory =
      std::vector<float>(std::size_t(rows + 2) * 4000);  ///< of outputs; only its addresses count
  int shared = 0;

  update_plan<rows>::update const* update_of(int row) const {
    for (int i = 0; i < plan.count; ++i)
      if (plan.all[i].row == row) return &plan.all[i];
    return nullptr;
  }
  /// Where a gradient is, all of which is in the memory of one.
  int* memory_of(int row) {
    auto const* const u = update_of(row);
    int const count = c.parameters[row].count();
    bool const shares = u && u->at >= 0;
    int owner = row;
    if (shares)
      for (owner = 0; c.of.output_of(owner) != plan.largest || c.use.use[owner] == row_use::frozen;) ++owner;
    std::vector<int>& all = own[std::size_t(owner)];
    all.resize(std::size_t(c.parameters[owner].count()), -1);
    int const at = shares ? u->at : 0;
    CHECK(at + count <= int(all.size()));
    return all.data() + at;
  }
  bool has(int row) {
    int const* const at = memory_of(row);
    return std::all_of(at, at + c.parameters[row].count(), [&](int x) { return x == row; });
  }
  void run() {
    std::vector<bool> updated(rows), written(rows);
    bool has_loss = false;
    float* outputs[rows + 2];
    for (int i = 0; i < rows + 2; ++i) outputs[i] = memory.data() + 4000 * i;
    std::vector<float*> const usual(outputs, outputs + rows + 2);
    auto const run_step = [&](int k) {
      for (accesses::access const& a : c.of.all) {
        if (a.step - c.of.is_second[std::size_t(a.step)] != k) continue;  // the first of two in one pass runs both
        if (a.row < 0) has_loss = true;
        else if (a.what == accesses::kind::write) {
          std::fill_n(memory_of(a.row), c.parameters[a.row].count(), a.row);
          written[std::size_t(a.row)] = true;
        } else if (a.what == accesses::kind::read_output) CHECK(has(a.row));
        else CHECK_FALSE(updated[std::size_t(a.row)]);
      }
    };
    plan.run(c.steps, outputs, run_step, [&](int row, float const* gradient) {
      int const at = update_of(row)->at, output = c.of.output_of(row);
      CHECK(gradient == (at < 0 ? usual[std::size_t(output)] : usual[std::size_t(plan.largest)] + at));
      CHECK(gradient == outputs[output]);
      CHECK(has_loss);
      CHECK(written[std::size_t(row)]);
      CHECK(has(row));
      CHECK_FALSE(updated[std::size_t(row)]);
      updated[std::size_t(row)] = true;
      shared += at >= 0;
    });
    for (int i = 0; i < rows; ++i) {
      CHECK(updated[std::size_t(i)] == (c.use.use[i] == row_use::trained));
      if (c.use.use[i] == row_use::statistic) CHECK(has(i));
    }
  }
};

}  // namespace

TEST_CASE("parameters are updated when nothing reads them any more, by gradients that nothing has overwritten") {
  int shared = 0, trained = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    random_case const c(seed);
    simulation s{c};
    s.run();
    shared += s.shared;
    trained += s.plan.count;
  }
  CHECK(3 * shared > trained);
}

TEST_CASE("a parameter is updated after the last step that reads it, writes its gradient, or knows the loss first") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    random_case const c(seed);
    update_plan<rows> const plan = plan_updates(c.of, c.parameters, c.use);
    for (int i = 0; i < plan.count; ++i) {
      int last = 0;
      for (accesses::access const& a : c.of.all)
        if (a.row < 0 || (a.row == plan.all[i].row && a.what != accesses::kind::read_output))
          last = std::max(last, a.step);
      CHECK(plan.all[i].after == last);
    }
  }
}
