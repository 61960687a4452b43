// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Caches that the system reports, and whether a plan suits them.
#include <ago/tuner/machine.hpp>
#include <doctest/doctest.h>

#include <cstdlib>

namespace {

using namespace ago;
using namespace ago::tuner;
namespace fs = std::filesystem;

/// A folder like /sys/devices/system/cpu, removed at the end.
class fake_sysfs {
 public:
  fake_sysfs() {
    std::string name = (fs::temp_directory_path() / "ago_machine_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~fake_sysfs() { fs::remove_all(folder_); }
  void write(std::string const& file, std::string const& text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text << '\n';
  }
  void cache(std::string const& cpu, int index, int level, char const* type, char const* size) const {
    std::string const at = cpu + "/cache/index" + std::to_string(index) + "/";
    write(at + "level", std::to_string(level));
    write(at + "type", type);
    write(at + "size", size);
  }
  /// With instructions' caches, a last level, and a file that describes no cache, as on real boards.
  void core(std::string const& cpu, char const* l1, char const* l2, char const* midr = nullptr) const {
    cache(cpu, 0, 1, "Instruction", "16K");
    cache(cpu, 1, 1, "Data", l1);
    cache(cpu, 2, 2, "Unified", l2);
    cache(cpu, 3, 3, "Unified", "3072K");
    write(cpu + "/cache/uevent", "");
    if (midr) write(cpu + "/regs/identification/midr_el1", midr);
  }
  processor read(std::string const& cpu) const { return processor_in(folder_ / cpu); }

 private:
  fs::path folder_;
};

constexpr char a76[] = "0x00000000414fd0b1", a55[] = "0x00000000412fd050", a53[] = "0x00000000410fd034";

}  // namespace

TEST_CASE("data caches and the core are read from Linux's files") {
  fake_sysfs const sys;
  sys.core("cpu4", "64K", "512K", a76);
  processor const p = sys.read("cpu4");
  CHECK(p.name == "cpu4");
  CHECK(p.l1_bytes == 64 << 10);
  CHECK(p.l2_bytes == 512 << 10);
  CHECK(p.id == 0x414fd0b1);
  sys.core("cpu9", "49152", "2M");
  CHECK(sys.read("cpu9").l1_bytes == 48 << 10);
  CHECK(sys.read("cpu9").l2_bytes == 2 << 20);
  CHECK(sys.read("cpu9").id == 0);
}

TEST_CASE("cores are named like presets, each once, and others by their number") {
  fake_sysfs const sys;
  sys.core("cpu0", "32K", "128K", a55);
  sys.core("cpu1", "32K", "128K", a55);
  sys.core("cpu2", "64K", "512K", a76);
  sys.core("cpu3", "64K", "512K", "0x00000000611f0220");
  sys.core("cpu4", "64K", "512K");
  processor const little = sys.read("cpu0"), again = sys.read("cpu1"), big = sys.read("cpu2");
  CHECK(cores_of({little, again}) == "cortex_a55");
  CHECK(cores_of({little, big, again}) == "cortex_a55, cortex_a76");
  CHECK(cores_of({sys.read("cpu3"), sys.read("cpu4")}) == "MIDR_EL1 0x611f0220");
  CHECK(cores_of({sys.read("cpu4")}) == "unknown");
  CHECK(cores_of({}) == "unknown");
}

TEST_CASE("what the files do not tell is unknown, and suits every plan") {
  fake_sysfs const sys;
  CHECK(sys.read("cpu0").l1_bytes == 0);
  sys.core("cpu1", "many", "-4K", "none");
  CHECK(sys.read("cpu1").l1_bytes == 0);
  CHECK(sys.read("cpu1").l2_bytes == 0);
  CHECK(sys.read("cpu1").id == 0);
  sys.core("cpu2", "32Q", "", "0x");
  CHECK(sys.read("cpu2").l1_bytes == 0);
  CHECK(misfit(apple_m1, isa::neon, {sys.read("cpu0"), sys.read("cpu1"), sys.read("cpu2")}) == "");
  CHECK(misfit(cortex_a55, isa::neon, {}) == "");
}

TEST_CASE("a device that fits says nothing, for every preset on a core of its own") {
  for (tuner::detail::preset const& p : tuner::detail::presets)
    CHECK(misfit(p.value, isa::neon, {{"cpu0", p.value.l1_bytes, p.value.l2_bytes}}) == "");
  CHECK(misfit(cortex_a53, isa::neon, {{"cpu0", 32 << 10, 512 << 10}}) == "");
  CHECK(misfit({}, isa::avx2, {{"cpu0", 48 << 10, 2 << 20}}) == "");
}

TEST_CASE("a device that does not fit is named with what was found and the preset to use") {
  fake_sysfs const sys;
  sys.core("cpu0", "32K", "128K", a55);
  sys.core("cpu4", "64K", "512K", a76);
  CHECK(misfit(cortex_a55, isa::neon, {sys.read("cpu0")}) == "");
  CHECK(misfit(cortex_a55, isa::neon, {sys.read("cpu0"), sys.read("cpu4")}) ==
        "the plan assumes 32 KB of L1 and 128 KB of L2, but cpu4 of this machine has 64 KB of L1 and 512 KB of L2; "
        "compile with ago::cortex_a76 as the options of the model");
  CHECK(misfit({}, isa::neon, {sys.read("cpu0")}) ==
        "the plan assumes 32 KB of L1 and 1024 KB of L2, but cpu0 of this machine has 32 KB of L1 and 128 KB of L2; "
        "compile with ago::cortex_a55 as the options of the model");
}

TEST_CASE("of presets with the same sizes, the one of the core is named") {
  CHECK(misfit(cortex_a55, isa::neon, {{"cpu0", 64 << 10, 512 << 10, 0x411fd410}}).find("ago::cortex_a78 as") !=
        std::string::npos);
  CHECK(misfit(cortex_a55, isa::neon, {{"cpu0", 64 << 10, 1 << 20, 0x413fd0c1}}).find("ago::neoverse_n1 as") !=
        std::string::npos);
}

TEST_CASE("a core whose preset does not suit is told one with its sizes, or the sizes themselves") {
  fake_sysfs const sys;
  sys.core("cpu0", "32K", "1024K", a53);
  // By its number it is no Cortex-A72; but only the caches matter to a plan.
  CHECK(misfit(cortex_a55, isa::neon, {sys.read("cpu0")}).find("compile with ago::cortex_a72 as") != std::string::npos);
  CHECK(misfit({}, isa::avx2, {{"cpu0", 32 << 10, 256 << 10}})
            .find("compile with ago::device{.l1_bytes = 32768, .l2_bytes = 262144} as") != std::string::npos);
  CHECK(misfit({}, isa::avx2, {{"cpu0", 0, 256 << 10}})
            .find("has an unknown size of L1 and 256 KB of L2; compile with ago::device{.l1_bytes = 32768,") !=
        std::string::npos);
}

TEST_CASE("this machine has processors, and the sizes that they tell are plausible") {
  for (processor const& p : processors()) {
    CHECK(!p.name.empty());
    CHECK((p.l1_bytes == 0 || (p.l1_bytes >= 4 << 10 && p.l1_bytes <= 4 << 20)));
    CHECK((p.l2_bytes == 0 || p.l2_bytes >= p.l1_bytes));
  }
#ifdef __linux__
  CHECK(!processors().empty());
#endif
}
