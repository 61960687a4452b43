// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What flows between the steps of an inspection, and what is in the arena meanwhile.
#include <inspect.hpp>
#include <networks.hpp>
#include <recorded.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace {

using namespace ago::tools;
using ago::op;
using ago::policy;

/// All networks under all policies.
std::vector<inspection> const& inspections() {
  static std::vector<inspection> const all = [] {
    std::vector<inspection> r;
    for (known_network const& n : known_networks()) {
      auto const g = n.trace(n.usual_size);
      for (int p = 0; p < ago::partition::policies; ++p) {
        r.push_back(inspect(g->value, {.policy = policy(p)}));
        r.back().network = n.name;
      }
    }
    return r;
  }();
  return all;
}

/// The steps that compute each operator.
std::vector<std::set<int>> steps_of(inspection const& i) {
  std::vector<std::set<int>> steps(i.nodes.size());
  for (std::size_t s = 0; s < i.steps.size(); ++s)
    for (int const v : i.steps[s].nodes) steps[std::size_t(v)].insert(int(s));
  return steps;
}

}  // namespace

TEST_CASE("steps read what the operators read: where both operators have steps, there is a flow, and no other") {
  for (inspection const& i : inspections()) {
    CAPTURE(i.network + " " + i.policy);
    auto const steps = steps_of(i);
    std::set<std::pair<int, int>> flows;
    for (inspected_flow const& f : i.flows) flows.insert({f.from, f.to});
    // For each operator, the steps whose results it may hold or read: views lead to the operators that they show.
    std::vector<std::set<int>> shown(i.nodes.size());
    std::set<std::pair<int, int>> possible;
    int missing = 0;
    for (inspected_edge const& e : i.edges) {
      auto const &from = steps[std::size_t(e.from)], &to = steps[std::size_t(e.to)];
      auto& seen = shown[std::size_t(e.from)];
      seen.insert(from.begin(), from.end());
      for (int const a : seen)
        for (int const b : to) possible.insert({a, b});
      // A copy of a part of a value, or a reader of some parts, has a flow from some of the steps.
      if (!from.empty() && !to.empty() && *from.rbegin() < *to.begin())
        missing += std::none_of(from.begin(), from.end(), [&](int a) {
          return std::any_of(to.begin(), to.end(), [&](int b) { return flows.count({a, b}) > 0; });
        });
      // A concatenation may be written in part by steps of its own.
      if (to.empty() || i.nodes[std::size_t(e.to)].kind == op::concat)
        shown[std::size_t(e.to)].insert(seen.begin(), seen.end());
    }
    CHECK(missing == 0);
    int wrong = 0, backward = 0;
    for (inspected_flow const& f : i.flows) {
      if (f.to < 0) continue;
      backward += f.from >= f.to;
      wrong += f.from >= 0 && possible.count({f.from, f.to}) == 0;
      wrong += f.from < 0 && f.value >= i.inputs;
    }
    CHECK((wrong == 0 && backward == 0));
  }
}

TEST_CASE("what a step writes is read by another one, or by the caller; inputs are read, outputs written") {
  for (inspection const& i : inspections()) {
    CAPTURE(i.network + " " + i.policy);
    std::set<int> read, inputs, outputs, wanted;
    for (inspected_flow const& f : i.flows) {
      read.insert(f.from);
      if (f.from < 0) inputs.insert(f.value);
      if (f.to < 0) outputs.insert(f.value);
    }
    for (std::size_t s = 0; s < i.steps.size(); ++s) CHECK(read.count(int(s)) == 1);
    for (std::size_t v = 0; v < i.nodes.size(); ++v)
      if (i.nodes[v].is_output) wanted.insert(int(v));
    CHECK(outputs == wanted);
    CHECK(!inputs.empty());
  }
}

TEST_CASE("values in the arena do not overlap while they live, and together are as large as the arena") {
  for (inspection const& i : inspections()) {
    CAPTURE(i.network + " " + i.policy);
    long most = 0;
    int wrong = 0, overlaps = 0, unread = 0;
    for (inspected_value const& a : i.values) {
      wrong += !(0 <= a.first && a.first <= a.last && a.last < int(i.steps.size()) && a.bytes > 0);
      most = std::max(most, a.offset + a.bytes);
      for (inspected_value const& b : i.values) {
        if (&a == &b || a.last < b.first || b.last < a.first) continue;
        inspected_value const &later = a.first < b.first ? b : a, &earlier = a.first < b.first ? a : b;
        bool const over = later.in_place && later.first == earlier.last && a.offset == b.offset && a.bytes == b.bytes;
        overlaps += !over && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      }
    }
    CHECK((wrong == 0 && overlaps == 0 && most == i.arena_bytes));
    // A value that flows is in the arena from the step that writes it to the one that reads it, if it has a buffer.
    for (inspected_flow const& f : i.flows)
      for (inspected_value const& v : i.values)
        if (v.node == f.value && !v.scratch && f.from >= 0 && f.to >= 0) unread += f.from < v.first || f.to > v.last;
    CHECK(unread == 0);
  }
}
