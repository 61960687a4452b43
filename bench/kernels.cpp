// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times the kernel of every distinct layer of the six networks, and single operators of other engines.
//
// Each layer (a convolution, depthwise, pointwise or linear operator with its bias and activation, or a pooling) is
// compiled as a network of its own, ago::model<one_layer<shape>>, with the default schedule. Its kernel is the one that
// a whole network with such a layer would run, unless a tuned schedule or fusion changes it there. The caches are as
// the layer's own last run leaves them, so figures are slightly better than within a network.
//
// Other engines run the same operator in the layout they prefer, with the activation fused if they can (XNNPACK: SiLU
// by two more operators). oneDNN's changes of layout from and to NHWC are not timed, and the fastest of NHWC,
// its blocked layout and its own choice counts.
//
// The peak is a loop of multiply-adds in registers. In a table, it is one more candidate of the same interleaved
// measurement; with Google Benchmark, it is the mean of the best of three before and of three after each benchmark.
#include "circumstances.hpp"
#include "command_line.hpp"
#include "filter.hpp"
#include "kernels/subject.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

namespace bench {
namespace {

constexpr char usage[] =
    "usage: kernels [--benchmark_...] [--core N]\n"
    "       kernels --table [--filter REGEX] [--repetitions N] [--json] [--core N]\n"
    "       kernels --check [--filter REGEX]\n"
    "  --benchmark_...  flags of Google Benchmark, such as --benchmark_filter=REGEX, --benchmark_list_tests,\n"
    "                   --benchmark_min_time=SECONDS; names are layer/ago and layer/ENGINE\n"
    "  --table          print a row for each layer, with all engines timed in random order\n"
    "  --check          compute everything once and compare with the other engines and plain loops; no timing\n"
    "  --filter         only layers whose name matches the expression\n"
    "  --json           one JSON object per line instead of a table\n"
    "  --repetitions    timed runs of every candidate (default 60)\n"
    "  --core           pin to this core and request the real-time class\n";

struct kernel_arguments : common_arguments {
  bool table = false, check = false;
  std::string filter;
  std::vector<std::string> google;

  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name == "--table") table = true;
    else if (name == "--check") check = true;
    else if (name == "--filter") filter = next();
    else if (name.starts_with("--benchmark_")) google.push_back(name);
    else if (!common_arguments::take(name, next)) return false;
    given_.push_back(name);
    return true;
  }

  /// Throws std::invalid_argument if options cannot be combined.
  void check_combination() const {
    auto const given = [&](std::string const& name) {
      return std::find(given_.begin(), given_.end(), name) != given_.end();
    };
    if (table && check) throw std::invalid_argument("--table and --check cannot be combined");
    for (char const* name : {"--json", "--repetitions"})
      if (!table && given(name)) throw std::invalid_argument(std::string(name) + " needs --table");
    if (!table && !check && given("--filter"))
      throw std::invalid_argument("--filter needs --table or --check; otherwise use --benchmark_filter");
    if ((table || check) && !google.empty())
      throw std::invalid_argument(google[0] + " cannot be combined with --table or --check");
  }

 private:
  std::vector<std::string> given_;
};

/// The layers whose name matches `filter`, kind by kind.
std::vector<kernel const*> select(std::string const& filter) {
  std::vector<kernel const*> chosen = filtered(kernels(), filter);
  std::sort(chosen.begin(), chosen.end(), [](kernel const* a, kernel const* b) {
    return a->what.kind != b->what.kind ? a->what.kind < b->what.kind : a < b;
  });
  return chosen;
}

/// Engines by name, each once.
std::vector<std::string> engines() {
  std::vector<std::string> names;
  for (peer_option const& p : peer_options())
    if (std::find(names.begin(), names.end(), p.engine) == names.end()) names.push_back(p.engine);
  return names;
}

/// The row of one layer; `details` are for machine-readable output.
record row(subject const& s, bool details) {
  kernel const& k = s.what();
  timing const own = s.ours().time;
  bool const computes = operations(k) > 0;
  record r{{"kernel", k.name}};
  r.push_back(k.tile.empty() ? field("tile") : field("tile", k.tile));
  r.push_back({"median_us", own.median * 1e6, "%.2f"});
  r.push_back({"min_us", own.minimum * 1e6, "%.2f"});
  r.push_back(computes ? field("gflops", operations(k) / own.median * 1e-9, "%.1f") : field("gflops"));
  r.push_back(computes ? field("percent_of_peak", 100 * operations(k) / own.median / s.peak(), "%.1f")
                       : field("percent_of_peak"));
  r.push_back({"gbytes_per_s", bytes(k) / own.median * 1e-9, "%.1f"});
  for (std::string const& engine : engines()) {
    contestant const* const other = s.best(engine);
    auto const ratio = [&](std::string const& name, double timing::* t) {
      return other ? field(name, other->time.*t / (own.*t), "%.2f") : field(name);
    };
    r.push_back(ratio(engine, &timing::median));
    r.push_back(ratio(engine + "_min", &timing::minimum));
    if (other && details) r.push_back({engine + "_choice", other->choice});
  }
  if (details) r.push_back({"networks", users_of(k.what)});
  return r;
}

int table(kernel_arguments const& a) {
  bool agrees = true;
  printer out(a.json);
  for (kernel const* k : select(a.filter)) {
    subject s(*k);
    agrees = s.agrees(false) && agrees;
    s.measure(a.repetitions);
    out.add(row(s, a.json));
  }
  out.finish();
  return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}

int check(kernel_arguments const& a) {
  int failures = 0, count = 0;
  for (kernel const* k : select(a.filter)) {
    failures += !subject(*k).agrees(true);
    ++count;
  }
  std::printf("%d layers, %d do not agree\n", count, failures);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/// A few runs find the fastest choice of each engine. Benchmarks of one layer follow one another, so the last subject
/// is kept.
class google_benchmarks {
 public:
  static int run(kernel_arguments const& a) {
    std::string program = "kernels";
    std::vector<std::string> words = a.google;
    std::vector<char*> pointers{program.data()};
    for (std::string& w : words) pointers.push_back(w.data());
    int count = int(pointers.size());
    benchmark::Initialize(&count, pointers.data());
    if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
    google_benchmarks all;
    std::vector<std::string> names = engines();
    names.insert(names.begin(), "ago");
    for (kernel const* k : select(""))
      for (std::string const& engine : names)
        benchmark::RegisterBenchmark((k->name + '/' + engine).c_str(),
                                     [&all, k, engine](benchmark::State& state) { all.time(state, *k, engine); });
    if (benchmark::RunSpecifiedBenchmarks() == 0) return EXIT_FAILURE;
    return all.agrees_ ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  static constexpr int trial_runs = 20;

  /// Operations per second.
  static double peak() {
    double best = 0;
    for (int i = 0; i < 3; ++i) {
      auto const start = clock::now();
      double const done = peak_loop();
      best = std::max(best, done / seconds_since(start));
    }
    return best;
  }

  void prepare(kernel const& k) {
    if (subject_ && &subject_->what() == &k) return;
    subject_.reset();
    subject_ = std::make_unique<subject>(k);
    subject_agrees_ = subject_->agrees(false);
    agrees_ = agrees_ && subject_agrees_;
    subject_->try_out(trial_runs);
  }

  void time(benchmark::State& state, kernel const& k, std::string const& engine) {
    prepare(k);
    contestant const* const c = engine == "ago" ? &subject_->ours() : subject_->best(engine);
    if (!subject_agrees_ || !c) {
      state.SkipWithError(c ? "results do not agree" : "not supported by this engine");
      for (auto _ : state) {}
      return;
    }
    double const before = peak();
    auto const start = clock::now();
    for (auto _ : state) {
      c->run();
      benchmark::ClobberMemory();
    }
    double const seconds = seconds_since(start) / double(state.iterations());
    double const rate = operations(k) / seconds;
    if (rate > 0) {
      state.counters["GFLOP/s"] = rate * 1e-9;
      state.counters["%peak"] = 100 * rate / ((before + peak()) / 2);
    } else {
      state.counters["GB/s"] = bytes(k) / seconds * 1e-9;
    }
    state.SetLabel(engine != "ago" ? c->choice : k.tile.empty() ? "" : "tile " + k.tile);
  }

  using clock = std::chrono::steady_clock;
  static double seconds_since(clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  }

  std::unique_ptr<subject> subject_;
  bool subject_agrees_ = true, agrees_ = true;
};

int run(kernel_arguments const& a) {
  a.check_combination();
  print_circumstances(a.core);
  if (peer_options().empty()) std::fprintf(stderr, "no other engine was found at build time\n");
  return a.table ? table(a) : a.check ? check(a) : google_benchmarks::run(a);
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::kernel_arguments>("kernels", bench::usage, count, words, bench::run);
}
