// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inspection.hpp"

#include "../support/printable.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ago::tools {

std::string inspected_step::kernel() const {
  std::string names = parts.size() > 1 ? std::string(name_of(tiles.how)) + ": " : "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    names += (i ? ", " : "") + std::string(name_of(parts[i].what));
    if (parts[i].what == plan::structure::elementwise && !parts[i].epilogue.empty())
      names += " (" + shortened(parts[i].epilogue, 40) + ')';
  }
  return names;
}

std::string inspected_step::layers() const { return to_string(parts.front().in) + " > " + to_string(parts.back().out); }

double inspection::cycles() const {
  return std::accumulate(steps.begin(), steps.end(), 0., [](double sum, auto const& s) { return sum + s.cycles; });
}

measured_time inspection::measured_steps(int subgraph) const {
  measured_time sum;
  for (inspected_step const& s : steps) {
    if (!s.measured || (subgraph >= 0 && s.subgraph != subgraph)) continue;
    sum.median_us += s.measured->median_us;
    sum.least_us += s.measured->least_us;
  }
  return sum;
}

plan::step_account inspection::account() const {
  plan::step_account sum;
  for (inspected_step const& s : steps) {
    sum.multiply_adds += s.account.multiply_adds;
    sum.bytes_read += s.account.bytes_read;
    sum.bytes_written += s.account.bytes_written;
  }
  return sum;
}

plan::moved_bytes inspection::moved() const {
  plan::moved_bytes sum;
  for (inspected_step const& s : steps) sum += s.moved;
  return sum;
}

int inspection::pipelines() const {
  return int(std::count_if(steps.begin(), steps.end(), [](inspected_step const& s) { return s.parts.size() > 1; }));
}

bool inspection::crosses(inspected_edge const& e) const {
  int const from = nodes[std::size_t(e.from)].subgraph;
  return from >= 0 && from != nodes[std::size_t(e.to)].subgraph;
}

std::string operators_in(std::span<inspection const> all) {
  std::string text = std::to_string(all.front().operators());
  for (inspection const& i : all.subspan(1))
    if (i.operators() != all.front().operators()) text += " and " + std::to_string(i.operators());
  return text + (text == "1" ? " operator" : " operators");
}

std::string shortened(std::string const& text, std::size_t room) {
  std::string const shown = printable(text);
  if (shown.size() <= room) return shown;
  return std::string(whole_characters(shown, room - 3)) + "...";
}

std::string to_string(shape const& s) {
  std::string const image = std::to_string(s.h) + 'x' + std::to_string(s.w) + 'x' + std::to_string(s.c);
  return s.n == 1 ? image : std::to_string(s.n) + 'x' + image;
}

double hue_of(int subgraph) {
  constexpr double golden_angle = 137.508, first = 205;
  return std::fmod(first + subgraph * golden_angle, 360);
}

}  // namespace ago::tools
