// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times pairs of complex operators, each with batch norm and relu6, with and without intensive fusion: the kinds of
// pairs in figure 13 of the AGO paper, with shapes of MobileNet-V2 and MnasNet at 224.
//
// The variants of a pair are timed in random order in one measurement, with the caches as each variant's own last run
// left them. Within a network, the values between two operators are colder: judge fusion there as well.
#include "circumstances.hpp"
#include "command_line.hpp"
#include "contest.hpp"
#include "filter.hpp"
#include "loops.hpp"
#include "subgraphs/registry.hpp"

#include <algorithm>
#include <tuple>

namespace bench {
namespace {

constexpr char usage[] =
    "usage: subgraphs [--filter REGEX] [--repetitions N] [--json] [--core N]\n"
    "       subgraphs --check [--filter REGEX]\n"
    "  --filter       only pairs whose name matches the expression; names are like\n"
    "                 pointwise+depthwise/56x56/24>144/k3s2/n1: kinds, image, channels and windows, batch\n"
    "  --check        compute everything once and compare with plain loops; no timing\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed runs of every variant, in random order (default 60)\n"
    "  --core         pin to this core and request the real-time class\n";

struct subgraph_arguments : filter_arguments {
  bool check = false;

  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name == "--check") check = true;
    else return filter_arguments::take(name, next);
    return true;
  }
};

/// The tiling of both operators, and the channels or pixels of a tile.
std::string describe(ago::partition::chain_tiling t) {
  return std::string(name_of(t.how)) + (t.tile > 0 ? ' ' + std::to_string(t.tile) : "");
}

record subject_of(subgraph const& s) {
  return {{"pair", kind_of(s.what)},
          {"images", long(s.what.images)},
          {"size", long(s.what.size)},
          {"layers", layers_of(s.what)}};
}

int run(subgraph_arguments const& a) {
  std::vector<subgraph const*> chosen = filtered(subgraphs(), a.filter);
  std::sort(chosen.begin(), chosen.end(), [](subgraph const* x, subgraph const* y) {
    auto const key = [](subgraph const* s) { return std::tuple(kind_of(s->what), s->what.images, s); };
    return key(x) < key(y);
  });
  print_circumstances(a.core);
  printer out(a.json);
  int failures = 0;
  for (subgraph const* s : chosen) {
    contest c(s->network, s->name);
    bool const agrees = c.agrees() && (!a.check || agrees_with_loops(c, s->network));
    failures += !agrees;
    if (a.check) continue;
    c.run(a.repetitions);
    std::vector<record> results = c.records(subject_of(*s), microseconds, a.json ? detail::full : detail::brief);
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].push_back({"tiling", describe(s->tilings[i])});
      out.add(std::move(results[i]));
    }
  }
  if (a.check) std::printf("%zu pairs, %d do not agree\n", chosen.size(), failures);
  else out.finish();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::subgraph_arguments>("subgraphs", bench::usage, count, words, bench::run);
}
