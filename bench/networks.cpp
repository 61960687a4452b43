// Times the registered networks, beside other inference engines if asked, and checks that all agree.
#include "arguments.hpp"
#include "buffer.hpp"
#include "entry.hpp"
#include "measure.hpp"
#include "parameters.hpp"
#include "peak.hpp"
#include "peers/peer.hpp"
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace bench {
namespace {

/// Largest difference that summing in another order explains, relative to the largest output: results of correct
/// engines are a few 1e-6 apart, a forgotten bias is 1e-2 and more.
constexpr double tolerance = 1e-4;

/// Whoever computes the network: one of our variants or a peer.
struct contestant {
  std::string name, choice;
  variant const* own = nullptr;
  std::unique_ptr<peer> engine{};
  buffer out;
  std::function<void()> run{};
  timing time{};
  double difference = 0;
};

/// Largest difference relative to the largest expected output; NaN if there is one.
double difference(std::span<float const> expected, std::span<float const> actual) {
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double(expected[i])));
    double const d = std::abs(double(expected[i]) - double(actual[i]));
    if (!(d <= worst)) worst = d;
    if (std::isnan(worst)) return worst;
  }
  return worst / largest;
}

class contest {
 public:
  contest(entry const& e, arguments const& a) : entry_{e}, arguments_{a}, in_{size_of(0)} {
    if (e.graph.input_count != 1 || e.graph.outputs.size() != 1)
      throw std::logic_error(e.network + " has several inputs or outputs, which this program does not feed yet");
    parameters_ = make_parameters(e.graph, 1);
    for (std::size_t i = 0; i < in_.span().size(); ++i) in_.data()[i] = uniform(2, i, -1, 1);
    enter_own();
    if (a.peers) enter_peers();
  }

  void run() {
    std::vector<candidate> candidates{{"peak", [this] { peak_operations_ = peak_loop(); }}};
    for (contestant& c : contestants_) {
      std::fill(c.out.span().begin(), c.out.span().end(), std::numeric_limits<float>::quiet_NaN());
      candidates.push_back({c.name, c.run});
    }
    std::vector<timing> const times = measure(candidates, arguments_.repetitions);
    peak_ = peak_operations_ / times[0].median;
    for (std::size_t i = 0; i < contestants_.size(); ++i) contestants_[i].time = times[i + 1];
    for (contestant& c : contestants_) c.difference = difference(contestants_.front().out.span(), c.out.span());
  }

  bool agrees() const {
    bool all = true;
    for (contestant const& c : contestants_) {
      if (c.difference <= tolerance) continue;
      std::fprintf(stderr, "%s at %d: %s %s and %s do not agree: difference %g of the largest output\n",
                   entry_.network.c_str(), entry_.size, c.name.c_str(), c.choice.c_str(),
                   contestants_.front().name.c_str(), c.difference);
      all = false;
    }
    return all;
  }

  std::vector<record> records() const {
    std::vector<record> all;
    for (contestant const& c : contestants_)
      if (is_best_choice(c)) all.push_back(describe(c));
    return all;
  }

 private:
  std::size_t size_of(int v) const { return std::size_t(entry_.graph.node(v).out.count()); }
  std::size_t output_size() const { return size_of(entry_.graph.outputs[0]); }

  void enter_own() {
    for (variant const& v : entry_.variants) {
      contestant c{.name = v.name, .choice = {}, .own = &v, .out = buffer(output_size())};
      c.run = v.prepare(parameters_, in_.data(), c.out.data());
      contestants_.push_back(std::move(c));
    }
  }

  void enter_peers() {
    for (peer_option const& option : peer_options()) try {
        if (layers_.layers.empty()) layers_ = fuse_layers(entry_.graph, parameters_);
        contestant c{.name = option.engine, .choice = option.choice, .out = buffer(output_size())};
        float* const in = in_.data();
        float* const out = c.out.data();
        c.engine = option.load(layers_, {{&in, 1}, {&out, 1}}, arguments_.threads);
        c.run = [engine = c.engine.get()] { engine->run(); };
        contestants_.push_back(std::move(c));
      } catch (unsupported const& why) {
        std::fprintf(stderr, "%s at %d: no %s (%s): %s\n", entry_.network.c_str(), entry_.size, option.engine.c_str(),
                     option.choice.c_str(), why.what());
      }
  }

  /// Nobody chooses the same engine in a faster way.
  bool is_best_choice(contestant const& c) const {
    return std::none_of(contestants_.begin(), contestants_.end(), [&](contestant const& other) {
      return other.name == c.name && other.time.median < c.time.median;
    });
  }

  record describe(contestant const& c) const {
    double const rate = 2. * double(entry_.graph.multiply_adds()) / c.time.median;
    contestant const* const ours = contestants_.front().own ? &contestants_.front() : nullptr;
    auto const number = [&](char const* name, auto value) {
      return c.own ? field(name, long(value(*c.own))) : field(name);
    };
    auto const relative = [&](char const* name, double timing::*t) {
      return !ours || &c == ours ? field(name) : field(name, c.time.*t / (ours->time.*t), "%.3f");
    };
    return {
        {"network", entry_.network},
        {"size", long(entry_.size)},
        {"variant", c.name},
        c.choice.empty() ? field("choice") : field("choice", c.choice),
        {"isa", c.own ? name_of(c.own->target) : "at run time"},
        {"threads", long(arguments_.threads)},
        {"median_ms", c.time.median * 1e3, "%.4f"},
        {"min_ms", c.time.minimum * 1e3, "%.4f"},
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
    };
  }

  entry const& entry_;
  arguments const& arguments_;
  std::vector<float> parameters_;
  buffer in_;
  layer_list layers_;
  std::vector<contestant> contestants_;
  double peak_operations_ = 0, peak_ = 0;
};

std::vector<entry const*> select(arguments const& a) {
  std::vector<entry const*> all, chosen;
  for (entry const& e : registry()) all.push_back(&e);
  std::sort(all.begin(), all.end(), [](entry const* x, entry const* y) {
    return x->network != y->network ? x->network < y->network : x->size > y->size;
  });
  for (entry const* e : all)
    if ((a.network == "all" || a.network == e->network) && a.size.value_or(e->size) == e->size) chosen.push_back(e);
  if (!chosen.empty()) return chosen;
  std::string known;
  for (entry const* e : all) known += "\n  --network " + e->network + " --size " + std::to_string(e->size);
  throw std::invalid_argument("no such network and size; there are" + known);
}

/// On what the numbers were taken.
void print_circumstances() {
  std::string cpu = "unknown processor", line;
  for (std::ifstream info("/proc/cpuinfo"); std::getline(info, line);)
    if (line.starts_with("model name")) cpu = line.substr(line.find(':') + 2);
#if defined(__clang__)
  char const* const compiler = __VERSION__;
#else
  char const* const compiler = "g++ " __VERSION__;
#endif
  std::fprintf(stderr, "%s, compiled by %s for %s\n", cpu.c_str(), compiler, name_of(ago::native_isa));
#if !defined(__OPTIMIZE__)
  std::fprintf(stderr, "compiled without optimisation: the times mean nothing\n");
#endif
}

int run(arguments const& a) {
  std::vector<entry const*> const chosen = select(a);
  if (a.threads != 1) throw std::invalid_argument("--threads " + std::to_string(a.threads) + ": ago runs on 1");
  print_circumstances();
  if (a.core) std::fprintf(stderr, "%s\n", claim_core(*a.core).c_str());
  if (a.peers && peer_options().empty()) std::fprintf(stderr, "no other engine was found when this was built\n");
  bool agrees = true;
  std::vector<record> all;
  for (entry const* e : chosen) {
    contest c(*e, a);
    c.run();
    agrees = c.agrees() && agrees;
    for (record const& r : c.records()) {
      if (a.json) std::printf("%s\n", to_json(r).c_str());
      all.push_back(r);
    }
    std::fflush(stdout);
  }
  if (!a.json) std::fputs(to_table(all).c_str(), stdout);
  return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) try {
  bench::arguments const a = bench::parse(count, words);
  if (a.help) return std::fputs(bench::usage, stdout), EXIT_SUCCESS;
  return bench::run(a);
} catch (std::invalid_argument const& e) {
  std::fprintf(stderr, "networks: %s\n%s", e.what(), bench::usage);
  return 2;
} catch (std::exception const& e) {
  std::fprintf(stderr, "networks: %s\n", e.what());
  return EXIT_FAILURE;
}
