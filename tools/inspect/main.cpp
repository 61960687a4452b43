// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ago-inspect: shows how a partition policy partitions a network.
#include "arguments.hpp"
#include "measure.hpp"
#include "model_file.hpp"
#include "recorded.hpp"
#include "writers.hpp"

#include "../support/output_file.hpp"
#include "../support/printable.hpp"

#include <cstdlib>
#include <iostream>

namespace {

using namespace ago::tools;

/// The graph that the arguments name; an invalid size is a usage error.
std::unique_ptr<roomy_graph const> traced(arguments const& a) try {
  return a.network->trace(a.size);
} catch (std::invalid_argument const& e) {
  throw usage_error(a.network->name + " cannot have " + std::to_string(a.size) + ' ' + a.network->measure + ": " +
                    e.what());
}

std::vector<inspection> inspect(arguments const& a) {
  if (!a.network) return inspect_model(a.model, a.ways);
  auto const g = traced(a);
  std::vector<inspection> all;
  for (ago::options const& way : a.ways) {
    all.push_back(ago::tools::inspect(g->value, way));
    all.back().network = a.network->name;
    all.back().size = a.size;
  }
  return all;
}

void write(std::ostream& out, format how, std::vector<inspection> const& all) {
  switch (how) {
    case format::text: return write_text(out, all);
    case format::json: return write_json(out, all.front());
    case format::dot: return write_dot(out, all.front());
    case format::html: return write_html(out, all);
  }
}

void run(arguments const& a) {
  auto all = inspect(a);
  if (a.measure) measure(a, all);
  auto const write_all = [&](std::ostream& out) { write(out, a.format, all); };
  if (!a.output.empty()) return write_file(a.output, write_all);
  write_all(std::cout);
  if (!std::cout.flush()) throw std::runtime_error("standard output could not be written");
}

}  // namespace

int main(int count, char** words) try {
  if (auto const a = parse(count, words)) run(*a);
  return EXIT_SUCCESS;
} catch (usage_error const& e) {
  std::cerr << "ago-inspect: " << printable_lines(e.what()) << '\n';
  return 2;
} catch (not_imported const& e) {
  std::cerr << "ago-inspect: " << printable_lines(e.what()) << '\n';
  return 2;
} catch (std::exception const& e) {
  std::cerr << "ago-inspect: " << printable_lines(e.what()) << '\n';
  return EXIT_FAILURE;
}
