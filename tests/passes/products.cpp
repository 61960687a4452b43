// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/network/network.hpp>
#include <ago/passes/optimized.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;

namespace {

inline constexpr input left{.h = 3, .w = 5, .c = 7}, right{.h = 3, .w = 4, .c = 7};
inline constexpr permute transpose{0, 1, 3, 2};

inline constexpr auto once = trace([](tensor x, tensor y) { return matmul(x, y | transpose); }, left, right);
inline constexpr auto twice =
    trace([](tensor x, tensor y) { return matmul(x, y | transpose | transpose, true); }, left, right);
inline constexpr auto shared = trace(
    [](tensor x, tensor y) {
      tensor const z = y | transpose;
      return outputs(matmul(x, z), z | relu{});
    },
    left, right);
inline constexpr auto other = trace([](tensor x, tensor y) { return matmul(x, y | permute{0, 2, 3, 1}); },
                                    input{.h = 4, .w = 5, .c = 7}, input{.h = 3, .w = 4, .c = 7});

template <auto const& Net>
constexpr int count(op kind) {
  int n = 0;
  for (node const& x : optimized<Net>::value.nodes) n += x.kind == kind;
  return n;
}
template <auto const& Net>
constexpr node product() {
  for (node const& x : optimized<Net>::value.nodes)
    if (x.kind == op::matmul) return x;
  return {};
}

}  // namespace

TEST_CASE("a matmul absorbs transposes of its second operand") {
  static_assert(product<once>().transposed && product<once>().out == shape{1, 3, 5, 4});
  static_assert(count<once>(op::permute) == 0);
  static_assert(product<twice>().transposed && count<twice>(op::permute) == 0);
  static_assert(product<shared>().transposed && count<shared>(op::permute) == 1);  // the other reader keeps it
  static_assert(optimized<shared>::value.operand(3, 1) == 1);
}

TEST_CASE("a matmul leaves other permutes alone") {
  static_assert(!product<other>().transposed && count<other>(op::permute) == 1);
}
