// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One network, computed by its variants and by other engines, which are compared, timed and reported.
#pragma once

#include "agreement.hpp"
#include "buffer.hpp"
#include "entry.hpp"
#include "free_cores.hpp"
#include "measure.hpp"
#include "parameters.hpp"
#include "peak.hpp"
#include "peers/peer.hpp"
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>

namespace bench {

/// What is timed in other engines: everything, or their layers without the changes of layout at the edges.
enum class timed { network, layer };

/// One of ago's variants, or a peer.
struct contestant {
  std::string name, choice;
  variant const* own = nullptr;
  std::unique_ptr<peer> engine{};
  buffer out;
  std::function<void()> run{};      ///< what is timed
  std::function<double()> clock{};  ///< times itself, see candidate
  timing time{};
  double difference = 0;
};

/// The detail of a record: everything, or what fits into a table of 100 columns. (Contestants that differ too much are
/// reported separately, see contest::agrees.)
enum class detail { full, brief };

/// The unit of times in reports.
struct time_unit {
  char const *median, *minimum;  ///< names of the fields
  double per_second;
};
inline constexpr time_unit milliseconds{"median_ms", "min_ms", 1e3}, microseconds{"median_us", "min_us", 1e6};

/// `entry` must outlive it. All others are compared with the first variant. `cores`: what must be free while something
/// is timed; null: nothing.
class contest {
 public:
  contest(entry const& e, std::string name, free_cores* cores = nullptr)
      : entry_{e}, name_{std::move(name)}, cores_{cores}, in_{input_size()} {
    parameters_.assign(e.parameters.begin(), e.parameters.end());
    if (parameters_.empty()) parameters_ = make_parameters(e.graph, 1);
    make_inputs(e.graph, 2, in_.span());
    for (variant const& v : entry_.variants) {
      contestant c{.name = v.name, .choice = {}, .own = &v, .out = buffer(output_size())};
      c.run = v.prepare(parameters_, in_.data(), c.out.data(), 0);
      contestants_.push_back(std::move(c));
    }
  }

  /// Enters the engines found at build time; reports why one does not take part.
  void enter_peers(int threads, timed what = timed::network) {
    threads_ = threads;
    std::vector<peer_option> const options = peer_options();
    if (options.empty()) return;
    if (entry_.graph.input_count != 1 || entry_.graph.outputs.size() != 1)
      throw std::logic_error(name_ + " has several inputs or outputs, which is not supported with these engines");
    try {
      layers_ = fuse_layers(entry_.graph, parameters_);
    } catch (unsupported const& why) {
      std::set<std::string> engines;
      for (peer_option const& option : options) engines.insert(option.engine);
      for (std::string const& engine : engines) leave_out(engine, why);
      return;
    }
    for (peer_option const& option : options)
      enter(option.engine, option.choice, what,
            [&](peer_memory memory) { return option.load(layers_, memory, threads); });
  }

  /// Enters the engine that `load` returns when called with the memory to read and to write; reports why it does not
  /// take part. Several inputs or outputs are concatenated.
  template <class Load>
  void enter(std::string engine, std::string choice, timed what, Load const& load) try {
    contestant c{.name = engine, .choice = choice, .out = buffer(output_size())};
    float* const in = in_.data();
    float* const out = c.out.data();
    c.engine = load(peer_memory{{&in, 1}, {&out, 1}});
    c.run = [engine = c.engine.get(), what] { what == timed::layer ? engine->run_layer() : engine->run(); };
    c.clock = c.engine->clock();
    contestants_.push_back(std::move(c));
  } catch (unsupported const& why) { leave_out(choice.empty() ? engine : engine + " (" + choice + ')', why); }

  /// Reports every contestant whose results differ from the first one's.
  bool agrees() {
    for (contestant& c : contestants_) {
      std::fill(c.out.span().begin(), c.out.span().end(), std::numeric_limits<float>::quiet_NaN());
      c.engine ? c.engine->run() : c.run();
    }
    for (contestant& c : contestants_) c.difference = difference(contestants_.front().out.span(), c.out.span());
    bool all = true;
    for (contestant const& c : contestants_) {
      if (c.difference <= tolerance) continue;
      std::string const who = c.choice.empty() ? c.name : c.name + " (" + c.choice + ')';
      std::fprintf(stderr, "%s: %s and %s do not agree: difference %g of the largest output\n", name_.c_str(),
                   who.c_str(), contestants_.front().name.c_str(), c.difference);
      all = false;
    }
    return all;
  }

  /// `repetitions` of each, divided among `placements`. Before each placement but the first, ago's variants get random
  /// new places in memory: which of a program's values conflict in the caches is a matter of luck that lasts as long as
  /// they stay in place. Other engines are not moved, because they place their memory themselves.
  void run(int repetitions, int placements = 1) {
    std::vector<std::vector<double>> seconds(contestants_.size() + 1);
    for (int p = 0; p < placements; ++p) {
      if (p > 0) place_again(p);
      std::vector<candidate> candidates{{"peak", [this] { peak_operations_ = peak_loop(); }}};
      for (contestant const& c : contestants_) candidates.push_back({c.name, c.run, c.clock});
      for (std::size_t i = 1; i < candidates.size() && cores_; ++i)
        candidates[i].undisturbed = [this] { return (*cores_)(); };
      auto const more = sample(candidates, (repetitions + placements - 1) / placements);
      for (std::size_t i = 0; i < more.size(); ++i) seconds[i].insert(seconds[i].end(), more[i].begin(), more[i].end());
    }
    peak_ = peak_operations_ / summarise(std::move(seconds[0])).median;
    for (std::size_t i = 0; i < contestants_.size(); ++i) contestants_[i].time = summarise(std::move(seconds[i + 1]));
  }

  /// A rough time of each, the minimum of a few runs in a row: good enough for a choice, not to be published.
  void try_out(int runs) {
    using clock = std::chrono::steady_clock;
    for (contestant& c : contestants_) {
      c.time = {HUGE_VAL, HUGE_VAL};
      for (int i = 0; i < runs; ++i) {
        auto const start = clock::now();
        c.run();
        double const seconds = std::chrono::duration<double>(clock::now() - start).count();
        c.time.median = c.time.minimum = std::min(c.time.minimum, seconds);
      }
    }
  }

  std::vector<contestant> const& contestants() const { return contestants_; }
  std::span<float const> parameters() const { return parameters_; }
  std::span<float const> input() const { return in_.span(); }
  std::size_t output_size() const {
    std::size_t sum = 0;
    for (int const v : entry_.graph.outputs) sum += size_of(v);
    return sum;
  }
  /// Floating-point operations per second of multiply-adds in registers, measured together with the contestants.
  double peak() const { return peak_; }

  /// A record for each variant and for the best choice of each engine. Each begins with `subject`.
  std::vector<record> records(record const& subject, time_unit unit, detail level = detail::full) const {
    std::vector<record> all;
    for (contestant const& c : contestants_)
      if (is_best_choice(c)) all.push_back(describe(c, subject, unit, level));
    return all;
  }

 private:
  std::size_t size_of(int v) const { return std::size_t(entry_.graph.node(v).out.count()); }
  std::size_t input_size() const {
    std::size_t sum = 0;
    for (int v = 0; v < entry_.graph.input_count; ++v) sum += size_of(v);
    return sum;
  }

  void place_again(int placement) {
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      contestant& c = contestants_[i];
      if (!c.own) continue;
      auto const line = std::size_t(uniform(std::uint64_t(placement), i, 0, 1 << 14));
      c.run = nullptr;
      c.run = c.own->prepare(parameters_, in_.data(), c.out.data(), 64 * line);
    }
  }

  void leave_out(std::string const& engine, unsupported const& why) const {
    std::fprintf(stderr, "%s: no %s: %s\n", name_.c_str(), engine.c_str(), why.what());
  }

  /// Whether no faster choice of the same engine exists.
  bool is_best_choice(contestant const& c) const {
    return std::none_of(contestants_.begin(), contestants_.end(), [&](contestant const& other) {
      return other.name == c.name && other.time.median < c.time.median;
    });
  }

  record describe(contestant const& c, record all, time_unit unit, detail level) const {
    double const rate = 2. * double(entry_.graph.multiply_adds()) / c.time.median;
    contestant const* const ours = contestants_.front().own ? &contestants_.front() : nullptr;
    auto const number = [&](char const* name, auto value) {
      return c.own ? field(name, long(value(*c.own))) : field(name);
    };
    auto const relative = [&](char const* name, double timing::* t) {
      return !ours || &c == ours ? field(name) : field(name, c.time.*t / (ours->time.*t), "%.3f");
    };
    auto const sum_of_steps = [&](char const* name, double step_account::* what, double unit) {
      if (!c.own || c.own->accounts.empty()) return field(name);
      double sum = 0;
      for (step_account const& s : c.own->accounts) sum += s.*what;
      return field(name, sum * unit, "%.3f");
    };
    std::vector<field> const measured = {
        {"variant", c.name},
        c.choice.empty() ? field("choice") : field("choice", c.choice),
        {"isa", c.own ? name_of(c.own->target) : "at run time"},
        {"threads", long(c.own ? c.own->threads : threads_)},
        {unit.median, c.time.median * unit.per_second, "%.4f"},
        {unit.minimum, c.time.minimum * unit.per_second, "%.4f"},
        {"gflops", rate * 1e-9, "%.2f"},
        {"percent_of_peak", 100 * rate / peak_, "%.1f"},
        {"peak_gflops", peak_ * 1e-9, "%.1f"},
        relative("ratio", &timing::median),
        relative("ratio_min", &timing::minimum),
        {"difference", c.difference, "%.1e"},
        number("arena_bytes", [](variant const& v) { return v.arena_bytes; }),
        number("weight_bytes", [](variant const& v) { return v.weight_bytes; }),
        number("subgraphs", [](variant const& v) { return v.subgraphs; }),
        number("steps", [](variant const& v) { return v.steps; }),
        sum_of_steps("predicted_ms", &step_account::predicted_cycles,
                     c.own ? 1e3 * predicted_seconds(*c.own, 1, peak_) : 0),
        sum_of_steps("moved_mb", &step_account::moved_bytes, 1e-6),
        c.own && c.own->is_first ? field("same", 1L) : field("same"),
    };
    static std::set<std::string> const in_full{"choice",       "isa",        "threads",      "gflops",
                                               "peak_gflops",  "difference", "weight_bytes", "subgraphs",
                                               "predicted_ms", "moved_mb",   "same"};
    if (cores_ && ours) all.push_back({"speedup", ours->time.median / c.time.median, "%.3f"});
    for (field const& f : measured)
      if (level == detail::full || !in_full.count(f.name)) all.push_back(f);
    return all;
  }

  entry const& entry_;
  std::string name_;
  free_cores* cores_;
  int threads_ = 1;
  std::vector<float> parameters_;
  buffer in_;
  layer_list layers_;
  std::vector<contestant> contestants_;
  double peak_operations_ = 0, peak_ = 0;
};

}  // namespace bench
