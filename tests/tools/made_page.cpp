// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the page of a network that only tests need, for test_inspect_page.py.
//
// usage: made_page hostile|large
#include "partition/graphs.hpp"

#include <inspect.hpp>
#include <recorded.hpp>
#include <writers.hpp>

#include <networks/bert_tiny.hpp>

#include <iostream>
#include <string_view>

namespace {

/// A small network whose names contain markup.
ago::tools::inspection hostile() {
  test::builder<8, 8> b;
  int const x = b.pointwise(b.input({1, 2, 2, 4}), 8), y = b.unary(ago::op::relu, x), z = b.unary(ago::op::sigmoid, y);
  b.g.nodes[x].name = "\"a\" <b>bold</b> & <img src=x onerror=alert(1)>";
  b.g.nodes[y].name = "</script><script>alert(2)</script>'";
  b.g.nodes[z].name = "\x1b[31mred\a \xe2\x80\xaegpj.exe";
  b.output(z);
  ago::tools::inspection i = ago::tools::inspect(b.g);
  i.network = "<i>net</i> & co";
  return i;
}

/// Seven hundred operators in 35 equal blocks.
ago::tools::inspection large() {
  using namespace ago;
  using namespace networks::bert;
  static constexpr auto net = input{.w = 16, .c = 32} | norm | repeat{35, encoder(2, 64)};
  tools::inspection i = tools::inspect(tools::trace_now<net>()->value, {.policy = policy::ago});
  i.network = "35 encoders";
  return i;
}

}  // namespace

int main(int count, char** words) {
  ago::tools::inspection const i = count > 1 && std::string_view(words[1]) == "large" ? large() : hostile();
  ago::tools::write_html(std::cout, {&i, 1});
}
