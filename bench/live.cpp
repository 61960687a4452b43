// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks in dynamic mode: the first step, steps while a second thread looks for faster schedules, and steps
// afterwards beside static mode.
#include "circumstances.hpp"
#include "command_line.hpp"
#include "filter.hpp"
#include "live/subject.hpp"
#include "report.hpp"

#include <ago/tuner/paired_timing.hpp>
#include <ago/tuner/thread_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr char usage[] =
    "usage: live [--filter REGEX] [--trials N] [--log FOLDER] [--header FILE.hpp] [--curve] [--json]\n"
    "            [--repetitions N] [--core N] [--other-core N] [--any-time]\n"
    "  --filter       only networks whose name matches\n"
    "  --trials       of the exploration (default 200)\n"
    "  --log          folder for the logs of measurements, which are continued\n"
    "  --header       the schedules found, which bench/live/tuned.hpp is to have for static mode\n"
    "  --curve        the time of a step over the trials instead\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed steps of every program before and after (default 60)\n"
    "  --core         pin to this core and request the real-time class\n"
    "  --other-core   pin the second thread to this core\n"
    "  --any-time     the second thread runs with ordinary priority\n";

struct live_arguments : filter_arguments {
  std::string log, header;
  int trials = 200, other_core = -1;
  bool curve = false, any_time = false;
  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name == "--log") log = next();
    else if (name == "--header") header = next();
    else if (name == "--trials") trials = to_number(name, next(), 1);
    else if (name == "--other-core") other_core = to_number(name, next(), 0);
    else if (name == "--curve") curve = true;
    else if (name == "--any-time") any_time = true;
    else return filter_arguments::take(name, next);
    return true;
  }
};

/// Wall time includes what other programs do on this core; processor time does not.
struct step_time {
  double wall, processor;
};
template <class Run>
step_time timed(Run const& run) {
  auto const wall = std::chrono::steady_clock::now();
  auto const processor = ago::tuner::thread_clock::now();
  run();
  std::chrono::duration<double> const p = ago::tuner::thread_clock::now() - processor;
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count(), p.count()};
}

struct summary {
  double median = 0, least = 0, worst = 0;
  long above_twice = 0;  ///< times above twice the median
};
summary summary_of(std::vector<step_time> const& times, double step_time::* which) {
  std::vector<double> x;
  for (step_time const& t : times) x.push_back(t.*which);
  summary s;
  s.median = ago::tuner::median(x);
  auto const [least, worst] = std::minmax_element(x.begin(), x.end());
  s.least = *least, s.worst = *worst;
  s.above_twice = std::count_if(x.begin(), x.end(), [&](double t) { return t > 2 * s.median; });
  return s;
}

ago::exploration how_of(live_arguments const& a, live_subject const& s) {
  ago::exploration how;
  if (!a.log.empty()) {
    std::string name = s.name;
    std::ranges::replace(name, ' ', '_');
    how.log = a.log + "/" + name + ".jsonl";
  }
  if (std::string const cpu = cpuinfo("model name"); !cpu.empty()) how.device = cpu;
  how.trials = a.trials;
  how.processor = a.other_core;
  how.only_idle_time = !a.any_time;
  return how;
}

/// Appends a line for every tenth of the trials: what steps took meanwhile.
void print_curve(live_arguments const& a, live_subject const& s, printer& out) {
  auto const run = s.begin();
  for (int i = 0; i < a.repetitions; ++i) run->step();
  auto const start = std::chrono::steady_clock::now();
  run->start(how_of(a, s));
  std::vector<step_time> recent;
  int next = 0;
  for (bool running = true; running;) {
    ago::exploration_progress const p = run->progress();
    running = p.running;
    recent.push_back(timed([&] { run->step(); }));
    if ((p.trials < next && running) || int(recent.size()) < a.repetitions) {
      running = running || int(recent.size()) < a.repetitions;
      continue;
    }
    summary const wall = summary_of(recent, &step_time::wall), processor = summary_of(recent, &step_time::processor);
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    out.add({{"network", s.name},
             {"batch", long(s.batch)},
             {"seconds", seconds, "%.2f"},
             {"trials", long(p.trials)},
             {"entered", long(p.entered)},
             {"step_us", processor.median * 1e6, "%.2f"},
             {"step_wall_us", wall.median * 1e6, "%.2f"}});
    recent.clear();
    next += std::max(1, a.trials / 20);
  }
  out.finish();
}

void measure(live_arguments const& a, live_subject const& s, printer& out) {
  auto const start = std::chrono::steady_clock::now();
  auto const run = s.begin();
  run->step();
  double const first = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  auto const step = [&] { run->step(); };
  std::vector<step_time> before, during, quiet;
  for (int i = 0; i < a.repetitions; ++i) step();
  for (int i = 0; i < 10 * a.repetitions; ++i) before.push_back(timed(step));
  run->start(how_of(a, s));
  while (run->progress().running) during.push_back(timed(step));
  for (int i = 0; i < 2 * ago::live::duel::turns * ago::live::duel::turn; ++i) step();  // the last program enters

  // As many as during the search: what else happens on this machine makes some steps longer, too.
  while (quiet.size() < during.size()) quiet.push_back(timed(step));

  std::vector<step_time> live, tuned, usual;
  auto const take_turn = [&](std::vector<step_time>& to, auto const& f) {
    for (int k = 0; k < 3; ++k) f();  // they find the caches as another program left them
    for (int k = 0; k < 5; ++k) to.push_back(timed(f));
  };
  for (int i = 0; i < a.repetitions; ++i) {
    take_turn(live, step);
    take_turn(tuned, [&] { run->tuned_step(); });
    take_turn(usual, [&] { run->usual_step(); });
  }
  if (!a.header.empty()) run->write_header(a.header);
  ago::exploration_progress const p = run->progress();
  auto const cpu = &step_time::processor;
  summary const b = summary_of(before, cpu), d = summary_of(during, cpu), q = summary_of(quiet, cpu);
  out.add({{"network", s.name},
           {"batch", long(s.batch)},
           {"first_ms", first * 1e3, "%.3f"},
           {"before_us", b.median * 1e6, "%.2f"},
           {"during_us", d.median * 1e6, "%.2f"},
           {"worst_during", d.worst / d.median, "%.2f"},
           {"worst_quiet", q.worst / q.median, "%.2f"},
           {"above_twice_during", long(d.above_twice)},
           {"above_twice_quiet", long(q.above_twice)},
           {"steps", long(during.size())},
           {"trials", long(p.trials)},
           {"wrong", long(p.wrong)},
           {"entered", long(p.entered)},
           {"sent_back", long(p.sent_back)},
           {"after_us", summary_of(live, cpu).median * 1e6, "%.2f"},
           {"static_tuned_us", summary_of(tuned, cpu).median * 1e6, "%.2f"},
           {"static_default_us", summary_of(usual, cpu).median * 1e6, "%.2f"}});
  out.finish();
}

int run(live_arguments const& a) {
  auto const chosen = filtered(live_subjects(), a.filter);
  print_circumstances(a.core);
  for (live_subject const* s : chosen) {
    printer out(a.json);
    if (a.curve) print_curve(a, *s, out);
    else measure(a, *s, out);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::live_arguments>("live", bench::usage, count, words, bench::run);
}
