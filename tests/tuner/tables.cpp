// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entries of the tables that are committed with the networks are still found.
#include <networks/mobilenet_v2.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>
#include <networks/tuned/emerald_rapids_avx2.hpp>
#include <networks/tuned/emerald_rapids_avx512.hpp>
#include <networks/tuned/zen5_avx2.hpp>
#include <networks/tuned/zen5_avx512.hpp>

#include <ago/runtime/program.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

using namespace ago;

namespace {

/// The number of steps that find a schedule, or -1 if this is not compiled for the instruction set.
template <auto const& Net, auto const& Table, isa Target>
int found() {
  if constexpr (available(Target)) return program<Net, Table, options{.target = Target}>::tuned_steps;
  else return -1;
}

std::string text_of(char const* file) {
  std::ifstream in(std::string(AGO_SOURCE_DIR "/examples/networks/tuned/") + file);
  REQUIRE(in);
  return (std::ostringstream() << in.rdbuf()).str();
}

/// The number of parts of a network with entries in `text`, according to their comments.
int steps_in(std::string const& text, std::string const& network) {
  int steps = 0;
  std::string const mark = "    // " + network + ", part";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    std::string const list = text.substr(at, text.find(':', at + mark.size() + 1) - at);
    for (std::size_t k = mark.size(); k < list.size(); ++k) steps += list[k] == ' ';
  }
  return steps;
}

/// Checks that networks find all entries that were tuned for them.
template <auto const& Net, auto const& Table, isa Target>
void check_found(std::string const& text, std::string const& network) {
  int const steps = found<Net, Table, Target>();
  if (steps < 0) {
    MESSAGE("not compiled for ", name_of(Target));
    return;
  }
  CAPTURE(network);
  CHECK(steps_in(text, network) > 0);
  CHECK(steps >= steps_in(text, network));
}

}  // namespace

TEST_CASE("the committed tables are not stale") {
  std::string const wide = text_of("emerald_rapids_avx512.hpp"), narrow = text_of("emerald_rapids_avx2.hpp");
  using namespace networks;
  check_found<shufflenet_v2<56>, tuned::emerald_rapids_avx512, isa::avx512>(wide, "networks::shufflenet_v2<56>");
  check_found<mobilenet_v2<56>, tuned::emerald_rapids_avx512, isa::avx512>(wide, "networks::mobilenet_v2<56>");
  check_found<mobilenet_v2<56>, tuned::emerald_rapids_avx2, isa::avx2>(narrow, "networks::mobilenet_v2<56>");
  std::string const other = text_of("zen5_avx2.hpp");
  check_found<squeezenet<56>, tuned::zen5_avx2, isa::avx2>(other, "networks::squeezenet<56>");
  CHECK(found<mobilenet_v2<56>, tuned::zen5_avx512, isa::avx512>() <= 0);  // nothing was faster than the default
}

TEST_CASE("a table for another instruction set changes nothing") {
  CHECK(found<networks::mobilenet_v2<56>, tuned::emerald_rapids_avx512, isa::avx2>() <= 0);
  CHECK(found<networks::mobilenet_v2<56>, tuned::emerald_rapids_avx2, isa::avx512>() <= 0);
}
