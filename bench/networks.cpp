// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times the registered networks, optionally with other inference engines, and checks that all agree.
#include "arguments.hpp"
#include "circumstances.hpp"
#include "contention.hpp"
#include "contest.hpp"
#include "profile.hpp"

#if AGO_BENCH_ONNXRUNTIME
#include "peers/onnxruntime.hpp"
#endif

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

/// The entry with the requested variants, in that order.
entry with_variants(entry const& e, std::vector<std::string> const& names) {
  if (names.empty()) return e;
  entry chosen = e;
  chosen.variants.clear();
  std::string known;
  for (variant const& v : e.variants) known += (known.empty() ? "" : ", ") + v.name;
  for (std::string const& name : names) {
    auto const is_meant = [&](variant const& v) { return v.name == name; };
    auto const found = std::find_if(e.variants.begin(), e.variants.end(), is_meant);
    if (found == e.variants.end())
      throw std::invalid_argument("there is no variant '" + name + "'; there are " + known);
    chosen.variants.push_back(*found);
  }
  return chosen;
}

std::vector<entry> select(arguments const& a) {
  std::vector<entry const*> const all = sorted_entries();
  std::vector<entry> chosen;
  for (entry const* e : all)
    if ((a.network == "all" || a.network == e->network) && a.size.value_or(e->size) == e->size)
      chosen.push_back(with_variants(*e, a.variants));
  if (!chosen.empty()) return chosen;
  std::string known;
  for (entry const* e : all) known += "\n  --network " + e->network + " --size " + std::to_string(e->size);
  throw std::invalid_argument("no such network and size; there are" + known);
}

/// For variants of several threads, whose teams it starts and binds to cores.
std::unique_ptr<free_cores> cores_for(std::vector<entry> const& chosen, std::optional<int> first) {
  std::set<int> numbers;
  for (entry const& e : chosen)
    for (variant const& v : e.variants) numbers.insert(v.threads);
  numbers.erase(1);
  if (numbers.empty()) return nullptr;
  std::vector<int> const all = processors_for(*numbers.rbegin(), first);
  for (int const n : numbers) bind_to_cores(team_of(n), std::span(all).first(std::min(all.size(), std::size_t(n))));
  return std::make_unique<free_cores>(team_of(*numbers.rbegin()));
}

/// Starts the load on another core, and chooses the measured core if none is given.
std::unique_ptr<contention> contend(arguments const& a, std::optional<int>& core) {
  std::vector<int> const usable = usable_cores();
  if (!core && !usable.empty()) core = usable.back();
  int const other = disturbing_core(usable, core.value_or(0), siblings_of(core.value_or(0)));
  auto result = std::make_unique<contention>(other, a.contend_bytes.value_or(streaming_bytes()));
  std::fprintf(stderr, "core %d streams %.0f MB\n", other, double(result->bytes()) * 1e-6);
  return result;
}

#if AGO_BENCH_ONNXRUNTIME
/// ONNX Runtime, and the Python that writes its models.
struct exporting_onnxruntime {
  onnxruntime engine;
  std::string exporter;
};

/// Reports once why ONNX Runtime does not take part.
std::optional<exporting_onnxruntime> look_for_onnxruntime(arguments const& a) try {
  return exporting_onnxruntime{find_onnxruntime(a.onnxruntime), find_exporter()};
} catch (unsupported const& why) {
  std::fprintf(stderr, "no onnxruntime: %s\n", why.what());
  return std::nullopt;
}

void enter(contest& c, entry const& e, exporting_onnxruntime const& where, int threads) {
  c.enter("onnxruntime", where.engine.version, timed::network, [&](peer_memory memory) {
    example_network const network{e.network, e.size, c.parameters(), c.input(), {memory.outputs[0], c.output_size()}};
    return load_onnxruntime(where.engine, where.exporter, network, threads);
  });
}
#endif

int run_contests(arguments const& a, std::vector<entry> const& chosen, contention const* others, free_cores* cores) {
  if (a.peers && peer_options().empty()) std::fprintf(stderr, "no other engine was found at build time\n");
#if AGO_BENCH_ONNXRUNTIME
  std::optional<exporting_onnxruntime> const found = a.peers ? look_for_onnxruntime(a) : std::nullopt;
#endif
  bool agrees = true;
  printer out(a.json);
  for (entry const& e : chosen) {
    contest c(e, e.network + " at " + std::to_string(e.size), cores);
    if (a.peers) c.enter_peers(a.threads);
#if AGO_BENCH_ONNXRUNTIME
    if (found) enter(c, e, *found, a.threads);
#endif
    agrees = c.agrees() && agrees;
    c.run(a.repetitions, a.placements);
    record subject{{"network", e.network}, {"size", long(e.size)}};
    if (others && a.json) subject.emplace_back("contended", long(others->bytes()));
    for (record const& r : c.records(subject, milliseconds, a.json ? detail::full : detail::brief)) out.add(r);
  }
  out.finish();
  if (cores)
    std::fprintf(stderr, "%.0f %% of the time, %d threads had a core each\n", 100 * cores->share(), cores->threads());
  return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(arguments const& a) {
  std::vector<entry> const chosen = select(a);
  auto const has_threads = [&](variant const& v) { return v.threads == a.threads; };
  for (entry const& e : chosen)
    if (std::none_of(e.variants.begin(), e.variants.end(), has_threads))
      throw std::invalid_argument("--threads " + std::to_string(a.threads) + ": not compiled for this number");
  if (a.profile && a.peers) throw std::invalid_argument("--profile times ago's own steps: it excludes --peers");
  std::optional<int> core = a.core;
  auto const others = a.contend ? contend(a, core) : nullptr;
  std::unique_ptr<free_cores> const cores = cores_for(chosen, core);  // before this thread claims a core
  print_circumstances(core);
  int const status = a.profile ? profile(chosen, *a.profile, a.repetitions, a.json)
                               : run_contests(a, chosen, others.get(), cores.get());
  if (others) std::fprintf(stderr, "meanwhile the other core moved %.1f GB/s\n", others->rate() * 1e-9);
  return status;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::run_program<bench::arguments>("networks", bench::usage, count, words, bench::run);
}
