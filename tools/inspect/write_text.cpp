// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"
#include "writers.hpp"

#include "../support/printable.hpp"

#include <algorithm>
#include <iomanip>
#include <string>
#include <vector>

namespace ago::tools {
namespace {

/// Rows of cells; each column is as wide as its widest cell. Text is left-aligned, numbers are right-aligned.
class table {
 public:
  explicit table(std::vector<bool> numbers) : numbers_(std::move(numbers)) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void write(std::ostream& out) const {
    std::vector<int> widths(numbers_.size());
    for (auto const& row : rows_)
      for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], int(row[k].size()));
    for (auto const& row : rows_) {
      std::string line;
      for (std::size_t k = 0; k < row.size(); ++k) {
        std::string const blanks(std::size_t(widths[k]) - row[k].size(), ' ');
        line += (k ? "  " : "") + (numbers_[k] ? blanks + row[k] : row[k] + blanks);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << '\n';
    }
  }

 private:
  std::vector<bool> numbers_;
  std::vector<std::vector<std::string>> rows_;
};

void write_figures(std::ostream& out, std::span<inspection const> all) {
  std::vector<std::vector<figure>> columns;
  for (inspection const& i : all) columns.push_back(figures_of(i));
  std::vector<bool> numbers(all.size() + 1, true);
  numbers[0] = false;
  table t(numbers);
  std::vector<std::string> head{"policy"};
  for (inspection const& i : all) head.emplace_back(i.policy);
  t.add(head);
  for (std::size_t row = 0; row < columns[0].size(); ++row) {
    std::vector<std::string> cells{columns[0][row].label};
    for (auto const& column : columns) cells.push_back(column[row].text);
    t.add(cells);
  }
  t.write(out);
}

void write_steps(std::ostream& out, inspection const& i) {
  table t({true, true, false, false, true, true, true, true, true, true, true, true});
  std::vector<std::string> head{"step",
                                "subgraph",
                                "kernel",
                                "layers",
                                "M mult-adds",
                                "KB read",
                                "KB written",
                                i.measured ? "predicted us" : "us",
                                "%"};
  if (i.measured) head.insert(head.end(), {"measured us", "least us", "%"});
  t.add(head);
  double const whole = i.cycles();
  measured_time const sum = i.measured_steps();
  auto const share = [](double part, double all) { return fixed(all > 0 ? 100 * part / all : 0, 1); };
  for (std::size_t k = 0; k < i.steps.size(); ++k) {
    inspected_step const& s = i.steps[k];
    std::vector<std::string> row{std::to_string(k),
                                 s.subgraph < 0 ? "" : std::to_string(s.subgraph),
                                 s.kernel(),
                                 s.layers(),
                                 fixed(double(s.account.multiply_adds) / 1e6, 2),
                                 fixed(double(s.account.bytes_read) / 1e3, 1),
                                 fixed(double(s.account.bytes_written) / 1e3, 1),
                                 fixed(i.microseconds(s.cycles), 1),
                                 share(s.cycles, whole)};
    if (s.measured)
      row.insert(row.end(), {fixed(s.measured->median_us, 1), fixed(s.measured->least_us, 1),
                             share(s.measured->median_us, sum.median_us)});
    t.add(row);
  }
  if (i.measured)
    t.add({"sum", "", "", "", fixed(double(i.account().multiply_adds) / 1e6, 2),
           fixed(double(i.account().bytes_read) / 1e3, 1), fixed(double(i.account().bytes_written) / 1e3, 1),
           fixed(i.microseconds(whole), 1), "", fixed(sum.median_us, 1), fixed(sum.least_us, 1), ""});
  t.write(out);
}

/// "4, 5"; a number that several rules share once.
std::string listed(std::vector<int> const& rules) {
  std::string text;
  for (std::size_t k = 0; k < rules.size(); ++k)
    if (k == 0 || rules[k] != rules[k - 1]) text += (k > 0 ? ", " : "") + std::to_string(rules[k]);
  return text;
}

}  // namespace

void write_text(std::ostream& out, std::span<inspection const> all) {
  inspection const& first = all.front();
  out << printable(first.network);
  if (first.size > 0) out << ' ' << first.size;
  out << ": " << operators_in(all) << ", for " << name_of(first.target) << " with " << first.device.l1_bytes / 1024
      << " KiB of L1 and " << first.device.l2_bytes / 1024 << " KiB of L2\n\n";
  write_figures(out, all);
  for (inspection const& i : all)
    if (!i.removed_rules.empty())
      out << '\n'
          << i.policy << " without these rules, which no kernel can follow: " << listed(i.removed_rules) << '\n';
  for (inspection const& i : all) {
    out << "\nsteps under " << i.policy << '\n';
    write_steps(out, i);
  }
}

}  // namespace ago::tools
