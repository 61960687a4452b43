// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds sequences that repeat except for their numbers, and turns them into functions.
#include "repetition.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

namespace ago::importer {

namespace {

int weight(item const& i) {
  if (i.branches.empty()) return 1;
  int r = 0;
  for (sequence const& b : i.branches)
    for (item const& k : b) r += weight(k);
  return r;
}

struct place {
  sequence* where;
  std::size_t first;
};

/// A run that occurs in several places.
struct repetition {
  std::size_t length = 0;
  std::vector<place> places;
  int gain = 0;
};

/// A function does not begin with an activation, which belongs to the layer before it.
bool may_begin(item const& i) {
  static std::set<std::string, std::less<>> const attached{
      "bias", "scale",   "batch_norm", "relu",         "relu6",      "leaky_relu", "prelu",
      "clip", "sigmoid", "silu",       "hard_sigmoid", "hard_swish", "gelu",       "hyperbolic_tangent"};
  return i.kind != item_kind::layer || attached.count(i.name) == 0;
}

class factoring {
 public:
  explicit factoring(program_text& text) : text_(text) {}

  void run() {
    repeat_equal_items();
    while (replace_best()) {}
    repeat_equal_items();
    order_blocks();
  }

 private:
  static void collect_uses(sequence const& s, std::set<std::string>& names) {
    for (item const& i : s) {
      if (i.kind == item_kind::block) names.insert(i.name);
      for (sequence const& b : i.branches) collect_uses(b, names);
    }
  }

  /// A function comes after those that it calls.
  void order_blocks() {
    std::vector<block> ordered;
    std::set<std::string> done;
    while (ordered.size() < text_.blocks.size())
      for (block const& b : text_.blocks) {
        std::set<std::string> uses;
        collect_uses(b.body, uses);
        if (done.count(b.name) || !std::includes(done.begin(), done.end(), uses.begin(), uses.end())) continue;
        ordered.push_back(b);
        done.insert(b.name);
      }
    text_.blocks = std::move(ordered);
  }

  std::vector<sequence*> all_sequences() {
    std::vector<sequence*> r;
    std::function<void(sequence&)> const collect = [&](sequence& s) {
      r.push_back(&s);
      for (item& i : s)
        for (sequence& b : i.branches) collect(b);
    };
    for (statement& s : text_.statements) collect(s.items);
    for (block& b : text_.blocks) collect(b.body);
    return r;
  }

  /// Places that do not overlap, from the left.
  static std::vector<place> apart(std::vector<place> const& all, std::size_t length) {
    std::vector<place> r;
    for (place const& p : all)
      if (r.empty() || r.back().where != p.where || r.back().first + length <= p.first) r.push_back(p);
    return r;
  }

  static sequence run_at(place const& p, std::size_t length) {
    auto const begin = p.where->begin() + std::ptrdiff_t(p.first);
    return {begin, begin + std::ptrdiff_t(length)};
  }

  /// The number of parameters that a function for these places needs.
  static std::size_t parameters(repetition const& r) {
    std::vector<std::vector<argument>> values;
    for (place const& p : r.places) values.push_back(numbers_of(run_at(p, r.length)));
    std::set<std::string> columns;
    for (std::size_t i = 0; i < values[0].size(); ++i) {
      std::string column;
      for (auto const& v : values) column += v[i].value + "|";
      bool const varies =
          std::any_of(values.begin(), values.end(), [&](auto const& v) { return differs(v[i], values[0][i]); });
      if (varies) columns.insert(column);
    }
    return columns.size();
  }

  /// Runs of items as a tree: a run is another run, plus a last item up to its numbers.
  struct segment {
    int before = -1;
    std::string const* last = nullptr;
    std::size_t length = 0;
    int weight = 0;
    std::vector<place> places{};
  };

  /// All runs of up to `longest` items that may become functions.
  std::vector<segment> all_runs() {
    constexpr std::size_t longest = 48;
    std::vector<segment> runs;
    std::map<std::pair<int, std::string const*>, int> number_of;
    for (sequence* s : all_sequences()) {
      std::vector<std::string const*> kinds;
      for (item const& i : *s) kinds.push_back(&*signatures_.insert(signature(i)).first);
      work_ += longest * s->size();
      for (std::size_t i = 0; i < s->size(); ++i) {
        if (!may_begin((*s)[i])) continue;
        int last = -1;
        for (std::size_t n = 1; n <= longest && i + n <= s->size(); ++n) {
          auto const [at, is_new] = number_of.try_emplace({last, kinds[i + n - 1]}, int(runs.size()));
          int const sum = (last < 0 ? 0 : runs[std::size_t(last)].weight) + weight((*s)[i + n - 1]);
          if (is_new) runs.push_back({.before = last, .last = at->first.second, .length = n, .weight = sum});
          last = at->second;
          runs[std::size_t(last)].places.push_back({s, i});
        }
      }
    }
    return runs;
  }

  static std::string text_of(std::vector<segment> const& runs, segment const& r) {
    return (r.before < 0 ? "" : text_of(runs, runs[std::size_t(r.before)])) + *r.last + "|";
  }

  /// Replaces the run for which a function saves most; among equals, the first in alphabetical order. False if there is
  /// none, or if the work exceeds its limit: it grows with the square of a repetitive network.
  bool replace_best() {
    constexpr std::size_t most_parameters = 6, most_work = 50'000'000;
    constexpr int least_weight = 3;
    std::vector<segment> const runs = all_runs();
    repetition best;
    segment const* chosen = nullptr;
    for (segment const& candidate : runs) {
      if (candidate.places.size() < 2 || candidate.weight < least_weight) continue;
      repetition r{candidate.length, apart(candidate.places, candidate.length), 0};
      int const most = (int(r.places.size()) - 1) * (candidate.weight - 1);
      if (r.places.size() < 2 || most < best.gain) continue;
      work_ += r.places.size() * r.length;
      if (work_ > most_work) return false;
      std::size_t const count = parameters(r);
      if (count > most_parameters) continue;
      r.gain = most - int(count);
      bool const first =
          !chosen || r.gain > best.gain || (r.gain == best.gain && text_of(runs, candidate) < text_of(runs, *chosen));
      if (first) best = r, chosen = &candidate;
    }
    constexpr int least_gain = 3;
    if (best.gain < least_gain) return false;
    replace(best);
    return true;
  }

  void replace(repetition const& r) {
    block b;
    b.body = run_at(r.places[0], r.length);
    std::vector<std::vector<argument>> values;
    for (place const& p : r.places) values.push_back(numbers_of(run_at(p, r.length)));
    std::map<std::string, std::size_t> parameter_of;  // by the values at all places
    std::set<std::string> names;
    collect_layers(b.body, names);
    std::vector<std::size_t> source;  // the index of each parameter's number
    std::size_t next = 0;
    for (item& i : b.body)
      visit_arguments(i, [&](argument& a) {
        std::size_t const k = next++;
        std::string column = a.type;
        bool varies = false;
        for (auto const& v : values) {
          column += "|" + v[k].value;
          varies = varies || differs(v[k], values[0][k]);
        }
        if (!varies) return;
        auto const [at, is_new] = parameter_of.try_emplace(column, b.parameters.size());
        if (is_new) {
          b.parameters.push_back({parameter_name(a, names), "", "", a.type});
          source.push_back(k);
        }
        a.value = b.parameters[at->second].field;
        a.is_name = true;
      });
    settle_types(b, values, source);
    b.name = name_of(b);
    b.uses = int(r.places.size());
    // From the right, so that earlier places stay valid.
    for (std::size_t n = r.places.size(); n-- > 0;) {
      place const& p = r.places[n];
      item call{.kind = item_kind::block, .name = b.name, .positional = true, .origin = (*p.where)[p.first].origin};
      for (std::size_t k = 0; k < b.parameters.size(); ++k)
        call.arguments.push_back({b.parameters[k].field, values[n][source[k]].value, "", b.parameters[k].type,
                                  values[n][source[k]].is_name});
      auto const begin = p.where->begin() + std::ptrdiff_t(p.first);
      p.where->erase(begin, begin + std::ptrdiff_t(r.length));
      p.where->insert(p.where->begin() + std::ptrdiff_t(p.first), std::move(call));
    }
    text_.blocks.push_back(std::move(b));
  }

  static void settle_types(block& b, std::vector<std::vector<argument>> const& values,
                           std::vector<std::size_t> const& source) {
    for (std::size_t k = 0; k < b.parameters.size(); ++k) {
      std::vector<std::string> texts;
      for (auto const& v : values) texts.push_back(v[source[k]].value);
      b.parameters[k].type = parameter_type(b.parameters[k].type, texts);
    }
  }

  std::string name_of(block const& b) {
    std::string name;
    constexpr std::size_t speaking = 4;
    if (b.body.size() <= speaking &&
        std::all_of(b.body.begin(), b.body.end(), [](item const& i) { return i.kind == item_kind::layer; }))
      for (item const& i : b.body) name += (name.empty() ? "" : "_") + i.name;
    if (name.empty()) name = "block";
    std::string r = name;
    for (int i = 2; !block_names_.insert(r).second; ++i) r = name + std::to_string(i);
    return r;
  }

  void repeat_equal_items() {
    for (statement& s : text_.statements) repeat_equal_items(s.items);
    for (block& b : text_.blocks) repeat_equal_items(b.body);
  }

  static void repeat_equal_items(sequence& s) {
    sequence shorter;
    for (std::size_t i = 0; i < s.size();) {
      std::size_t n = 1;
      while (i + n < s.size() && same(s[i], s[i + n])) ++n;
      if (n > 1 && weight(s[i]) + int(s[i].kind == item_kind::block) > 1) {
        shorter.push_back({.kind = item_kind::repeated,
                           .name = "repeat",
                           .branches = {{s[i]}},
                           .times = int(n),
                           .origin = s[i].origin});
      } else {
        auto const begin = s.begin() + std::ptrdiff_t(i);
        std::move(begin, begin + std::ptrdiff_t(n), std::back_inserter(shorter));
      }
      i += n;
    }
    s = std::move(shorter);
    for (item& i : s)
      for (sequence& b : i.branches) repeat_equal_items(b);
  }

  static bool same(item const& a, item const& b) {
    if (signature(a) != signature(b)) return false;
    auto const x = numbers_of({a}), y = numbers_of({b});
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](argument const& p, argument const& q) { return p.value == q.value; });
  }

  program_text& text_;
  std::set<std::string> block_names_{"network"};
  std::set<std::string> signatures_;
  std::size_t work_ = 0;
};

}  // namespace

void factor(program_text& text) { factoring(text).run(); }

}  // namespace ago::importer
