// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executor's data movements, by hand, for operators that PyTorch does not have. The others are in vectors.inc.
#include "by_hand.hpp"

namespace {

using ago::op;
using reference::builder;
using reference::check_close;
using reference::outputs_of;

}  // namespace

TEST_CASE("a slice may go backwards") {
  builder b;
  b.slice(b.input({1, 1, 2, 5}), 3, 4, 3, -2);
  check_close(outputs_of(b, {}, {{0, 1, 2, 3, 4, 10, 11, 12, 13, 14}}), {4, 2, 0, 14, 12, 10});
}

TEST_CASE("channels are shuffled as in ShuffleNet") {
  builder b;
  b.append({.kind = op::channel_shuffle, .out = {1, 1, 1, 6}, .groups = 2}, {b.input({1, 1, 1, 6})});
  check_close(outputs_of(b, {}, {{0, 1, 2, 3, 4, 5}}), {0, 3, 1, 4, 2, 5});
}

TEST_CASE("every place in the patches becomes an image of its own, and back") {
  builder b;
  int const x = b.input({1, 2, 4, 1});
  ago::ir::patch const patch{2, 2};
  int const y = b.append({.kind = op::unfold, .out = {4, 1, 2, 1}, .patch = patch}, {x});
  std::vector<std::vector<float>> const image{{0, 1, 2, 3, 10, 11, 12, 13}};
  SUBCASE("unfold") { check_close(outputs_of(b, {}, image), {0, 2, 1, 3, 10, 12, 11, 13}); }
  SUBCASE("fold") {
    b.append({.kind = op::fold, .out = {1, 2, 4, 1}, .patch = patch}, {y});
    check_close(outputs_of(b, {}, image), {0, 1, 2, 3, 10, 11, 12, 13});
  }
}

TEST_CASE("the nearest pixel is that of integer arithmetic") {
  builder b;
  int const x = b.input({1, 1, 3, 1});
  b.append({.kind = op::resize_nearest, .out = {1, 1, 7, 1}}, {x});
  check_close(outputs_of(b, {}, {{1, 2, 3}}), {1, 1, 1, 2, 2, 3, 3});
}

TEST_CASE("bilinear resizing stays on the image") {
  builder b;
  b.append({.kind = op::resize_bilinear, .out = {1, 1, 4, 1}}, {b.input({1, 1, 2, 1})});
  check_close(outputs_of(b, {}, {{0, 8}}), {0, 2, 6, 8});
}

TEST_CASE("numbers beyond a table select its ends, fractions are truncated") {
  builder b;
  b.embedding(b.input({1, 1, 6, 1}), 3, 2);
  check_close(outputs_of(b, {1, 2, 3, 4, 5, 6}, {{-7, -.9f, .9f, 1.99f, 2, 3e30f}}),
              {1, 2, 1, 2, 1, 2, 3, 4, 5, 6, 5, 6});
}
