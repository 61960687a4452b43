// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as a problem for the tuner: its choices, and its time on this machine.
#pragma once

#include <ago/runtime/team.hpp>
#include <ago/tuner/analytic_cost.hpp>
#include <ago/tuner/live_plan.hpp>
#include <ago/tuner/live_program.hpp>
#include <ago/tuner/network_choices.hpp>
#include <ago/tuner/paired_timing.hpp>
#include <ago/tuner/realised.hpp>
#include <ago/tuner/sample_data.hpp>
#include <ago/tuner/search/composition.hpp>
#include <ago/tuner/step_times.hpp>
#include <ago/tuner/subject.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace ago::tuner {

/// What a network is timed with.
struct samples {
  std::vector<float> weights;
  std::vector<std::vector<float>> inputs;  ///< one vector for each input
};
/// Seeded samples.
template <auto const& Net, options_for Options>
samples samples_of() {
  return {sample_parameters<Net>(), sample_inputs(formed<Net, Options>::graph)};
}

/// Candidates run with the kernels of menu<Net, Options>, the same as those of a model with the same schedules, and are
/// measured by `Clock`.
template <auto const& Net, options_for Options = options{}, class Clock = std::chrono::steady_clock>
class network_problem : public subject {
 public:
  using plan_type = live_plan<Net, Options>;
  using program_type = live_program<plan_type>;

  explicit network_problem(std::string name = network_name<Net>(), samples with = samples_of<Net, Options>(),
                           menu_view const& kernels = menu<Net, Options>::view())
      : name_(std::move(name)), menu_(kernels), weights_(std::move(with.weights)), inputs_(std::move(with.inputs)) {
    for (int k = 0; k < formed::graph.output_count; ++k)
      outputs_.emplace_back(std::size_t(formed::graph.nodes[formed::graph.outputs[k]].out.count()));
    for (std::vector<float> const& x : inputs_) in_.push_back(x.data());
    in_.push_back(weights_.data());  // which are read there if they are trained
    for (std::vector<float>& x : outputs_) out_.push_back(x.data());
  }

  std::vector<choice> const& choices() const override { return choices_.choices(); }
  std::vector<region> const& minis() const override { return choices_.minis(); }
  std::vector<region> const& subgraphs() const override { return choices_.subgraphs(); }
  std::string network() const override { return name_; }
  std::string instruction_set() const override {
    std::string const target = name_of(Options.target);
    return Options.device.threads == 1 ? target : target + ", " + std::to_string(Options.device.threads) + " threads";
  }

  bool has_signature(std::uint64_t signature) const override {
    int i = 0;
    while (i < choices_type::steps::count && choices_type::steps::signature(i) != signature) ++i;
    return i < choices_type::steps::count;
  }

  bool feasible(candidate const& c) override { return is_candidate(c) && verdict_of(c).feasible; }
  double predicted(candidate const& c) override { return verdict_of(c).seconds; }

  /// Candidates that lead to the same plan are equally fast, and are not run. Others swap their places in memory a few
  /// times during the measurement.
  comparison measure(candidate const& contender, candidate const& incumbent, int runs) override {
    program_type const& original = incumbent_program(incumbent);
    if (realised_of(contender).plan->same_as(original.plan())) return equals();
    std::shared_ptr<place_type> here = place(0, contender, incumbent), there = place(1, contender, incumbent);
    std::unique_ptr<program_type> a = make(contender, &original, here), b = make(incumbent, &original, there);
    if (!admits(contender, *a)) return equals();
    auto const exchange = [&] {
      a = make(contender, a.get(), there);
      b = make(incumbent, &original, here);
      std::swap(here, there);
    };
    comparison const r = compare<Clock>([&] { run(*a); }, [&] { run(*b); }, runs, exchange);
    seconds_ = r.incumbent;
    return r;
  }

  /// The schedules that `c` leads to.
  std::vector<tuned_schedule> to_table(candidate const& c) { return realised_of(c).table.entries(); }
  std::vector<entry> table(candidate const& c) override {
    std::vector<entry> all;
    plan_type const& plan = *realised_of(c).plan;
    for (tuned_schedule const& t : to_table(c)) {
      int i = 0;
      while (plan.part(i).signature != t.signature) ++i;
      all.push_back({t, choices_type::name_of_parts(t.signature) + ": " + in_words(t.best, loop_order(plan.part(i)))});
    }
    return all;
  }

  /// Steps are combined until both plans have a step boundary on either side.
  std::vector<step_report> steps(candidate const& tuned, int runs) override {
    std::unique_ptr<program_type> const first = make(candidate_of_usual(), nullptr), second = make(tuned, first.get());
    std::vector<std::vector<double>> a(std::size_t(first->plan().steps())), b(std::size_t(second -> plan().steps()));
    auto const run_of = [&](program_type const& p) {
      return [&](int k) { p.run_step(k, in_.data(), out_.data(), workers_); };
    };
    run(*first), run(*second);
    for (int r = 0; r < runs; ++r) {
      time_steps(run_of(*first), a);
      time_steps(run_of(*second), b);
    }
    std::vector<step_report> all;
    for (int i = 0, k = 0, part = 0; part < formed::parts.count;) {
      step_report r;
      int const begin = part;
      do {
        if (first->plan().first_part(i) <= second->plan().first_part(k)) r.usual += median(a[std::size_t(i++)]);
        else add_step(r, second->plan(), k), r.tuned += median(b[std::size_t(k++)]);
      } while (first->plan().first_part(i) != second->plan().first_part(k) || r.tuned == 0);
      part = first->plan().first_part(i);
      for (int p = begin; p < part; ++p)
        r.name += (p > begin ? "; " : "") + std::to_string(p) + ": " + in_words(formed::graph, formed::parts.step[p]);
      all.push_back(std::move(r));
    }
    return all;
  }

  /// Runs a candidate once on the sample inputs and returns its outputs, concatenated.
  std::vector<float> result_of(candidate const& c) {
    for (std::vector<float>& x : outputs_) std::fill(x.begin(), x.end(), 0.f);
    run(*make(c, nullptr));
    std::vector<float> all;
    for (std::vector<float> const& x : outputs_) all.insert(all.end(), x.begin(), x.end());
    return all;
  }
  std::vector<float> const& weights() const { return weights_; }
  std::vector<std::vector<float>> const& inputs() const { return inputs_; }

 protected:
  /// Runs a program on the samples.
  virtual void run(program_type& p) { p.run(in_.data(), out_.data(), workers_); }
  /// Shall this contender be timed? Otherwise it counts as equal to the incumbent.
  virtual bool admits(candidate const&, program_type&) { return true; }

  std::unique_ptr<program_type> make(candidate const& c, program_type const* like,
                                     std::shared_ptr<typename program_type::place_type> where = nullptr) {
    auto p = program_type::make(realised_of(c).plan, menu_, weights_, like, std::move(where));
    if (!p) throw std::invalid_argument("a candidate of " + name_ + " needs a kernel that is not in the menu");
    return p;
  }
  candidate candidate_of_usual() const { return usual(choices()); }
  std::vector<std::vector<float>>& outputs() { return outputs_; }

 private:
  using choices_type = network_choices<Net, Options>;
  using formed = typename choices_type::formed;
  using place_type = typename program_type::place_type;
  using realised_type = realised<Net, Options>;
  struct packed_candidate {
    candidate which;
    std::unique_ptr<program_type> program;
  };
  struct verdict {
    bool feasible;
    double seconds;  ///< predicted
  };

  bool is_candidate(candidate const& c) const {
    bool fits = c.size() == choices().size();
    for (std::size_t k = 0; fits && k < c.size(); ++k) fits = c[k] < choices()[k].options.size();
    return fits;
  }

  /// Plans are cached, since they are needed several times.
  realised_type const& realised_of(candidate const& c) {
    for (auto const& [which, r] : plans_)
      if (which == c) return *r;
    if (!is_candidate(c)) throw std::invalid_argument("a candidate must have one option for each choice of " + name_);
    if (plans_.size() == 64) plans_.pop_back();
    plans_.emplace_front(c, std::make_unique<realised_type>(realise<Net, Options>(choices_.table(c), menu_)));
    return *plans_.front().second;
  }

  /// Verdicts are cached, since searches query the same candidates repeatedly, and planning is most of the work.
  verdict verdict_of(candidate const& c) {
    if (auto const known = verdicts_.find(c); known != verdicts_.end()) return known->second;
    if (verdicts_.size() == most_verdicts) verdicts_.clear();
    realised_type const& r = realised_of(c);
    return verdicts_.emplace(c, verdict{r.feasible, predicted_seconds(*r.plan)}).first->second;
  }

  /// The packed incumbent, to copy from; it is not timed.
  program_type const& incumbent_program(candidate const& c) {
    if (incumbent_.program && incumbent_.which == c) return *incumbent_.program;
    std::unique_ptr<program_type> next = make(c, incumbent_.program.get(), place(vacant_, c, c));
    incumbent_ = {c, std::move(next)};
    vacant_ = vacant_ == 2 ? 3 : 2;
    seconds_ = 0;
    return *incumbent_.program;
  }
  /// Places in memory: 0 and 1 for the programs that are timed, 2 and 3 for incumbents to copy from. They are kept,
  /// since clearing the pages of a new one takes an operating system longer than packing a program; they are slightly
  /// larger than requested, so that few programs outgrow them.
  std::shared_ptr<place_type> place(int number, candidate const& a, candidate const& b) {
    std::size_t const floats =
        std::max(program_type::floats_of(*realised_of(a).plan), program_type::floats_of(*realised_of(b).plan));
    std::shared_ptr<place_type>& p = places_[number];
    if (!p || p->memory.floats() < floats) p = std::make_shared<place_type>(floats + floats / 4);
    return p;
  }
  comparison equals() {
    program_type& p = *incumbent_.program;
    if (seconds_ == 0) seconds_ = compare<Clock>([&] { run(p); }, [&] { run(p); }, 3).incumbent;
    return {seconds_, seconds_, seconds_, seconds_, .5, 0};
  }

  static void add_step(step_report& r, plan_type const& plan, int step) {
    if (!r.structure.empty()) r.structure += "; ";
    if (plan.tiling_of(step).how != tiling::none) r.structure += in_words(plan.tiling_of(step)) + ": ";
    for (int p = plan.first_part(step); p < plan.first_part(step + 1); ++p)
      r.structure += (p > plan.first_part(step) ? ", " : "") + in_words(plan.part(p));
    if (std::string const cut = in_words(plan.split_of(step)); !cut.empty()) r.structure += ", " + cut;
  }

  std::string name_;
  choices_type choices_;
  menu_view const& menu_;
  std::vector<float> weights_;
  std::vector<std::vector<float>> inputs_, outputs_;
  std::vector<float const*> in_;
  std::vector<float*> out_;
  std::deque<std::pair<candidate, std::unique_ptr<realised_type>>> plans_;
  /// Runs work items on the calling thread only.
  struct alone {
    explicit alone(int) {}
    void run(int pieces, auto const& piece) const {
      for (int i = 0; i < pieces; ++i) piece(i);
    }
  };
  std::conditional_t<(Options.device.threads > 1), team, alone> workers_{Options.device.threads};
  static constexpr std::size_t most_verdicts = 1 << 17;  // some 20 MB
  std::map<candidate, verdict, earlier> verdicts_;
  packed_candidate incumbent_;
  std::shared_ptr<place_type> places_[4];
  int vacant_ = 2;      ///< place of the next incumbent; the other one of 2 and 3 holds the current one
  double seconds_ = 0;  ///< time of the incumbent; 0: unknown
};

}  // namespace ago::tuner
