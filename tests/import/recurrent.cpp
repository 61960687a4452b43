// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RNN, GRU and LSTM, compared with their equations as plain loops, and what all steps share.
#include "executed.hpp"
#include "onnx/single.hpp"

#include <functional>

using namespace ago_test;

namespace {

using numbers = std::vector<double>;
using function = std::function<double(double)>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double tanh_of(double x) { return std::tanh(x); }

/// A recurrent operator, its inputs, and what ONNX defines as its outputs.
struct recurrent {
  std::string type = "LSTM";
  std::int64_t steps = 3, batch = 2, inputs = 4, units = 5;
  std::string direction = "forward";
  bool bias = true, state = true, peepholes = false, batch_first = false;
  bool linear_before_reset = false, input_forget = false;
  float clip = 0;
  std::vector<std::string> activations = {};
  floats alpha = {}, beta = {};
  std::vector<function> functions = {};  ///< what the activations are
  std::vector<std::string> wanted = {"Y", "Y_h", "Y_c"};
  bool lengths = false;

  std::int64_t gates() const { return type == "LSTM" ? 4 : type == "GRU" ? 3 : 1; }
  std::int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  std::vector<function> usual() const {
    if (type == "LSTM") return {sigmoid, tanh_of, tanh_of};
    if (type == "GRU") return {sigmoid, tanh_of};
    return {tanh_of};
  }

  floats x() const { return random_numbers(steps * batch * inputs, 1); }
  floats w() const { return random_numbers(directions() * gates() * units * inputs, 2); }
  floats r() const { return random_numbers(directions() * gates() * units * units, 3); }
  floats b() const { return random_numbers(directions() * 2 * gates() * units, 4); }
  floats h0() const { return random_numbers(directions() * batch * units, 5); }
  floats c0() const { return random_numbers(directions() * batch * units, 6); }
  floats p() const { return random_numbers(directions() * 3 * units, 7); }

  ago_test::network network() const {
    std::int64_t const d = directions(), rows = gates() * units;
    ago_test::network net(14);
    net.input("x", batch_first ? ints{batch, steps, inputs} : ints{steps, batch, inputs});
    net.constant("w", {d, rows, inputs}, w()).constant("r", {d, rows, units}, r()).constant("b", {d, 2 * rows}, b());
    net.list("lengths", ints(std::size_t(batch), steps)).constant("p", {d, 3 * units}, p());
    ints const of_state = batch_first ? ints{batch, d, units} : ints{d, batch, units};
    if (state) net.input("h0", of_state);
    if (state && type == "LSTM") net.input("c0", of_state);
    names operands{"x", "w", "r", bias ? "b" : "", lengths ? "lengths" : "", state ? "h0" : ""};
    if (type == "LSTM") operands.insert(operands.end(), {state ? "c0" : "", peepholes ? "p" : ""});
    while (operands.back().empty()) operands.pop_back();
    node n = net.node(type, operands, outputs());
    n.named("op").set("hidden_size", units).set("direction", direction.c_str()).set("layout", int(batch_first));
    if (type == "GRU") n.set("linear_before_reset", int(linear_before_reset));
    if (type == "LSTM") n.set("input_forget", int(input_forget));
    if (clip > 0) n.set("clip", clip);
    if (!alpha.empty()) n.set("activation_alpha", alpha);
    if (!beta.empty()) n.set("activation_beta", beta);
    if (!activations.empty()) n.set("activations", activations);
    for (auto const& name : outputs())
      if (!name.empty()) net.output(name);
    return net;
  }
  /// As the node lists them: empty if nothing reads them.
  names outputs() const {
    names r;
    for (char const* name : {"Y", "Y_h", "Y_c"})
      if (type == "LSTM" || name[1] == 0 || name[2] == 'h')
        r.push_back(std::count(wanted.begin(), wanted.end(), name) ? name : "");
    return r;
  }

  /// Where the state of a direction and a sequence begins.
  std::size_t state_at(std::int64_t d, std::int64_t n) const {
    return std::size_t((batch_first ? n * directions() + d : d * batch + n) * units);
  }

  results expected() const {
    std::int64_t const d_count = directions();
    results all(3);
    all[0].resize(std::size_t(steps * d_count * batch * units));
    all[1].resize(std::size_t(d_count * batch * units));
    all[2] = all[1];
    floats const x0 = x(), h_given = h0(), c_given = c0();
    for (std::int64_t d = 0; d < d_count; ++d)
      for (std::int64_t n = 0; n < batch; ++n) {
        numbers h(std::size_t(units), 0), c = h;
        for (std::size_t u = 0; u < h.size() && state; ++u) {
          h[u] = double(h_given[state_at(d, n) + u]);
          c[u] = double(c_given[state_at(d, n) + u]);
        }
        for (std::int64_t i = 0; i < steps; ++i) {
          bool const backwards = direction == "reverse" || d == 1;
          std::int64_t const t = backwards ? steps - 1 - i : i;
          float const* row = x0.data() + (batch_first ? n * steps + t : t * batch + n) * inputs;
          step(d, row, h, c);
          std::int64_t const at = batch_first ? (n * steps + t) * d_count + d : (t * d_count + d) * batch + n;
          std::copy(h.begin(), h.end(), all[0].begin() + at * units);
        }
        std::copy(h.begin(), h.end(), all[1].begin() + std::ptrdiff_t(state_at(d, n)));
        std::copy(c.begin(), c.end(), all[2].begin() + std::ptrdiff_t(state_at(d, n)));
      }
    return all;
  }

 private:
  /// W x + Wb, or R h + Rb, of gate g and unit u.
  double input_sum(std::int64_t d, std::int64_t g, std::int64_t u, float const* row) const {
    floats const all = w(), shift = b();
    std::int64_t const at = (d * gates() + g) * units + u;
    double sum = bias ? double(shift[std::size_t((d * 2 * gates() + g) * units + u)]) : 0;
    for (std::int64_t k = 0; k < inputs; ++k) sum += double(all[std::size_t(at * inputs + k)]) * double(row[k]);
    return sum;
  }
  double state_sum(std::int64_t d, std::int64_t g, std::int64_t u, numbers const& h) const {
    floats const all = r(), shift = b();
    std::int64_t const at = (d * gates() + g) * units + u;
    double sum = bias ? double(shift[std::size_t((d * 2 * gates() + gates() + g) * units + u)]) : 0;
    for (std::int64_t k = 0; k < units; ++k) sum += double(all[std::size_t(at * units + k)]) * h[std::size_t(k)];
    return sum;
  }
  double peephole(std::int64_t d, std::int64_t gate, std::int64_t u) const {
    return peepholes ? double(p()[std::size_t((d * 3 + gate) * units + u)]) : 0;
  }
  double act(std::int64_t d, std::size_t which, double v) const {
    if (clip > 0) v = std::clamp(v, -double(clip), double(clip));
    auto const all = functions.empty() ? usual() : functions;
    return all[(std::size_t(d) * usual().size() + which) % all.size()](v);
  }

  void step(std::int64_t d, float const* row, numbers& h, numbers& c) const {
    numbers next(h.size()), reset(h.size());
    for (std::int64_t u = 0; u < units && type == "GRU"; ++u)
      reset[std::size_t(u)] = act(d, 0, input_sum(d, 1, u, row) + state_sum(d, 1, u, h)) * h[std::size_t(u)];
    for (std::int64_t u = 0; u < units; ++u) {
      std::size_t const at = std::size_t(u);
      auto const sum = [&](std::int64_t gate) { return input_sum(d, gate, u, row) + state_sum(d, gate, u, h); };
      if (type == "RNN") next[at] = act(d, 0, sum(0));
      if (type == "GRU") {
        double const z = act(d, 0, sum(0)), r = act(d, 0, sum(1));
        double const before = linear_before_reset ? r * state_sum(d, 2, u, h) : state_sum(d, 2, u, reset);
        next[at] = (1 - z) * act(d, 1, input_sum(d, 2, u, row) + before) + z * h[at];
      }
      if (type == "LSTM") {
        double const i = act(d, 0, sum(0) + peephole(d, 0, u) * c[at]);
        double const f = input_forget ? 1 - i : act(d, 0, sum(2) + peephole(d, 2, u) * c[at]);
        c[at] = f * c[at] + i * act(d, 1, sum(3));
        next[at] = act(d, 0, sum(1) + peephole(d, 1, u) * c[at]) * act(d, 2, c[at]);
      }
    }
    h = next;
  }
};

void check(recurrent const& r) {
  CAPTURE(r.type);
  CAPTURE(r.direction);
  std::vector<floats> inputs{r.x()};
  if (r.state) inputs.push_back(r.h0());
  if (r.state && r.type == "LSTM") inputs.push_back(r.c0());
  results const got = executed(r.network(), inputs), expected = r.expected();
  std::size_t k = 0;
  names const outputs = r.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].empty()) check_equal(got, expected[i], k++);
}

std::string refusal(recurrent const& r) { return r.network().complaint(); }

}  // namespace

TEST_CASE("recurrent operators follow their equations, in both directions, with either layout") {
  for (std::string const type : {"RNN", "GRU", "LSTM"})
    for (std::string const direction : {"forward", "reverse", "bidirectional"})
      for (bool const batch_first : {false, true})
        check({.type = type, .direction = direction, .batch_first = batch_first});
}

TEST_CASE("without biases or an initial state, these are zeros") {
  for (std::string const type : {"RNN", "GRU", "LSTM"})
    for (bool const bias : {false, true})
      check({.type = type, .steps = 4, .direction = "bidirectional", .bias = bias, .state = false});
  check({.type = "GRU", .state = false, .linear_before_reset = true});
  check({.steps = 1, .batch = 1, .state = false});
}

TEST_CASE("a GRU resets before or after its product") {
  for (bool const after : {false, true})
    for (std::int64_t const units : {1, 15, 16, 17})
      check({.type = "GRU", .units = units, .linear_before_reset = after});
}

TEST_CASE("an LSTM may have peepholes, and a forget gate that is what its input gate leaves") {
  for (bool const state : {false, true}) {
    check({.direction = "bidirectional", .state = state, .peepholes = true});
    check({.state = state, .input_forget = true});
    check({.state = state, .peepholes = true, .input_forget = true});
  }
}

TEST_CASE("what enters an activation may be clipped") {
  check({.type = "GRU", .clip = .3f});
  check({.peepholes = true, .clip = .3f});
}

TEST_CASE("activations may be others, with numbers of their own") {
  check(
      {.type = "RNN",
       .direction = "bidirectional",
       .activations = {"Relu", "LeakyRelu"},
       .alpha = {.2f},
       .functions = {[](double x) { return std::max(x, 0.); }, [](double x) { return x < 0 ? double(.2f) * x : x; }}});
  check({.activations = {"HardSigmoid", "Softsign", "Affine"},
         .alpha = {.1f, 0, 2},
         .beta = {.4f, 0, -1},
         .functions = {[](double x) { return std::clamp(double(.1f) * x + double(.4f), 0., 1.); },
                       [](double x) { return x / (1 + std::fabs(x)); }, [](double x) { return 2 * x - 1; }}});
  check({.type = "GRU",
         .activations = {"sigmoid", "ScaledTanh"},
         .alpha = {1.5f},
         .beta = {.5f},
         .functions = {sigmoid, [](double x) { return 1.5 * std::tanh(.5 * x); }}});
  check({.type = "GRU",
         .activations = {"HardSigmoid", "Elu"},
         .functions = {[](double x) { return std::clamp(double(.2f) * x + .5, 0., 1.); },
                       [](double x) { return x < 0 ? std::expm1(x) : x; }}});
}

TEST_CASE("each output alone") {
  for (char const* name : {"Y", "Y_h", "Y_c"}) check({.direction = "bidirectional", .wanted = {name}, .lengths = true});
}

TEST_CASE("an initial state of constant zeros costs nothing") {
  ago_test::network net(14);
  net.input("x", {1, 2, 3});
  net.constant("w", {1, 4, 3}, random_numbers(12, 1)).constant("r", {1, 4, 4}, random_numbers(16, 2));
  net.constant("zeros", {1, 2, 4}, floats(8, 0));
  net.node("RNN", {"x", "w", "r", "", "", "zeros"}, {"y"});
  net.output("y");
  CHECK(count<ago::importer::product_of>(lowered_of(net).network) == 0);
}

TEST_CASE("all steps of a recurrent operator read one copy of its weights") {
  recurrent const r{
      .steps = 9, .batch = 1, .inputs = 3, .units = 6, .state = false, .peepholes = true, .wanted = {"Y_h"}};
  auto const lowered = lowered_of(r.network());
  auto const& list = lowered.network;
  CHECK(ago::importer::written_text(lowered).weights.size() == std::size_t(4 * 6 * 3 + 4 * 6 * 6 + 4 * 6 + 3 * 6));
  CHECK(count<ago::importer::product_of>(list) == 8);
  CHECK(count<ago::linear>(list) == 1);
}

TEST_CASE("what recurrent operators do not support is named") {
  contains(refusal({.direction = "sideways"}), "node \"op\" (LSTM), direction: it is not one of forward, reverse");
  contains(refusal({.activations = {"Swirl", "Tanh", "Tanh"}}), "(LSTM), activations: \"swirl\" is not supported");
  contains(refusal({.type = "GRU", .activations = {"Tanh"}}), "(GRU), activations: 1 activations, expected 2");
  contains(refusal({.alpha = {1, 2}}), "activation_alpha: 2 numbers for 3 activations");
  contains(refusal({.steps = 2000}), "(LSTM): 2000 steps; at most 1024 are unrolled");

  std::vector<operand> all{in({4, 2, 3}), reals({1, 5, 3}, floats(15)), reals({1, 5, 5}, floats(25)), none(),
                           list({4, 3})};
  contains(complaint_of(14, "RNN", all), "(RNN), sequence_lens: a length of 3 of 4 steps; shorter sequences are not");
  all[4] = integers_in({2});
  contains(complaint_of(14, "RNN", all), "(RNN), sequence_lens: it is computed at run time");
  all.resize(3);
  all[2] = in({1, 5, 5});
  contains(complaint_of(14, "RNN", all), "(RNN), R: it is computed at run time");
  all[2] = reals({1, 4, 5}, floats(20));
  contains(complaint_of(14, "RNN", all), "(RNN), R: it has the shape [1,4,5], expected [1,5,5]");
  all[2] = reals({1, 5, 5}, floats(25));
  contains(complaint_of(14, "RNN", all, [](node& n) { n.set("hidden_size", 4); }), "hidden_size: it is 4, R is for 5");
  contains(complaint_of(13, "RNN", all, [](node& n) { n.set("layout", 1); }), "operator set 13 has no such attribute");
  contains(complaint_of(14, "RNN", all, [](node& n) { n.set("clip", -1.f); }), "clip: it is not positive");
}
