// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output formats of the inspector: JSON and Graphviz, which are parsed, and text.
#include "partition/graphs.hpp"

#include <figures.hpp>
#include <inspect.hpp>
#include <networks.hpp>
#include <recorded.hpp>
#include <writers.hpp>

#include <ago/passes/optimized.hpp>

#include <networks/mobilenet_v2.hpp>
#include <networks/shufflenet_v2.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace {

using namespace ago::tools;
using ago::policy;
using json = nlohmann::ordered_json;

inspection inspected(char const* name, policy p) {
  known_network const& n = *find_network(name);
  inspection i = inspect(n.trace(n.usual_size)->value, {.policy = p});
  i.network = name;
  i.size = n.usual_size;
  return i;
}

/// An operator whose name has special characters of every format.
inspection hostile(char const* name = "\"a\\b\" <c> & {d}\n</script>") {
  test::builder<8, 8> b;
  int const x = b.pointwise(b.input({1, 2, 2, 4}), 8);
  b.g.nodes[x].name = name;
  b.output(x);
  inspection i = inspect(b.g);
  i.network = "<\"net\">";
  return i;
}

template <class Write>
std::string written(Write const& write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

json json_of(inspection const& i) {
  return json::parse(written([&](std::ostream& out) { write_json(out, i); }));
}

/// The data of a page's scripts.
json data_of(std::string const& page) {
  std::string const begin = "<script id=\"data\" type=\"application/json\">";
  std::size_t const from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

template <auto const& Net>
void check_statistics(char const* name) {
  auto const& g = ago::passes::optimized<Net>::value;
  for (int p = 0; p < ago::partition::policies; ++p) {
    json const j = json_of(inspected(name, policy(p)));
    auto const s = statistics_of(g, partition_by(policy(p), g).subgraphs);
    CAPTURE(name_of(policy(p)));
    CHECK(j["subgraphs"] == s.groups);
    CHECK(j["trivial"] == s.trivial);
    CHECK(j["mean"].get<double>() == doctest::Approx(s.mean / 1000).epsilon(1e-12));
    CHECK(j["median"].get<double>() == doctest::Approx(s.median / 1000).epsilon(1e-12));
    CHECK(j["jain"].get<double>() == doctest::Approx(s.jain).epsilon(1e-12));
    CHECK(j["complex_per_subgraph_max"] == s.most_complex);
    CHECK((j["pairs_captured"] == s.pairs && j["pairs_possible"] == s.possible_pairs));
    CHECK((j["triples_captured"] == s.triples && j["triples_possible"] == s.possible_triples));
    CHECK(j["broken_epilogues"] == s.broken_epilogues);
    CHECK(j["bytes_removed"] == s.bytes_removed);
  }
}

}  // namespace

TEST_CASE("JSON of all networks under all policies has exactly the documented keys") {
  std::vector<std::string> const keys{"network",
                                      "size",
                                      "policy",
                                      "subgraphs",
                                      "trivial",
                                      "mean",
                                      "median",
                                      "jain",
                                      "complex_per_subgraph_max",
                                      "pairs_captured",
                                      "pairs_possible",
                                      "triples_captured",
                                      "triples_possible",
                                      "broken_epilogues",
                                      "bytes_removed",
                                      "steps",
                                      "arena_bytes",
                                      "pipelines",
                                      "removed_rules",
                                      "bytes_moved",
                                      "bytes_moved_beyond_l1",
                                      "predicted_us",
                                      "partition"};
  for (known_network const& n : known_networks())
    for (int p = 0; p < ago::partition::policies; ++p) {
      inspection const i = inspected(n.name.c_str(), policy(p));
      json const j = json_of(i);
      std::vector<std::string> found;
      for (auto const& [key, value] : j.items()) found.push_back(key);
      CHECK(found == keys);
      CHECK((j["network"] == n.name && j["size"] == n.usual_size && j["policy"] == name_of(policy(p))));
      CHECK((j["steps"] == i.steps.size() && j["arena_bytes"] == i.arena_bytes));
      CHECK((j["subgraphs"] == i.subgraphs.size() && j["pairs_captured"] <= j["pairs_possible"]));
      json const& values = j["partition"]["values"];
      REQUIRE(values.size() == i.values.size());
      for (std::size_t k = 0; k < values.size(); ++k) {
        inspected_value const& v = i.values[k];
        CHECK(values[k] == json{{"operator", v.node},
                                {"scratch", v.scratch},
                                {"offset", v.offset},
                                {"bytes", v.bytes},
                                {"first", v.first},
                                {"last", v.last}});
      }
      CHECK((j["steps"].get<int>() > 0 && j["arena_bytes"].get<long>() > 0 && j["jain"].get<double>() <= 1));
    }
}

TEST_CASE("JSON has the partition: operators, subgraphs, mini-subgraphs, steps and edges are consistent") {
  for (char const* name : {"mobilenet_v2", "shufflenet_v2", "bert_tiny", "mobilevit_s"})
    for (int p = 0; p < ago::partition::policies; ++p) {
      CAPTURE(std::string(name) + " " + name_of(policy(p)));
      json const whole = json_of(inspected(name, policy(p))), j = whole["partition"];
      std::size_t const operators = j["operators"].size();
      CHECK((j["subgraphs"].size() == whole["subgraphs"] && j["steps"].size() == whole["steps"]));
      std::vector<int> in_subgraph(operators), in_mini(operators);
      long read = 0, written = 0, pipelines = 0, steps = 0, moved = 0, moved_beyond_l1 = 0;
      double predicted = 0;
      for (std::size_t k = 0; k < j["subgraphs"].size(); ++k) {
        json const& s = j["subgraphs"][k];
        for (std::size_t v : s["operators"]) CHECK((++in_subgraph[v] == 1 && j["operators"][v]["subgraph"] == k));
        for (std::size_t m : s["minis"]) CHECK(j["minis"][m]["subgraph"] == k);
        for (std::size_t i : s["steps"]) CHECK(j["steps"][i]["subgraph"] == k);
        read -= s["bytes_read"].get<long>(), written -= s["bytes_written"].get<long>();
        steps += long(s["steps"].size());
      }
      for (std::size_t m = 0; m < j["minis"].size(); ++m)
        for (std::size_t v : j["minis"][m]["operators"]) CHECK((++in_mini[v] == 1 && j["operators"][v]["mini"] == m));
      for (json const& s : j["steps"]) {
        pipelines += s["kernels"].size() > 1;
        moved += s["bytes_moved"].get<long>(), moved_beyond_l1 += s["bytes_moved_beyond_l1"].get<long>();
        predicted += s["predicted_us"].get<double>();
        bool const in_l1 = s["level"] == "L1", in_memory = s["level"] == "memory";
        CHECK((in_l1 || in_memory || s["level"] == "L2"));
        CHECK(((!in_l1 || s["bytes_moved_beyond_l1"] == 0) && (in_memory || s["bytes_moved"] == 0)));
        if (s["subgraph"].is_null()) continue;
        read += s["bytes_read"].get<long>(), written += s["bytes_written"].get<long>(), --steps;
      }
      CHECK((read == 0 && written == 0 && steps == 0 && pipelines == whole["pipelines"]));
      CHECK(std::abs(moved - whole["bytes_moved"].get<long>()) <= long(j["steps"].size()));  // each is rounded
      CHECK(std::abs(moved_beyond_l1 - whole["bytes_moved_beyond_l1"].get<long>()) <= long(j["steps"].size()));
      CHECK((moved > 0 && moved <= moved_beyond_l1));
      CHECK(std::abs(predicted - whole["predicted_us"].get<double>()) <= 1e-3 * double(j["steps"].size()));
      for (std::size_t v = 0; v < operators; ++v) {
        bool const is_input = j["operators"][v]["subgraph"].is_null();
        CHECK((in_subgraph[v] == !is_input && in_mini[v] == !is_input));
        if (json const& step = j["operators"][v]["step"]; !step.is_null()) {
          json const& own = j["steps"][step.get<std::size_t>()]["operators"];
          CHECK(std::find(own.begin(), own.end(), v) != own.end());
        }
      }
      for (json const& e : j["edges"]) {
        json const& from = j["operators"][e["from"].get<std::size_t>()];
        json const& to = j["operators"][e["to"].get<std::size_t>()];
        long bytes = 4;
        for (long extent : from["extents"]) bytes *= extent;
        CHECK(e["bytes"] == bytes);
        CHECK(e["crosses"] == (!from["subgraph"].is_null() && from["subgraph"] != to["subgraph"]));
      }
    }
}

TEST_CASE("JSON has the statistics of the compile-time graph") {
  check_statistics<networks::mobilenet_v2<224>>("mobilenet_v2");
  check_statistics<networks::shufflenet_v2<224>>("shufflenet_v2");
}

TEST_CASE("JSON of a network without sizes, whose name needs escaping") {
  json const j = json_of(hostile());
  CHECK((j["network"] == "<\"net\">" && j["size"].is_null()));
}

namespace {

/// The part of Graphviz's language that the inspector writes: text outside strings, and the strings.
struct dot_text {
  std::vector<std::string> statements;  ///< strings are replaced by a quote
  std::vector<std::string> strings;
  int depth = 0, deepest = 0;
};

dot_text read_dot(std::string const& text) {
  dot_text r;
  std::string statement, string;
  bool inside = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    char const c = text[k];
    if (inside) {
      if (c == '\\') string += {c, text.at(++k)};
      else if (c == '"') r.strings.push_back(string), inside = false, string.clear();
      else string += c;
      REQUIRE(c != '\n');
    } else if (c == '"') {
      inside = true;
      statement += '"';
    } else if (c == '{' || c == '}' || c == ';') {
      r.depth += (c == '{') - (c == '}');
      REQUIRE(r.depth >= 0);
      r.deepest = std::max(r.deepest, r.depth);
      statement.erase(0, statement.find_first_not_of(" \n"));
      if (!statement.empty()) r.statements.push_back(statement);
      statement.clear();
    } else {
      statement += c;
    }
  }
  REQUIRE((!inside && r.depth == 0));
  return r;
}

}  // namespace

TEST_CASE("Graphviz: braces balance, every operator and edge occurs once, clusters are the partition") {
  for (known_network const& n : known_networks())
    for (int p = 0; p < ago::partition::policies; ++p) {
      inspection const i = inspected(n.name.c_str(), policy(p));
      dot_text const dot = read_dot(written([&](std::ostream& out) { write_dot(out, i); }));
      CHECK(dot.deepest == 3);
      std::map<std::string, int> nodes, clusters, edges;
      for (std::string const& s : dot.statements) {
        if (s[0] == 'n' && s.find("->") != std::string::npos) ++edges[s];
        else if (s[0] == 'n' && s[1] != 'o' && s.find(" [label") != std::string::npos)
          ++nodes[s.substr(0, s.find(' '))];
        else if (s.rfind("subgraph cluster_", 0) == 0) ++clusters[s];
      }
      CHECK((nodes.size() == i.nodes.size() && clusters.size() == i.subgraphs.size() + std::size_t(i.minis)));
      int drawn = 0;
      for (auto const& [edge, count] : edges) drawn += count;
      CHECK(drawn == int(i.edges.size()));
      for (auto const& [name, count] : nodes) CHECK(count == 1);
      for (auto const& [name, count] : clusters) CHECK(count == 1);
    }
}

TEST_CASE("Graphviz: names are quoted") {
  dot_text const dot = read_dot(written([&](std::ostream& out) { write_dot(out, hostile()); }));
  auto const has = [&](std::string const& s) {
    return std::find(dot.strings.begin(), dot.strings.end(), s) != dot.strings.end();
  };
  CHECK(has("<\\\"net\\\">"));
  CHECK(has("pointwise\\n2x2x8\\n\\\"a\\\\b\\\" <c> & {d}\\\\n</script>"));
}

TEST_CASE("control characters in names are escaped in every format") {
  inspection i = hostile("\x1b[31mred\a \xe2\x80\xaegpj\xff");
  i.network = "\x1b]0;title\a.onnx";
  std::vector const all{i};
  auto const harmless = [](std::string const& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  };
  std::string const dot = written([&](std::ostream& out) { write_dot(out, i); });
  CHECK(harmless(dot));
  CHECK(dot.find("\\\\x1b[31mred\\\\x07 \\\\u202egpj\\\\xff") != dot.npos);  // Graphviz shows one backslash of two
  std::string const page = written([&](std::ostream& out) { write_html(out, all); });
  CHECK(page.find('\x1b') == page.npos);
  CHECK(page.find('\a') == page.npos);
  CHECK(page.find("\xe2\x80\xae") == page.npos);
  CHECK(page.find("\\\\x1b[31mred\\\\x07 \\\\u202egpj\\\\xff") != page.npos);  // in a string of JSON
  std::string const text = written([&](std::ostream& out) { write_text(out, all); });
  CHECK(harmless(text));
  CHECK(text.find("\\x1b]0;title\\x07.onnx") != text.npos);
  std::string const figures = written([&](std::ostream& out) { write_json(out, i); });
  CHECK(harmless(figures));
  CHECK(json::parse(figures)["network"] == i.network);
}

TEST_CASE("a map is shown by its name, if it has one") {
  using namespace ago;
  using namespace ago::partition;
  using namespace ago::passes;
  static constexpr auto net = input{.h = 2, .w = 2, .c = 8} | map{[](auto x) { return x * x; }, "swish7"} |
                              global_avg_pool{} | map{[](auto x) { return x + 1.f; }, "a_name_that_is_too_long"};
  std::vector const all{inspect(trace_now<net>()->value)};
  std::string const text = written([&](std::ostream& out) { write_text(out, all); });
  CHECK(text.find("elementwise (swish7)") != text.npos);
  std::string const dot = written([&](std::ostream& out) { write_dot(out, all[0]); });
  CHECK(dot.find("\"swish7\\n2x2x8\"") != dot.npos);
  std::string const page = written([&](std::ostream& out) { write_html(out, all); });
  CHECK(page.find("elementwise (swish7)</td>") != page.npos);
  CHECK(data_of(page)[0]["operators"][1]["label"] == "swish7");
  CHECK(data_of(page)[0]["operators"][3]["label"] == "a_name_that_is_too_long");
  json const j = json_of(all[0])["partition"]["operators"][1];
  CHECK((j["kind"] == "map" && j["function"] == "swish7"));
  for (std::string const* format : {&text, &dot}) CHECK(format->find("map") == format->npos);
}

TEST_CASE("two policies are shown with their own operators and steps") {
  std::vector const all{inspected("bert_tiny", policy::ago), inspected("bert_tiny", policy::apollo)};
  REQUIRE(all[0].nodes.size() < all[1].nodes.size());
  std::string const page = written([&](std::ostream& out) { write_html(out, all); });
  json const data = data_of(page);
  REQUIRE(data.size() == 2);
  std::size_t rows = 0;
  for (std::size_t at = page.find("<tr data-step"); at != page.npos; at = page.find("<tr data-step", at + 1)) ++rows;
  CHECK(rows == all[0].steps.size() + all[1].steps.size());
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(data[k]["policy"] == all[k].policy);
    CHECK((data[k]["operators"].size() == all[k].nodes.size() && data[k]["steps"].size() == all[k].steps.size()));
    CHECK((data[k]["flows"].size() == all[k].flows.size() && data[k]["values"].size() == all[k].values.size()));
    double time = 0;
    for (json const& step : data[k]["steps"]) time += step["time"].get<double>();
    CHECK(time == doctest::Approx(all[k].microseconds(all[k].cycles())));
  }
  CHECK(page.find(operators_in(all)) != page.npos);
}

TEST_CASE("text: a column for each policy, and all steps") {
  std::vector const all{inspected("bert_tiny", policy::ago), inspected("bert_tiny", policy::fuse_ops)};
  std::string const text = written([&](std::ostream& out) { write_text(out, all); });
  std::istringstream lines(text);
  std::size_t steps = 0, figures = 0;
  bool in_steps = false;
  for (std::string line; std::getline(lines, line);) {
    CHECK((line.empty() || line.back() != ' '));
    if (line.rfind("steps under", 0) == 0) in_steps = true;
    else if (in_steps && line.find('%') == std::string::npos && !line.empty()) ++steps;
    for (std::size_t k = 0; !in_steps && k < figures_of(all[0]).size(); ++k) {
      auto const a = figures_of(all[0])[k], b = figures_of(all[1])[k];
      if (line.rfind(a.label, 0) != 0) continue;
      ++figures;
      CHECK(line.find(a.text) < line.rfind(b.text));
    }
  }
  CHECK(steps == all[0].steps.size() + all[1].steps.size());
  CHECK(figures == figures_of(all[0]).size());
}

TEST_CASE("numbers") {
  CHECK((grouped(0) == "0" && grouped(999) == "999" && grouped(1000) == "1 000" && grouped(-1234567) == "-1 234 567"));
  CHECK(fixed(2.25, 1) == "2.2");
}

TEST_CASE("HTML: names do not become markup, nor end the script") {
  std::vector const all{hostile()};
  std::string const page = written([&](std::ostream& out) { write_html(out, all); });
  CHECK(page.find("<c>") == std::string::npos);
  CHECK(page.find("{{") == std::string::npos);
  CHECK(data_of(page)[0]["operators"][1]["name"] == "\"a\\b\" <c> & {d}\\n</script>");
  CHECK(page.find("<h1>&lt;&quot;net&quot;&gt;</h1>") != std::string::npos);
  std::size_t scripts = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos; at = page.find("</script>", at + 1)) ++scripts;
  CHECK(scripts == 2);
}
