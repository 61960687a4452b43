// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces a missing libFuzzer: runs every seed whole, truncated, and with changed bytes, always the same ones.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned seed);

/// Changes a few bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t) {
  static std::minstd_rand random(1);
  for (int i = 0; i < 3 && size > 0; ++i) data[random() % size] = static_cast<std::uint8_t>(random() >> 8);
  return size;
}

int main(int count, char** arguments) {
  constexpr std::size_t largest = 4096, all_generations = 200'000;
  if (count != 2) {
    std::cerr << "usage: " << arguments[0] << " <folder of seeds>\n";
    return 2;
  }
  std::vector<std::string> seeds;
  for (auto const& entry : std::filesystem::directory_iterator(arguments[1])) {
    std::ifstream stream(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  std::size_t runs = 0;
  auto const run = [&runs](std::string const& bytes) {
    LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
    ++runs;
  };
  for (std::string const& seed : seeds) {
    for (std::size_t size = 0; size <= seed.size(); ++size) run(seed.substr(0, size));
    std::string bytes = seed;
    for (unsigned i = 0; i < all_generations / seeds.size(); ++i) {
      if (i % 20 == 0) bytes = seed;
      std::string room = bytes;
      room.resize(largest);
      room.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(room.data()), bytes.size(), largest, i));
      bytes = room;
      run(bytes);
    }
  }
  std::cout << runs << " runs\n";
  return seeds.empty() ? 1 : 0;
}
