// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times training steps without one of the choices that the library makes, in turns with steps that have them all.
#include "circumstances.hpp"
#include "command_line.hpp"
#include "filter.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "training/ablation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr char usage[] =
    "usage: training_ablations [--filter REGEX] [--json] [--repetitions N] [--core N]\n"
    "  --filter       only networks whose name matches\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed runs of every candidate (default 60)\n"
    "  --core         pin to this core and request the real-time class\n";

/// Whether the losses of three steps are the same up to rounding.
bool agree(ablation_subject const& s, std::vector<std::function<float()>> const& steps) {
  bool same = true;
  for (int i = 0; i < 3; ++i) {
    float const first = steps[0]();
    for (std::size_t k = 1; k < steps.size(); ++k) {
      float const loss = steps[k]();
      if (std::fabs(loss - first) <= 1e-4f * std::fabs(first)) continue;
      same = false;
      std::fprintf(stderr, "%s with a batch of %d without %s: the loss of step %d is %g, not %g\n", s.name.c_str(),
                   s.batch, s.all[k].taken_away.c_str(), i + 1, double(loss), double(first));
    }
  }
  return same;
}

int run(filter_arguments const& a) {
  auto chosen = filtered(ablation_subjects(), a.filter);
  std::sort(chosen.begin(), chosen.end(), [](ablation_subject const* x, ablation_subject const* y) {
    return x->name != y->name ? x->name < y->name : x->batch < y->batch;
  });
  print_circumstances(a.core);
  printer out(a.json);
  bool same = true;
  for (ablation_subject const* s : chosen) {
    std::vector<std::function<float()>> steps;
    for (ablation const& x : s->all) steps.push_back(x.prepare());
    same = agree(*s, steps) && same;
    std::vector<candidate> candidates;
    for (std::size_t k = 0; k < steps.size(); ++k) candidates.push_back({s->all[k].taken_away, [&, k] { steps[k](); }});
    std::vector<timing> const times = measure(candidates, a.repetitions);
    for (std::size_t k = 0; k < steps.size(); ++k)
      out.add({{"network", s->name},
               {"batch", long(s->batch)},
               {"taken_away", s->all[k].taken_away},
               {"step_ms", times[k].median * 1e3, "%.5f"},
               {"step_min_ms", times[k].minimum * 1e3, "%.5f"},
               {"ratio", times[k].median / times[0].median, "%.3f"},
               {"min_ratio", times[k].minimum / times[0].minimum, "%.3f"},
               {"arena_bytes", long(s->all[k].arena_bytes)}});
  }
  out.finish();
  return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::filter_arguments>("training_ablations", bench::usage, count, words, bench::run);
}
