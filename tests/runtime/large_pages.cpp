// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/runtime/large_pages.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace {

TEST_CASE("requesting large pages leaves memory and errno unchanged, for any range") {
  struct release {
    void operator()(unsigned char* p) const { std::free(p); }
  };
  constexpr std::size_t size = 5 << 20;
  std::unique_ptr<unsigned char, release> const memory(static_cast<unsigned char*>(std::calloc(size, 1)));
  REQUIRE(memory);
  for (std::size_t i = 0; i < size; i += 777) memory.get()[i] = static_cast<unsigned char>(i % 251);
  errno = E2BIG;
  for (std::size_t const begin : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, size - 1})
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, size})
      ago::runtime::prefer_large_pages(memory.get() + begin, begin + bytes <= size ? bytes : size - begin);
  ago::runtime::prefer_large_pages(nullptr, 0);
  ago::runtime::prefer_large_pages(nullptr, std::size_t{64} << 20);  // nothing is mapped there: the system refuses
  CHECK(errno == E2BIG);
  bool same = true;
  for (std::size_t i = 0; i < size; i += 777) same = same && memory.get()[i] == i % 251;
  CHECK(same);
}

}  // namespace
