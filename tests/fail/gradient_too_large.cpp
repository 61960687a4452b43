// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of an operator has more parts than fit: two for each product of neighbours.
// expect: fault::gradient_too_large, .*name_is<'s', 'm', 'o', 'o', 't', 'h'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<17>, .*expects<8>, .*gets<9>
#include <ago/expressions.hpp>
#include <ago/training.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int products = 3;
#else
constexpr int products = 4;
#endif

inline constexpr auto smooth = [] {
  return expression::compute("smooth", [](expression::operand x) {
    using namespace ago::expression;
    var n, h, w, c;
    operand const all = padded(x, 0);
    scalar sum = x(n, h, w, c);
    for (int i = 1; i <= products; ++i) sum = sum + all(n, h, w + i, c) * all(n, h, w - i, c);
    return result(n, h, w, c) = sum;
  });
};
inline constexpr auto net = input{.w = 16, .c = 4} | pointwise{3} | smooth() | global_avg_pool{} | linear{2};

static trainer<net> t(1);
float trained(std::span<float const, 64> x, std::span<int const, 1> label) { return t.step(x, label); }
