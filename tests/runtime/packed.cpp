// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that ago_pack packed when this test was built, on the build machine and without the test's flags.
#include "packed_network.hpp"

#include <ago/ago.hpp>

#include <packed_for_avx2.hpp>
#include <packed_for_avx512.hpp>
#include <packed_for_here.hpp>
#include <packed_for_neon.hpp>
#include <packed_for_scalar.hpp>
#include <packed_for_sse2.hpp>
#include <packed_for_sse42.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

extern "C" unsigned char const packed_test_weights[], packed_test_weights_end[];

using namespace ago;
using namespace ago::runtime;

namespace {

using packed_test::network, packed_test::winograd_4;
using own = model<network, winograd_4>;
using elsewhere = model<network, winograd_4, packed>;

std::span<float const, own::parameter_count> weights() {
  REQUIRE(packed_test_weights_end - packed_test_weights == own::parameter_count * 4);
  return std::span<float const, own::parameter_count>(reinterpret_cast<float const*>(packed_test_weights),
                                                      own::parameter_count);
}

/// A file of packed weights.
template <isa I>
struct file {
  using plan = planned<network, winograd_4, options{.target = I}>;
  packed_header header{.signature = plan::signature(), .floats = plan::packed_floats};
  float packed[plan::packed_floats];
};

template <isa I, std::uint64_t Signature>
void check_bytes(packed_weights<Signature> found) {
  static file<I> expected;
  static_assert(Signature == file<I>::plan::signature());
  file<I>::plan::pack(weights(), std::span<float, file<I>::plan::packed_floats>(expected.packed));
  CAPTURE(name_of(I));
  CHECK(std::memcmp(found.file, &expected, sizeof expected) == 0);
}

std::vector<float> image() {
  std::vector<float> x(own::input_size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  return x;
}

}  // namespace

TEST_CASE("weights packed at build time are bit-identical to those packed by the program, for all instruction sets") {
  check_bytes<native_isa>(packed_for_here);
  check_bytes<isa::scalar>(packed_for_scalar);
  check_bytes<isa::sse2>(packed_for_sse2);
  check_bytes<isa::sse42>(packed_for_sse42);
  check_bytes<isa::avx2>(packed_for_avx2);
  check_bytes<isa::avx512>(packed_for_avx512);
  check_bytes<isa::neon>(packed_for_neon);
}

TEST_CASE("a model with packed weights contains none itself, and its results are bit-identical") {
  static own a{weights()};
  static elsewhere b{packed_for_here};
  static_assert(sizeof(elsewhere) <= elsewhere::arena_bytes + 128);
  static_assert(std::is_same_v<own::program, elsewhere::program>);
  auto const x = image();
  std::vector<float> y(own::output_size()), z(own::output_size());
  CHECK(a.try_run(x, y) == status::ok);
  CHECK(b.try_run(x, z) == status::ok);
  CHECK(y == z);
  static elsewhere::workspace w;
  z.assign(z.size(), 0);
  CHECK(b.try_run_in(w, x, z) == status::ok);
  CHECK(y == z);
}

TEST_CASE("packed weights from a file are accepted if they belong to this model, and refused otherwise") {
  static file<native_isa> right;
  right.header = {.signature = own::program::signature(), .floats = own::program::packed_floats};
  own::program::pack(weights(), std::span<float, own::program::packed_floats>(right.packed));
  auto const bytes = std::as_bytes(std::span(&right, 1));
  status s{};
  static elsewhere good{bytes, s};
  CHECK(s == status::ok);

  auto const x = image();
  std::vector<float> y(own::output_size());
  CHECK(good.try_run(x, y) == status::ok);
  auto const refuses = [&](std::span<std::byte const> file) {
    alignas(elsewhere) static unsigned char memory[sizeof(elsewhere)];
    elsewhere& bad = *new (memory) elsewhere(file, s);
    std::vector<float> z(own::output_size(), 7.f);
    bool const untouched = bad.try_run(x, z) == status::no_weights && z[0] == 7;
    bad(std::span<float const, own::input_size()>(x), std::span<float, own::output_size()>(z));
    return s == status::wrong_packed_weights && untouched && std::isnan(z.front()) && std::isnan(z.back());
  };
  CHECK(refuses(bytes.first(bytes.size() - 4)));
  CHECK(refuses(bytes.first(8)));
  CHECK(refuses({}));
  static std::byte moved[sizeof right + 4];
  std::memcpy(moved + 1, &right, sizeof right);
  CHECK(refuses(std::span(moved).subspan(1, sizeof right)));
  right.header.signature ^= 1;
  CHECK(refuses(bytes));
  right.header.signature ^= 1;
  right.header.magic[7] = '0';
  CHECK(refuses(bytes));
}

TEST_CASE("signatures distinguish networks, instruction sets, schedules and places") {
  constexpr std::uint64_t usual = planned<network, winograd_4, options{.target = isa::avx2}>::signature();
  static_assert(usual != planned<network, winograd_4, options{.target = isa::avx512}>::signature());
  static_assert(usual != planned<network, untuned, options{.target = isa::avx2}>::signature());
  static_assert(planned<packed_test::few>::signature() != planned<packed_test::few, untuned, isa::scalar>::signature());
  static_assert(planned<packed_test::few>::signature() == planned<packed_test::few>::signature());
}

TEST_CASE("products are rounded before they are added, whatever the instruction set") {
  double const volatile above = 1 + std::ldexp(1., -30), below = 1 - std::ldexp(1., -30), minus_one = -1;
  CHECK(kernel::rounded_product(above, below) + minus_one == 0);  // a fused multiply-add would give -2^-60
}
