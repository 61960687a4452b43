// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files linked into this program by ago_embed().
#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

extern "C" {
extern unsigned char const embedded_bytes[], embedded_bytes_end[];
extern unsigned char const embedded_nothing[], embedded_nothing_end[];
extern unsigned char const embedded_numbers[], embedded_numbers_end[];
}

TEST_CASE("embedded bytes equal those of the file") {
  std::ifstream file(AGO_SOURCE_DIR "/tests/embed/bytes.bin", std::ios::binary);
  std::string const expected{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(expected.size() > 0);
  CHECK(std::string(embedded_bytes, embedded_bytes_end) == expected);
}

TEST_CASE("an empty file is empty") { CHECK(embedded_nothing_end - embedded_nothing == 0); }

TEST_CASE("embedded files are aligned to 64 bytes") {
  for (auto const* p : {embedded_bytes, embedded_nothing, embedded_numbers})
    CHECK(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
}

TEST_CASE("a file generated during the build is embedded") {
  REQUIRE(embedded_numbers_end - embedded_numbers == 1000 * sizeof(float));
  auto const* numbers = reinterpret_cast<float const*>(embedded_numbers);
  for (int i = 0; i < 1000; ++i) CHECK(numbers[i] == float(i));
}
