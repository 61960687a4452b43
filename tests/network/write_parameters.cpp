// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of parameters in JSON.
#include <ago/network/write_parameters.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace ago;
using namespace ago::ir;

namespace {

template <auto const& Net>
std::string written(char const* network) {
  std::ostringstream out;
  write_parameters<Net>(out, network);
  return out.str();
}

}  // namespace

#line 100
static constexpr auto net = input{.n = 2, .h = 4, .w = 3, .c = 5, .layout = layout::nchw} |
                            named("stem", pointwise{6} | named("norm", layer_norm{})) |
                            [](tensor x) { return outputs(x | linear{7}, x | to_nchw{}); };
TEST_CASE("the table is written with shapes, names, roles, offsets and lines") {
  CHECK(written<net>("net") ==
        R"({"network": "net",
 "inputs": [{"shape": [2, 4, 3, 5], "layout": "nchw"}],
 "outputs": [{"shape": [2, 4, 3, 7], "layout": "nhwc"}, {"shape": [2, 4, 3, 6], "layout": "nchw"}],
 "floats": 91,
 "rows": [{"name": "stem", "role": "weight", "kind": "pointwise", "dims": [6, 5, 1, 1], "offset": 0, "line": 101},
  {"name": "stem.norm", "role": "gamma", "kind": "layer_norm", "dims": [6], "offset": 30, "line": 101},
  {"name": "stem.norm", "role": "beta", "kind": "layer_norm", "dims": [6], "offset": 36, "line": 101},
  {"name": null, "role": "weight", "kind": "linear", "dims": [7, 6], "offset": 42, "line": 102},
  {"name": null, "role": "bias", "kind": "bias", "dims": [7], "offset": 84, "line": 102}]}
)");
}

static constexpr auto none = trace([](tensor x, tensor y) { return x + y; }, input{.c = 2}, input{.c = 2});
TEST_CASE("a network without parameters has an empty list of them") {
  CHECK(written<none>("") == R"({"network": "",
 "inputs": [{"shape": [1, 1, 1, 2], "layout": "nhwc"}, {"shape": [1, 1, 1, 2], "layout": "nhwc"}],
 "outputs": [{"shape": [1, 1, 1, 2], "layout": "nhwc"}],
 "floats": 0,
 "rows": []}
)");
}

static constexpr auto quoted = input{.c = 1} | named("a\"b\\c\n\x1f\xc3\xa4/", bias{});
TEST_CASE("characters are escaped as JSON requires") {
  CHECK(written<quoted>("\x7f").find(R"("name": "a\"b\\c\u000a\u001fä/")") != std::string::npos);
  CHECK(written<quoted>("\x7f").find("\"network\": \"\x7f\"") != std::string::npos);
}
