// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "toolchain.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ago::tools {
namespace {

namespace fs = std::filesystem;

bool has_headers(fs::path const& folder) {
  std::error_code ignored;
  return fs::exists(folder / "ago" / "tuner" / "program_times.hpp", ignored);
}

}  // namespace

isa widest_isa() {
#if defined(__x86_64__)
  auto const has_avx512 = [] {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  };
  if (has_avx512()) return isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return isa::avx2;
  return __builtin_cpu_supports("sse4.2") ? isa::sse42 : isa::sse2;
#else
  return native_isa;
#endif
}

bool can_run(isa target) {
  isa const widest = widest_isa();
  return target == widest || (widest != isa::neon && target >= isa::sse2 && target < widest);
}

std::vector<std::string> compiler_words(std::string const& given) {
  char const* const wanted = std::getenv("CXX");
  std::string const text = !given.empty() ? given : wanted && *wanted ? wanted : AGO_COMPILER;
  std::error_code ignored;
  if (fs::exists(text, ignored)) return {text};
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) throw std::runtime_error("'" + text + "' is not a compiler");
  return words;
}

std::vector<std::string> flags_for(isa target) {
  if (target == isa::neon) return {"-mcpu=native"};
  if (target == widest_isa()) return {"-march=native"};
  switch (target) {
    case isa::avx2: return {"-march=haswell"};
    case isa::sse42: return {"-march=nehalem"};
    default: return {};
  }
}

std::vector<std::string> header_folders(std::vector<std::string> const& given) {
  std::vector<std::string> all = given;
  std::error_code ignored;
  fs::path const program = fs::read_symlink("/proc/self/exe", ignored);
  std::ifstream listed(program.string() + ".includes");
  for (std::string folder; std::getline(listed, folder);)
    if (!folder.empty()) all.push_back(folder);
  if (fs::path const installed = program.parent_path().parent_path() / "include"; has_headers(installed))
    all.push_back(installed.string());
  if (std::none_of(all.begin(), all.end(), has_headers))
    throw std::runtime_error("ago's headers are not installed with this program; --include names their folder");
  return all;
}

}  // namespace ago::tools
