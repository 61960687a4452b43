// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"

#include "policies.hpp"
#include "toolchain.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <iostream>

namespace ago::tools {
namespace {

/// "a, b and c"
std::string listed(std::vector<std::string> const& names) {
  std::string r;
  for (std::size_t i = 0; i < names.size(); ++i) r += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return r;
}

/// The index of `name` among `names`.
int choose(char const* what, std::string const& name, std::vector<std::string> const& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return int(i);
  throw usage_error(std::string("there is no ") + what + " '" + name + "'; there are " + listed(names));
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (known_network const& n : known_networks()) names.push_back(n.name);
  return names;
}
std::vector<std::string> const format_names{"text", "json", "dot", "html"};

constexpr isa targets[]{isa::sse2, isa::sse42, isa::avx2, isa::avx512, isa::neon};
std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (isa const t : targets) names.emplace_back(name_of(t));
  return names;
}

struct named_device {
  char const* name;
  device value;
};
constexpr named_device devices[]{{"x86-64", {}},
                                 {"zen4", zen_4},
                                 {"zen5", zen_5},
                                 {"xeon", xeon},
                                 {"cortex-a53", cortex_a53},
                                 {"cortex-a55", cortex_a55},
                                 {"cortex-a72", cortex_a72},
                                 {"cortex-a76", cortex_a76},
                                 {"cortex-a78", cortex_a78},
                                 {"cortex-x1", cortex_x1},
                                 {"apple-m1", apple_m1},
                                 {"neoverse-n1", neoverse_n1},
                                 {"neoverse-v1", neoverse_v1}};
std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (named_device const& d : devices) names.emplace_back(d.name);
  return names;
}

void print_lists() {
  std::cout << "ONNX files, or networks, with their default sizes:\n";
  for (known_network const& n : known_networks())
    std::cout << "  " << n.name << std::string(16 - n.name.size(), ' ') << n.usual_size << ' ' << n.measure << '\n';
  std::cout << "policies: " << listed(policy_names()) << "\nformats: " << listed(format_names)
            << "\ninstruction sets: " << listed(target_names()) << "\ndevices: " << listed(device_names()) << '\n';
}

int size_of(known_network const& network, std::string const& text) {
  if (text.empty()) return network.usual_size;
  int size = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end != text.data() + text.size() || size < 1)
    throw usage_error("--size of " + network.name + " must be a number of " + network.measure + ", at least 1, not '" +
                      text + "'");
  return size;
}

/// Whether it is the name of a file rather than of a network.
bool names_file(std::string const& name) { return name.ends_with(".onnx") || name.find('/') != std::string::npos; }

/// The arguments as given.
struct words {
  std::string network, policy = "ago", against, format = "text", size, output, target, device;
  importer::model_words model;
  measuring how;
  bool measure = false, list = false;
};

void declare(CLI::App& app, words& w) {
  app.add_option("network", w.network, "a network, see --list, or an ONNX file");
  app.add_option("--size", w.size, "size of the input: pixels a side, or tokens");
  app.add_option("--dim", w.model.dims, "NAME=NUMBER: the size of a symbolic dimension of an ONNX file's inputs");
  app.add_option("--batch", w.model.batch, "size of the first dimensions that an ONNX file leaves open")
      ->check(CLI::PositiveNumber);
  app.add_option("--fix", w.model.fixed, "NAME=FILE: the value of a constant input, a tensor in .pb or .npy");
  app.add_flag("--channels-last", w.model.channels_last, "an ONNX file's image inputs and outputs are [n, h, w, c]");
  app.add_option("--policy", w.policy, "policy that partitions the network")->capture_default_str();
  app.add_option("--against", w.against, "a second policy to compare with (text and html)");
  app.add_option("--format", w.format, "text, json, dot or html")->capture_default_str();
  app.add_option("--output", w.output, "file to write instead of standard output");
  app.add_option("--target", w.target,
                 std::string("instruction set to plan for (default: ") + name_of(native_isa) +
                     "; with --measure, the widest of this machine)");
  app.add_option("--device", w.device, "device whose caches to plan for (default: the usual one of --target)");
  auto* const measure =
      app.add_flag("--measure", w.measure, "compile the network, run it on this machine, and show measured times, too");
  app.add_option("--compiler", w.how.compiler, "for --measure (default: $CXX, or else " AGO_COMPILER ")")
      ->needs(measure);
  app.add_option("--include", w.how.includes, "folder of headers of ago, xsimd or a policy, for --measure")
      ->needs(measure);
  app.add_option("--repetitions", w.how.repetitions, "runs of the network, and of each step")
      ->needs(measure)
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--core", w.how.core, "core to measure on: pins the program to it and requests the real-time class")
      ->needs(measure)
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--list", w.list, "print all networks, policies, formats, instruction sets and devices");
}

/// A known network, or a file to import.
void understand_network(arguments& a, words const& w) {
  if (w.network.empty()) throw usage_error("a network is missing; there are " + listed(network_names()));
  if (names_file(w.network)) {
    if (!w.size.empty()) throw usage_error("--size is for the networks of --list; set an ONNX file's sizes with --dim");
    a.model = w.model;
    a.model.file = w.network;
    return;
  }
  if (!w.model.dims.empty() || !w.model.fixed.empty() || w.model.batch || w.model.channels_last)
    throw usage_error("--dim, --batch, --fix and --channels-last are for ONNX files; " + w.network + " is not one");
  a.network = &known_networks()[std::size_t(choose("network", w.network, network_names()))];
  a.size = size_of(*a.network, w.size);
}

isa target_of(words const& w) {
  if (w.target.empty()) return w.measure ? widest_isa() : native_isa;
  isa const target = targets[choose("instruction set", w.target, target_names())];
  if (w.measure && !can_run(target))
    throw usage_error(std::string("--measure runs the network on this machine, which has ") + name_of(widest_isa()) +
                      " and cannot run --target " + w.target);
  return target;
}

arguments understand(words const& w) {
  arguments a;
  understand_network(a, w);
  a.format = tools::format(choose("format", w.format, format_names));
  a.output = w.output;
  if (w.measure) a.measure = w.how;
  if (w.measure && a.format == format::dot) throw usage_error("--measure works with --format text, json and html");
  isa const target = target_of(w);
  device const on =
      w.device.empty() ? partition::usual_device(target) : devices[choose("device", w.device, device_names())].value;
  a.ways.push_back({.target = target, .policy = policy(choose("policy", w.policy, policy_names())), .device = on});
  if (w.against.empty()) return a;
  if (a.format != format::text && a.format != format::html)
    throw usage_error("--against works with --format text and html; " + w.format + " describes one policy");
  a.ways.push_back({.target = target, .policy = policy(choose("policy", w.against, policy_names())), .device = on});
  return a;
}

}  // namespace

std::optional<arguments> parse(int count, char const* const* argv) {
  CLI::App app{"Shows how a policy partitions a network: subgraphs, steps, memory and costs."};
  words w;
  declare(app, w);
  try {
    app.parse(count, argv);
  } catch (CLI::CallForHelp const&) {
    std::cout << app.help();
    return std::nullopt;
  } catch (CLI::ParseError const& e) { throw usage_error(e.what()); }
  if (w.list) {
    print_lists();
    return std::nullopt;
  }
  return understand(w);
}

}  // namespace ago::tools
