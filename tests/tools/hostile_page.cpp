// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the page of a small network whose names contain markup, for test_inspect_page.py.
#include "partition/graphs.hpp"

#include <inspect.hpp>
#include <writers.hpp>

#include <iostream>

int main() {
  test::builder<8, 8> b;
  int const x = b.pointwise(b.input({1, 2, 2, 4}), 8), y = b.unary(ago::op::relu, x), z = b.unary(ago::op::sigmoid, y);
  b.g.nodes[x].name = "\"a\" <b>bold</b> & <img src=x onerror=alert(1)>";
  b.g.nodes[y].name = "</script><script>alert(2)</script>'";
  b.g.nodes[z].name = "\x1b[31mred\a \xe2\x80\xaegpj.exe";
  b.output(z);
  ago::tools::inspection i = ago::tools::inspect(b.g);
  i.network = "<i>net</i> & co";
  ago::tools::write_html(std::cout, {&i, 1});
}
