// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times imported networks and ONNX Runtime on the same ONNX files, and checks that both agree.
#include "../circumstances.hpp"
#include "../command_line.hpp"
#include "../contest.hpp"
#include "../filter.hpp"
#include "registry.hpp"

#if AGO_BENCH_ONNXRUNTIME
#include "../peers/onnxruntime.hpp"
#endif

namespace bench {
namespace {

constexpr char usage[] =
    "usage: imported [--filter REGEX] [--onnxruntime FOLDER] [--json] [--repetitions N] [--core N]\n"
    "  --filter       only networks whose name matches the expression\n"
    "  --onnxruntime  FOLDER contains node_modules with onnxruntime-node (default: the environment variable\n"
    "                 AGO_ONNXRUNTIME, or else where scripts/setup --with peers puts it)\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed runs of every candidate, in random order (default 60)\n"
    "  --core         pin to this core and request the real-time class\n";

struct arguments : filter_arguments {
  std::optional<std::string> onnxruntime;

  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name == "--onnxruntime") onnxruntime = next();
    else return filter_arguments::take(name, next);
    return true;
  }
};

#if AGO_BENCH_ONNXRUNTIME
/// Reports once why ONNX Runtime does not take part.
std::optional<onnxruntime> look_for_onnxruntime(arguments const& a) try {
  return find_onnxruntime(a.onnxruntime);
} catch (unsupported const& why) {
  std::fprintf(stderr, "no onnxruntime: %s\n", why.what());
  return std::nullopt;
}

void enter(contest& c, entry const& e, onnxruntime const& where) {
  c.enter("onnxruntime", where.version, timed::network, [&](peer_memory memory) {
    return load_onnxruntime(where, {model_files().at(e.network), c.input(), {memory.outputs[0], c.output_size()}}, 1);
  });
}
#endif

/// An entry in the form that filtered() needs.
struct choice {
  std::string name;
  entry const* of;
};

int run(arguments const& a) {
  std::vector<choice> all;
  for (entry const* e : sorted_entries()) all.push_back({e->network, e});
  auto const chosen = filtered(all, a.filter);
  print_circumstances(a.core);
#if AGO_BENCH_ONNXRUNTIME
  std::optional<onnxruntime> const found = look_for_onnxruntime(a);
#endif
  bool agrees = true;
  printer out(a.json);
  for (choice const* one : chosen) {
    contest c(*one->of, one->name);
#if AGO_BENCH_ONNXRUNTIME
    if (found) enter(c, *one->of, *found);
#endif
    agrees = c.agrees() && agrees;
    c.run(a.repetitions);
    record const subject{{"network", one->name}, {"multiply_adds", one->of->graph.multiply_adds()}};
    for (record const& r : c.records(subject, milliseconds)) out.add(r);
  }
  out.finish();
  return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::arguments>("imported", bench::usage, count, words, bench::run);
}
