// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds statements that repeat one after another, such as the steps of an unrolled loop, and turns them into functions.
#include "repetition.hpp"
#include "variables.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace ago::importer {

namespace {

/// Statements from `first` on that are `count` times the same `period` ones.
struct loop {
  std::size_t first = 0, period = 0, count = 0;
  std::vector<std::vector<int>> inputs{};            ///< what each time reads from outside
  std::vector<std::vector<std::size_t>> input_of{};  ///< for each read of the first time: its input, or `inside`
  std::vector<std::vector<argument>> numbers{};      ///< what differs, for each time
  std::vector<std::size_t> results{};                ///< statements that are read outside
  int gain = 0;

  static constexpr std::size_t inside = ~std::size_t{0};
};

class stepping {
 public:
  explicit stepping(program_text& text) : text_(text), reads_(text) {}

  void run() {
    while (replace_best()) {}
  }

 private:
  /// The statement within its time that makes a variable; nothing if it is made outside of this time.
  std::optional<std::size_t> place_in(loop const& l, std::size_t time, int variable) const {
    int const at = reads_.variables[std::size_t(variable)].made_by - int(l.first + time * l.period);
    if (at < 0 || at >= int(l.period)) return {};
    return std::size_t(at);
  }

  /// False if a variable is made inside at one time, and outside at another.
  bool find_inputs(loop& l) const {
    std::map<std::vector<int>, std::size_t> known;
    for (std::size_t k = 0; k < l.period; ++k) {
      l.input_of.emplace_back();
      for (std::size_t j = 0; j < reads_.statements[l.first + k].reads.size(); ++j) {
        std::vector<int> each;
        for (std::size_t t = 0; t < l.count; ++t)
          each.push_back(reads_.statements[l.first + t * l.period + k].reads[j]);
        auto const place = place_in(l, 0, each[0]);
        for (std::size_t t = 1; t < l.count; ++t)
          if (place_in(l, t, each[t]) != place) return false;
        if (place) {
          l.input_of[k].push_back(loop::inside);
          continue;
        }
        l.input_of[k].push_back(known.emplace(each, known.size()).first->second);
        if (known.size() > l.inputs.size()) l.inputs.push_back(std::move(each));
      }
    }
    return true;
  }

  void find_results(loop& l) const {
    for (std::size_t k = 0; k < l.period; ++k)
      for (std::size_t t = 0; t < l.count; ++t)
        if (is_read_outside(l, t, k)) {
          l.results.push_back(k);
          break;
        }
  }
  bool is_read_outside(loop const& l, std::size_t time, std::size_t k) const {
    int const begin = int(l.first + time * l.period), end = begin + int(l.period);
    variable const& x = reads_.variables[std::size_t(reads_.statements[std::size_t(begin) + k].makes)];
    return x.is_output ||
           std::any_of(x.readers.begin(), x.readers.end(), [&](int reader) { return reader < begin || reader >= end; });
  }

  void find_numbers(loop& l) const {
    std::set<std::string> known;
    std::vector<std::vector<argument>> each;
    for (std::size_t t = 0; t < l.count; ++t) {
      each.emplace_back();
      for (std::size_t k = 0; k < l.period; ++k)
        for (argument& a : numbers_of(text_.statements[l.first + t * l.period + k].items))
          each[t].push_back(std::move(a));
    }
    for (std::size_t i = 0; i < each[0].size(); ++i) {
      std::vector<argument> column;
      for (auto const& numbers : each) column.push_back(numbers[i]);
      bool const varies =
          std::any_of(column.begin(), column.end(), [&](argument const& a) { return differs(a, column[0]); });
      if (varies && known.insert(key_of(column)).second) l.numbers.push_back(std::move(column));
    }
  }

  static std::string key_of(std::vector<argument> const& column) {
    std::string r = column[0].type;
    for (argument const& a : column) r += "|" + a.value;
    return r;
  }

  /// Whether a loop's statements repeat within each of its times, with the period of another one.
  bool repeats_within(loop const& l, std::size_t shorter) const {
    if (shorter == 0 || l.period == shorter || l.period % shorter != 0) return false;
    for (std::size_t k = l.first; k < l.first + l.period; ++k)
      if (reads_.statements[k].kind != reads_.statements[k + shorter].kind) return false;
    return true;
  }

  /// The better of `best` and the loops of a period. A loop begins with any statement of a run of statements that are
  /// like those a period later.
  loop best_of_period(std::size_t period, loop best) {
    constexpr std::size_t most_parameters = 10, most_results = 4, most_work = 2'000'000;
    std::size_t const n = reads_.statements.size();
    for (std::size_t i = 0; i + period < n;) {
      std::size_t end = i;
      while (end + period < n && reads_.statements[end].kind == reads_.statements[end + period].kind) ++end;
      for (std::size_t first = i; first < i + period && first + period <= end; ++first) {
        loop l{.first = first, .period = period, .count = (end - first) / period + 1};
        int const most = int((l.count - 1) * (period - 1));
        if (most <= best.gain || work_ > most_work || repeats_within(l, best.period)) continue;
        work_ += l.count * period;
        if (!find_inputs(l)) continue;
        find_results(l);
        find_numbers(l);
        if (l.inputs.size() + l.numbers.size() > most_parameters || l.results.size() > most_results) continue;
        l.gain = most - int(l.inputs.size() + l.numbers.size() + l.results.size());
        if (l.gain > best.gain && !l.results.empty()) best = std::move(l);
      }
      i = end + 1;
    }
    return best;
  }

  /// Replaces the loop that saves most; false if there is none.
  bool replace_best() {
    constexpr std::size_t longest = 64;
    constexpr int least_gain = 8;
    reads_ = variable_uses(text_);
    loop best{.gain = least_gain - 1};
    for (std::size_t period = 2; period <= longest; ++period) best = best_of_period(period, std::move(best));
    if (best.period == 0) return false;
    replace(best);
    return true;
  }

  /// A statement of the first time, with the names of the function.
  statement renamed(loop const& l, std::size_t k, std::map<std::string, std::string> const& number_names) const {
    parsed_statement const& p = reads_.statements[l.first + k];
    statement r = text_.statements[l.first + k];
    r.name = local_name(k);
    r.head = p.between[0];
    for (std::size_t j = 0; j < p.reads.size(); ++j) {
      std::size_t const input = l.input_of[k][j];
      r.head += input == loop::inside ? local_name(*place_in(l, 0, p.reads[j])) : input_name(input);
      r.head += p.between[j + 1];
    }
    std::vector<std::vector<argument>> each;  // the numbers of this statement, at all times
    for (std::size_t t = 0; t < l.count; ++t)
      each.push_back(numbers_of(text_.statements[l.first + t * l.period + k].items));
    std::size_t next = 0;
    for (item& i : r.items)
      visit_arguments(i, [&](argument& a) {
        std::vector<argument> column;
        for (auto const& numbers : each) column.push_back(numbers[next]);
        ++next;
        if (auto const found = number_names.find(key_of(column)); found != number_names.end())
          a.value = found->second, a.is_name = true;
      });
    return r;
  }

  static std::string local_name(std::size_t k) { return "x" + std::to_string(k + 1); }
  static std::string input_name(std::size_t i) { return "in" + std::to_string(i + 1); }

  step_function function_of(loop const& l) const {
    step_function f;
    std::set<std::string> used;
    for (std::size_t k = 0; k < l.period; ++k) {
      collect_layers(text_.statements[l.first + k].items, used);
      used.insert(local_name(k));
    }
    for (std::size_t i = 0; i < l.inputs.size(); ++i) {
      f.parameters.push_back({input_name(i), "", "", "tensor"});
      used.insert(input_name(i));
    }
    std::map<std::string, std::string> number_names;
    for (auto const& column : l.numbers) {
      std::vector<std::string> values;
      for (argument const& a : column) values.push_back(a.value);
      std::string const name = parameter_name(column[0], used);
      f.parameters.push_back({name, "", "", parameter_type(column[0].type, values)});
      number_names[key_of(column)] = name;
    }
    for (std::size_t k = 0; k < l.period; ++k) f.body.push_back(renamed(l, k, number_names));
    for (std::size_t k : l.results) f.results.push_back(local_name(k));
    return f;
  }

  static std::string key_of(step_function const& f) {
    std::string r;
    for (argument const& p : f.parameters) r += p.type + " " + p.field + ",";
    for (statement const& s : f.body) {
      r += s.head;
      for (item const& i : s.items) r += "|" + signature(i);
      for (argument const& a : numbers_of(s.items)) r += "," + a.value;
      r += ";";
    }
    for (std::string const& name : f.results) r += name + ",";
    return r;
  }

  /// The function, which may be one that another loop has.
  std::string name_of(step_function f, std::size_t uses) {
    for (step_function& other : text_.steps)
      if (key_of(other) == key_of(f)) return other.uses += int(uses), other.name;
    f.name = text_.steps.empty() ? "step" : "step" + std::to_string(text_.steps.size() + 1);
    f.uses = int(uses);
    text_.steps.push_back(std::move(f));
    return text_.steps.back().name;
  }

  void replace(loop const& l) {
    std::string const name = name_of(function_of(l), l.count);
    std::vector<statement> calls;
    for (std::size_t t = 0; t < l.count; ++t) {
      std::size_t const begin = l.first + t * l.period;
      statement s{.name = {}, .head = {}, .items = {}, .origin = text_.statements[begin].origin};
      for (std::size_t k : l.results) s.name += (s.name.empty() ? "" : ", ") + text_.statements[begin + k].name;
      if (l.results.size() > 1) s.name = "[" + s.name + "]";
      for (auto const& each : l.inputs)
        s.head += (s.head.empty() ? "" : ", ") + reads_.variables[std::size_t(each[t])].name;
      for (auto const& column : l.numbers) s.head += (s.head.empty() ? "" : ", ") + column[t].value;
      s.head = name + "(" + s.head + ")";
      calls.push_back(std::move(s));
    }
    auto const begin = text_.statements.begin() + std::ptrdiff_t(l.first);
    auto const at = text_.statements.erase(begin, begin + std::ptrdiff_t(l.count * l.period));
    text_.statements.insert(at, std::make_move_iterator(calls.begin()), std::make_move_iterator(calls.end()));
  }

  program_text& text_;
  variable_uses reads_;
  std::size_t work_ = 0;
};

}  // namespace

void factor_steps(program_text& text) { stepping(text).run(); }

}  // namespace ago::importer
