// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times training steps, their forward and backward parts, and inferences of the networks in training/, optionally
// beside PyTorch, whose losses must agree.
#include "circumstances.hpp"
#include "command_line.hpp"
#include "filter.hpp"
#include "measure.hpp"
#include "peak.hpp"
#include "report.hpp"
#include "training/subject.hpp"

#if AGO_BENCH_PYTORCH
#include "training/pytorch.hpp"
#endif

#include <ago/tuner/paired_timing.hpp>
#include <ago/tuner/step_times.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

namespace bench {
namespace {

constexpr char usage[] =
    "usage: training [--filter REGEX] [--peers | --profile] [--json] [--repetitions N] [--core N]\n"
    "  --filter       only networks whose name matches\n"
    "  --peers        beside PyTorch, on one thread, with OpenBLAS and channels last\n"
    "  --profile      the time of each kernel of a training step instead\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed runs of every candidate (default 60)\n"
    "  --core         pin to this core and request the real-time class\n";

struct training_arguments : filter_arguments {
  bool peers = false, profile = false;
  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name == "--peers") peers = true;
    else if (name == "--profile") profile = true;
    else return filter_arguments::take(name, next);
    return true;
  }
};

/// Runs of one turn that take about a millisecond together: reading the clock and asking another process then takes a
/// small part.
int runs_of_a_turn(double seconds) { return std::clamp(int(1e-3 / seconds), 1, 1000); }

template <class Run>
double mean_seconds(Run const& run, int count) {
  using clock = std::chrono::steady_clock;
  auto const start = clock::now();
  for (int i = 0; i < count; ++i) run();
  return std::chrono::duration<double>(clock::now() - start).count() / count;
}

template <class Timed>
candidate timed_candidate(char const* name, Timed const& mean) {
  mean(1);
  int const count = runs_of_a_turn(std::min(mean(1), mean(3)));
  return {name, {}, [mean, count] { return mean(count); }};
}

#if AGO_BENCH_PYTORCH
std::unique_ptr<pytorch> look_for_pytorch() try {
  auto found = std::make_unique<pytorch>();
  std::fprintf(stderr, "PyTorch %s\n", found->version().c_str());
  return found;
} catch (std::runtime_error const& why) {
  std::fprintf(stderr, "no PyTorch: %s (scripts/setup --with training installs it)\n", why.what());
  return nullptr;
}

/// The differences of our gradients and PyTorch's from those of double precision. Ours are wrong if they are larger
/// than 1e-5 and than four times those of PyTorch: batch norms over few pixels amplify what is rounded, and elements
/// change sides of kinks (measured: up to three times, ShuffleNet-V2 with one image).
pytorch::gradient_errors compare_gradients(training_subject const& s, training_run const& run, pytorch& peer,
                                           bool& agree) {
  run.backward();
  pytorch::gradient_errors const r = peer.gradients(run.gradients());
  if (!(r.ours <= std::max(1e-5, 4 * r.theirs))) {
    std::fprintf(stderr, "%s with a batch of %d: gradients differ by %g of the largest, and PyTorch's by %g\n",
                 s.name.c_str(), s.batch, r.ours, r.theirs);
    agree = false;
  }
  return r;
}

/// Whether three training steps have the same losses.
bool agrees(training_subject const& s, training_run const& run, pytorch& peer) {
  std::vector<double> const theirs = peer.losses(3);
  bool same = theirs.size() == 3;
  for (std::size_t k = 0; same && k < 3; ++k) {
    double const ours = double(run.step());
    same = std::fabs(ours - theirs[k]) <= s.agreement * std::fabs(theirs[k]);
    if (!same)
      std::fprintf(stderr, "%s with a batch of %d: the loss of step %d is %g, and %g in PyTorch\n", s.name.c_str(),
                   s.batch, int(k) + 1, ours, theirs[k]);
  }
  return same;
}
#endif

/// The subjects that are asked for: by name, small batches first.
std::vector<training_subject const*> select(training_arguments const& a) {
  auto chosen = filtered(training_subjects(), a.filter);
  std::sort(chosen.begin(), chosen.end(), [](training_subject const* x, training_subject const* y) {
    return x->name != y->name ? x->name < y->name : x->batch < y->batch;
  });
  return chosen;
}

/// Those of a training step's matrix products and convolutions, by the direct algorithm; nests' are not counted.
double multiply_adds(training_subject const& s) {
  return std::accumulate(s.accounts.begin(), s.accounts.end(), 0.,
                         [](double sum, step_account const& a) { return sum + double(a.multiply_adds); });
}

// The share of the run's peak that `rate` is, both in operations a second; none where no product was counted.
void add_share_of_peak(record& r, double rate, double peak) {
  r.push_back(rate > 0 ? field("percent_of_peak", 100 * rate / peak, "%.1f") : field("percent_of_peak"));
  r.push_back({"peak_gflops", peak * 1e-9, "%.1f"});
}

int compare(training_arguments const& a, std::vector<training_subject const*> const& chosen) {
  bool agree = true;
#if AGO_BENCH_PYTORCH
  std::unique_ptr<pytorch> const peer = a.peers ? look_for_pytorch() : nullptr;
#else
  constexpr bool peer = false;
  if (a.peers) std::fprintf(stderr, "no PyTorch: child processes are for Unix\n");
#endif
  printer out(a.json);
  for (training_subject const* s : chosen) {
    training_run const run = s->prepare();
    std::vector<candidate> candidates;
#if AGO_BENCH_PYTORCH
    pytorch::gradient_errors errors{};
    if (peer) {
      peer->load(*s, run);
      errors = compare_gradients(*s, run, *peer, agree);
      agree = agrees(*s, run, *peer) && agree;
    }
#endif
    candidates.push_back(timed_candidate("step", [&](int count) { return mean_seconds(run.step, count); }));
    candidates.push_back(timed_candidate("backward", [&](int count) { return mean_seconds(run.backward, count); }));
    candidates.push_back(timed_candidate("inference", [&](int count) { return mean_seconds(run.infer, count); }));
#if AGO_BENCH_PYTORCH
    if (peer) {
      candidates.push_back(timed_candidate("their step", [&](int count) { return peer->step(count); }));
      candidates.push_back(timed_candidate("their backward", [&](int count) { return peer->backward(count); }));
      candidates.push_back(timed_candidate("their inference", [&](int count) { return peer->infer(count); }));
    }
#endif
    double peak_operations = 0;
    candidates.push_back({"peak", [&] { peak_operations = peak_loop(); }});
    std::vector<timing> const times = measure(candidates, a.repetitions);
    record r{{"network", s->name}, {"batch", long(s->batch)}};
    auto const add = [&](std::string const& name, std::size_t k) {
      r.push_back({name + "_ms", times[k].median * 1e3, "%.5f"});
      r.push_back({name + "_min_ms", times[k].minimum * 1e3, "%.5f"});
    };
    add("step", 0);
    add("backward", 1);
    add("inference", 2);
    add_share_of_peak(r, 2 * multiply_adds(*s) / times[0].median, peak_operations / times.back().median);
    r.push_back({"arena_bytes", long(s->arena_bytes)});
    r.push_back({"parameter_bytes", long(s->parameter_bytes)});
    if (peer) {
      add("pytorch_step", 3);
      add("pytorch_backward", 4);
      add("pytorch_inference", 5);
      r.push_back({"step_ratio", times[3].median / times[0].median, "%.2f"});
      r.push_back({"backward_ratio", times[4].median / times[1].median, "%.2f"});
      r.push_back({"inference_ratio", times[5].median / times[2].median, "%.2f"});
#if AGO_BENCH_PYTORCH
      r.push_back({"gradient_error", errors.ours, "%.1e"});
      r.push_back({"pytorch_gradient_error", errors.theirs, "%.1e"});
#endif
    }
    out.add(r);
  }
  out.finish();
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
}

int profile(training_arguments const& a, std::vector<training_subject const*> const& chosen) {
  for (training_subject const* s : chosen) {
    auto const run_step = s->prepare_steps();
    std::size_t const count = s->accounts.size();
    std::vector<std::vector<double>> warm_up(count), seconds(count);
    for (int r = 0; r < 3; ++r) ago::tuner::time_steps(run_step, warm_up);
    for (int r = 0; r < a.repetitions; ++r) ago::tuner::time_steps(run_step, seconds);
    std::vector<double> medians;
    for (auto const& of_step : seconds) medians.push_back(ago::tuner::median(of_step));
    double const whole = std::accumulate(medians.begin(), medians.end(), 0.);
    printer out(a.json);
    for (std::size_t i = 0; i < count; ++i) {
      step_account const& of = s->accounts[i];
      double const rate = 2. * double(of.multiply_adds) / medians[i];
      out.add({{"network", s->name},
               {"batch", long(s->batch)},
               {"step", long(i)},
               {"kernel", of.kernel},
               {"median_us", medians[i] * 1e6, "%.2f"},
               {"percent", 100 * medians[i] / whole, "%.1f"},
               of.multiply_adds ? field("gflops", rate * 1e-9, "%.1f") : field("gflops"),
               {"layers", of.layers}});
    }
    out.finish();
  }
  return EXIT_SUCCESS;
}

int run(training_arguments const& a) {
  if (a.profile && a.peers) throw std::invalid_argument("--profile times ago's own kernels: it excludes --peers");
  auto const chosen = select(a);
  print_circumstances(a.core);
  return a.profile ? profile(a, chosen) : compare(a, chosen);
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::training_arguments>("training", bench::usage, count, words, bench::run);
}
