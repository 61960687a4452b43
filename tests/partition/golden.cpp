// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small graphs with expected weights, stages, clusters and splits from an independent implementation. They are not part
// of the repository; without them these tests print a message and pass.
#include "graphs.hpp"
#include "oracle.hpp"

#include <ago/partition/apollo.hpp>
#include <ago/partition/fuse_ops.hpp>
#include <ago/partition/split.hpp>
#include <ago/partition/stage.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>

namespace {

using ago::op;
using nlohmann::json;
using graph_type = ago::partition::dag<32, 64>;
using groups = std::vector<int>;

std::vector<json> golden_files() {
  char const* set = std::getenv("AGO_SHARED");
  auto const folder = std::filesystem::path(set ? set : AGO_SHARED_DEFAULT) / "golden" / "partition";
  std::vector<json> files;
  std::error_code none;
  for (auto const& entry : std::filesystem::directory_iterator(folder, none))
    files.push_back(json::parse(std::ifstream(entry.path())));
  if (files.empty()) MESSAGE("skipped: no golden files in " << folder.string());
  return files;
}

graph_type read(json const& file) {
  graph_type d;
  int edges = 0;
  for (auto const& n : file["nodes"]) {
    d.weight[d.count] = n["weight_milli"];
    d.complex[d.count] = n["complex"].get<bool>();
    for (int u : n["inputs"]) d.source[edges++] = u;
    d.first[++d.count] = edges;
  }
  return d;
}

groups read_groups(json const& lists, int count) {
  groups of(count, -1);
  int number = 0;
  for (auto const& list : lists) {
    for (int v : list) of.at(v) = number;
    ++number;
  }
  REQUIRE(std::count(of.begin(), of.end(), -1) == 0);
  return oracle::canonical(of);
}

long limit_of(json const& entry) { return std::lround(entry["Td"].get<double>() * 1000); }

/// The node as a graph of ago: an input with the shape implied by the loops, and the operator. False if ago has no such
/// operator.
bool as_operator(json const& n, test::builder<2, 2>& b) {
  static std::map<std::string, op> const known{
      {"conv2d", op::conv2d}, {"dwconv2d", op::depthwise}, {"dense", op::linear},
      {"bias_add", op::bias}, {"relu", op::relu},          {"relu6", op::relu6},
      {"add", op::add},       {"multiply", op::mul},       {"concat", op::concat},
  };
  auto const found = known.find(n["op"]);
  if (found == known.end() || n["shape"].size() > 4) return false;
  std::map<std::string, int> loop;
  for (auto const& l : n["loops"]) loop[l[0]] = l[1];
  std::vector<int> s = n["shape"];
  ago::ir::node o{.kind = found->second};
  if (s.size() == 4) o.out = {s[0], s[2], s[3], s[1]};
  if (s.size() < 4) {  // rows of vectors
    int rows = 1;
    for (std::size_t i = 0; i + 1 < s.size(); ++i) rows *= s[i];
    if (s.size() == 3 && o.kind != op::linear) o.out = {s[0], 1, s[1], s[2]};
    else o.out = {1, 1, rows, s.back()};
  }
  ago::shape in = o.out;
  if (o.kind == op::conv2d) {
    o.groups = n["attrs"]["groups"];
    in.c = loop["I"] * o.groups;
    if (loop["R"] == 1 && loop["C"] == 1 && o.groups == 1 && n["attrs"]["stride"] == 1) o.kind = op::pointwise;
  }
  if (o.kind == op::linear) in.c = loop["K"];
  if (loop.count("R")) o.win = {.kernel_h = loop["R"], .kernel_w = loop["C"]};
  int const x = b.input(in);
  if (ago::ir::is_binary(o.kind)) b.add(o, {x, x});
  else b.add(o, {x});
  return true;
}

TEST_CASE("golden graphs: loops and weights") {
  int weights = 0, operators = 0;
  for (auto const& file : golden_files()) {
    if (file["weight_model"].is_null()) continue;  // weights chosen by hand
    for (auto const& n : file["nodes"]) {
      CAPTURE(file["name"]);
      CAPTURE(n["id"]);
      std::vector<int> extents;
      for (auto const& l : n["loops"]) extents.push_back(l[1]);
      long const expected = n["weight_milli"];
      CHECK(ago::partition::weight_of(extents.data(), int(extents.size())) == expected);
      ++weights;
      test::builder<2, 2> b;
      if (!as_operator(n, b)) continue;
      auto const loops = ago::partition::loops_of(b.g, 1);
      groups found(loops.extent, loops.extent + loops.count);
      std::erase(found, 1);
      std::erase(extents, 1);
      if (n["shape"].size() < 4) std::sort(found.begin(), found.end()), std::sort(extents.begin(), extents.end());
      CHECK(found == extents);
      CHECK(ago::partition::weight_of(b.g, 1) == expected);
      ++operators;
    }
  }
  if (weights > 0) MESSAGE(weights << " weights, " << operators << " of them of ago's operators");
}

TEST_CASE("golden graphs: stages") {
  for (auto const& file : golden_files()) {
    auto const d = read(file);
    auto const s = ago::partition::stages_of(d);
    CAPTURE(file["name"]);
    CHECK(groups(s.of, s.of + d.count) == file["stages"].get<groups>());
  }
}

TEST_CASE("golden graphs: clusters, splits and atoms") {
  std::map<std::string, int> checked;
  for (auto const& file : golden_files()) {
    auto const d = read(file);
    std::map<std::pair<std::string, long>, json> clusters;
    for (auto const& entry : file["expected"]) {
      CAPTURE(file["name"]);
      CAPTURE(entry.dump());
      std::string const algorithm = entry["algorithm"];
      long const limit = limit_of(entry);
      if (algorithm == "cluster") {
        std::string const mode = entry["mode"];
        auto const expected = read_groups(entry["clusters"], d.count);
        clusters[{"cluster/" + mode, limit}] = entry["clusters"];
        if (mode == "adjacent") CHECK(oracle::view(ago::partition::cluster(d, limit), d.count) == expected);
        else
          CHECK(oracle::view(ago::partition::cluster(d, limit, INT_MAX, ago::partition::affix::component), d.count) ==
                expected);
        ++checked[algorithm + " " + mode];
        continue;
      }
      json const of = clusters.at({entry["of"], limit});
      auto const outer = read_groups(of, d.count);
      auto const subgraphs = ago::partition::grouping_by<32>(outer.data(), d.count);
      json all = json::array();
      for (auto const& minis : entry["minis"])
        for (auto const& mini : minis) all.push_back(mini);
      auto const expected = read_groups(all, d.count);
      REQUIRE((algorithm == "split_cluster" || algorithm == "split_epilogue"));
      if (algorithm == "split_cluster")
        for (auto reading : {ago::partition::affix::adjacent, ago::partition::affix::component})
          CHECK(oracle::view(ago::partition::split_by_cluster(d, subgraphs, reading), d.count) == expected);
      else CHECK(oracle::view(ago::partition::split_by_epilogue(d, subgraphs), d.count) == expected);
      ++checked[algorithm];
    }
    if (!file.contains("atoms")) continue;
    // The other implementation's atoms also take data movement, and begin at reductions and opaque operators.
    bool starts[32];
    for (int v = 0; v < d.count; ++v) {
      std::string const pattern = file["nodes"][v]["pattern"];
      starts[v] = d.complex[v] || pattern == "kCommReduce" || pattern == "kOpaque";
    }
    auto const atoms = ago::partition::split_by_epilogue(d, ago::grouping<32>{{}, 1}, starts);
    CHECK(oracle::view(atoms, d.count) == read_groups(file["atoms"], d.count));
    ++checked["atoms"];
  }
  for (auto const& [what, count] : checked) MESSAGE(what << ": " << count);
}

/// The other implementation's operators as patterns.
ago::partition::pattern_graph<32, 64> read_patterns(json const& file) {
  static std::map<std::string, ago::partition::pattern> const known{
      {"kElemWise", ago::partition::pattern::elementwise},        {"kBroadcast", ago::partition::pattern::broadcast},
      {"kInjective", ago::partition::pattern::injective},         {"kCommReduce", ago::partition::pattern::reduction},
      {"kOutEWiseFusable", ago::partition::pattern::fusable_out}, {"kOpaque", ago::partition::pattern::opaque},
  };
  ago::partition::pattern_graph<32, 64> p{read(file)};
  auto const& nodes = file["nodes"];
  for (int v = 0, e = 0; v < p.operators.count; ++v) {
    p.kind[v] = known.at(nodes[v]["pattern"]);
    p.tuple[v] = nodes[v]["op"] == "concat";
    for (int u : nodes[v]["inputs"]) {
      bool const same = nodes[u]["shape"] == nodes[v]["shape"];
      bool const element_by_element = p.kind[v] == ago::partition::pattern::broadcast && same;
      p.edge[e++] = element_by_element ? ago::partition::pattern::elementwise : p.kind[v];
    }
  }
  return p;
}

TEST_CASE("golden graphs: FuseOps") {
  int checked = 0;
  for (auto const& file : golden_files()) {
    if (!file.contains("fuse_ops")) continue;
    CAPTURE(file["name"]);
    auto const p = read_patterns(file);
    CHECK(oracle::view(ago::partition::fuse_ops(p), p.operators.count) ==
          read_groups(file["fuse_ops"], p.operators.count));
    ++checked;
  }
  if (checked > 0) MESSAGE("FuseOps: " << checked);
}

TEST_CASE("golden graphs: Apollo") {
  using ago::partition::pattern;
  int checked = 0;
  for (auto const& file : golden_files()) {
    if (!file.contains("apollo")) continue;
    CAPTURE(file["name"]);
    auto const& nodes = file["nodes"];
    auto const p = read_patterns(file);
    int const count = p.operators.count;
    ago::partition::apollo_graph<32, 64> a{p.operators};
    std::map<json, int> number;  // of each shape, in place of loops
    for (int v = 0; v < count; ++v) {
      using ago::partition::apollo_type;
      auto const& n = nodes[v];
      json loops = n["shape"];
      bool same = true;
      for (int u : n["inputs"]) same = same && nodes[u]["shape"] == n["shape"];
      a.type[v] = p.kind[v] == pattern::elementwise || p.kind[v] == pattern::broadcast
                      ? same ? apollo_type::elementwise : apollo_type::broadcast
                  : p.kind[v] == pattern::reduction          ? apollo_type::reduction
                  : n["op"] == "transpose"                   ? apollo_type::transpose
                  : p.kind[v] != pattern::fusable_out        ? apollo_type::opaque
                  : std::string(n["op"]).ends_with("conv2d") ? apollo_type::conv
                                                             : apollo_type::matmul;
      if (a.type[v] == apollo_type::reduction) {
        if (!n["inputs"].empty()) loops = nodes[n["inputs"][0].get<int>()]["shape"];
        a.form[v] = ago::partition::reduce_form::inner;
      }
      a.loops[v].c = number.try_emplace(loops, int(number.size()) + 1).first->second;
    }
    auto const found = ago::partition::apollo(a, 0);
    CHECK(oracle::view(found.aggregated, count) == read_groups(file["apollo"]["layer1"], count));
    CHECK(oracle::view(found.stitched, count) == read_groups(file["apollo"]["layer2"], count));
    ++checked;
  }
  if (checked > 0) MESSAGE("Apollo: " << checked);
}

}  // namespace

#else

TEST_CASE("golden graphs") { MESSAGE("skipped: nlohmann/json.hpp is not installed"); }

#endif
