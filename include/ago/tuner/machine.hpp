// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caches of the machine that a program runs on, compared with those that its plan assumes.
#pragma once

#include <ago/partition/device.hpp>
#include <ago/tuner/text.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace ago::tuner {

/// What the system tells about the data caches of one processor.
struct processor {
  std::string name;
  long l1_bytes = 0, l2_bytes = 0;  ///< 0: unknown
  unsigned long id = 0;             ///< MIDR_EL1, by which Arm processors identify themselves; 0: unknown
};

namespace detail {

/// The first word of a file; empty if it cannot be read.
inline std::string first_word(std::filesystem::path const& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

/// "48K", "2M", "512": bytes; 0 if it is anything else.
inline long bytes_from(std::string const& text) {
  long n = 0;
  char const* const all = text.data() + text.size();
  auto const [end, error] = std::from_chars(text.data(), all, n);
  if (error != std::errc() || n <= 0) return 0;
  std::string const unit(end, all);
  return unit.empty() ? n : unit == "K" ? n << 10 : unit == "M" ? n << 20 : 0;
}

/// A preset, and the implementer and part number of its core in MIDR_EL1; 0: none.
struct preset {
  char const* name;
  device value;
  unsigned id;
};
inline constexpr preset presets[]{
    {"cortex_a53", cortex_a53, 0x41d03},   {"cortex_a55", cortex_a55, 0x41d05},   {"cortex_a72", cortex_a72, 0x41d08},
    {"cortex_a76", cortex_a76, 0x41d0b},   {"cortex_a78", cortex_a78, 0x41d41},   {"cortex_x1", cortex_x1, 0x41d44},
    {"neoverse_n1", neoverse_n1, 0x41d0c}, {"neoverse_v1", neoverse_v1, 0x41d40}, {"apple_m1", apple_m1, 0}};

constexpr unsigned preset_id(unsigned long midr) { return unsigned((midr >> 24 & 0xff) << 12 | (midr >> 4 & 0xfff)); }

/// A plan for more than there is misses the cache; one for less than half of it leaves much of it unused.
constexpr bool suits(long assumed, long found) { return found == 0 || (assumed <= found && found <= 2 * assumed); }

/// The device to compile for, as in C++: a preset if one suits, else the sizes.
inline std::string device_for(processor const& p, device const& assumed, isa target) {
  auto const fits = [&](device const& d) { return suits(d.l1_bytes, p.l1_bytes) && suits(d.l2_bytes, p.l2_bytes); };
  for (preset const& known : presets)
    if (known.id != 0 && known.id == preset_id(p.id) && fits(known.value)) return std::string("ago::") + known.name;
  for (preset const& known : presets)
    if (target == isa::neon && known.value.l1_bytes == p.l1_bytes && known.value.l2_bytes == p.l2_bytes)
      return std::string("ago::") + known.name;
  return print("ago::device{.l1_bytes = %ld, .l2_bytes = %ld}", p.l1_bytes ? p.l1_bytes : assumed.l1_bytes,
               p.l2_bytes ? p.l2_bytes : assumed.l2_bytes);
}

/// "64 KB of L1 and 512 KB of L2"
inline std::string in_kilobytes(long l1_bytes, long l2_bytes) {
  auto const size = [](long bytes) { return bytes ? print("%ld KB", bytes >> 10) : std::string("an unknown size"); };
  return size(l1_bytes) + " of L1 and " + size(l2_bytes) + " of L2";
}

}  // namespace detail

/// Does a plan for `assumed` suit the caches of `found`? Sizes that are unknown suit every plan.
constexpr bool suits(device const& assumed, processor const& found) {
  return detail::suits(assumed.l1_bytes, found.l1_bytes) && detail::suits(assumed.l2_bytes, found.l2_bytes);
}

/// A processor as Linux describes it in `folder`, such as /sys/devices/system/cpu/cpu0.
inline processor processor_in(std::filesystem::path const& folder) {
  processor p{.name = folder.filename().string()};
  std::error_code error;
  for (std::filesystem::directory_iterator i(folder / "cache", error), end; !error && i != end; i.increment(error)) {
    if (!i->path().filename().string().starts_with("index")) continue;
    std::string const level = detail::first_word(i->path() / "level"), type = detail::first_word(i->path() / "type");
    long const bytes = detail::bytes_from(detail::first_word(i->path() / "size"));
    if (type != "Data" && type != "Unified") continue;
    if (level == "1") p.l1_bytes = bytes;
    if (level == "2") p.l2_bytes = bytes;
  }
  std::string const id = detail::first_word(folder / "regs/identification/midr_el1");
  if (id.starts_with("0x")) std::from_chars(id.data() + 2, id.data() + id.size(), p.id, 16);
  return p;
}

/// The processors on which this program may run, whose caches may differ. Empty if the system does not tell.
inline std::vector<processor> processors() {
  std::vector<processor> all;
#if defined(__linux__)
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return all;
  for (int k = 0; k < CPU_SETSIZE; ++k)
    if (CPU_ISSET(k, &allowed)) all.push_back(processor_in(print("/sys/devices/system/cpu/cpu%d", k)));
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  // Where these files are hidden, the C library may know; but not of which processor, should they differ.
  if (all.size() == 1 && all[0].l1_bytes == 0 && all[0].l2_bytes == 0) {
    all[0].l1_bytes = std::max(0L, ::sysconf(_SC_LEVEL1_DCACHE_SIZE));
    all[0].l2_bytes = std::max(0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE));
  }
#endif
#elif defined(__APPLE__)
  auto const ask = [](char const* name) {
    long long bytes = 0;
    std::size_t size = sizeof bytes;
    return ::sysctlbyname(name, &bytes, &size, nullptr, 0) == 0 ? long(bytes) : 0L;
  };
  all.push_back({"a large core", ask("hw.perflevel0.l1dcachesize"), ask("hw.perflevel0.l2cachesize")});
#endif
  return all;
}

/// The cores of these processors: presets, else the numbers in MIDR_EL1, as "cortex_a55, cortex_a76"; "unknown" if the
/// system does not tell.
inline std::string cores_of(std::vector<processor> const& found) {
  std::vector<std::string> names;
  for (processor const& p : found) {
    if (p.id == 0) continue;
    std::string name = print("MIDR_EL1 0x%lx", p.id);
    for (detail::preset const& known : detail::presets)
      if (known.id != 0 && known.id == detail::preset_id(p.id)) name = known.name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string all;
  for (std::string const& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "unknown" : all;
}

/// A sentence for the user if a plan for `assumed` does not suit one of the processors; empty if it suits all.
inline std::string misfit(device const& assumed, isa target, std::vector<processor> const& found) {
  for (processor const& p : found)
    if (!suits(assumed, p))
      return "the plan assumes " + detail::in_kilobytes(assumed.l1_bytes, assumed.l2_bytes) + ", but " + p.name +
             " of this machine has " + detail::in_kilobytes(p.l1_bytes, p.l2_bytes) + "; compile with " +
             detail::device_for(p, assumed, target) + " as the options of the model";
  return "";
}

/// Prints that sentence as a warning about this machine.
inline void warn_of_misfit(device const& assumed, isa target) {
  if (std::string const what = misfit(assumed, target, processors()); !what.empty())
    std::fprintf(stderr, "warning: %s\n", what.c_str());
}

}  // namespace ago::tuner
