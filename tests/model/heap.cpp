// Every allocation of the program goes through these operators: the model must not cause one.
#include "networks.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

namespace {
long allocations = 0;
}

// Not inlined: g++ would see malloc meet delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n ? n : 1)) return p;
  std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  ++allocations;
  if (void* p = std::aligned_alloc(std::size_t(a), (n + std::size_t(a) - 1) / std::size_t(a) * std::size_t(a)))
    return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

using namespace model_test;

TEST_CASE("making and running a model never calls operator new") {
  using net = model<small>;
  auto const weights = random_weights<small>(1);
  auto const image = random_floats(net::input_size(), 2);
  float scores[net::output_size()];
  auto const in = std::span(image).first<net::input_size()>();

  long const before = allocations;
  static net m{weights_span<net>(weights)};
  static net::workspace w;
  m(in, scores);
  m.run(w, in, scores);
  bool const accepted = m.try_run(image, scores) == status::ok;
  long const during = allocations - before;
  CHECK(accepted);
  CHECK(during == 0);

  void* volatile const proof = ::operator new(100);  // the counter does count; a vector's memory clang may leave out
  ::operator delete(proof);
  CHECK(allocations == before + 1);
}
