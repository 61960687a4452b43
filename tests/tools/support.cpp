// What several tools need: sentences for what the front end refuses.
#include <support/diagnostic.hpp>

#include <doctest/doctest.h>

#include <set>

namespace {

using namespace ago::tools;

TEST_CASE("every fault has a sentence of its own") {
  std::set<std::string> sentences;
  int const faults = int(ago::fault::not_a_network) + 1;
  for (int i = 0; i < faults; ++i) sentences.insert(sentence_of({.what = ago::fault(i)}));
  CHECK(sentences.size() == std::size_t(faults));
  CHECK(!sentences.contains(sentence_of({.what = ago::fault(faults)})));
}

TEST_CASE("a sentence has the numbers that do not agree") {
  ago::diagnostic const d{.what = ago::fault::bounds_are_reversed, .expected = 3, .actual = 2};
  CHECK(sentence_of(d) == "the lower bound exceeds the upper bound (expects 3, gets 2)");
}

}  // namespace
