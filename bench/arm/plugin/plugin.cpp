// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin for qemu-aarch64: counts and times what a program with one thread executes between its marks (mark.hpp).
//
//   c++ -O2 -std=c++20 -shared -fPIC -fvisibility=hidden -o ruler.so plugin.cpp
//   qemu-aarch64 -plugin ./ruler.so,out=FILE PROGRAM
#include "qemu.hpp"
#include "recorder.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using ruler::totals;

ruler::recorder& recorder() {
  static ruler::recorder the;
  return the;
}
std::string out_name = "ruler.json";
bool is_written = false;

/// A JSON object with the numbers of a step.
void write(std::FILE* f, std::size_t step, totals const& t) {
  std::size_t at = 0;
  std::fprintf(f, "{\"step\": %zu", step);
  auto const put = [&](char const* prefix, char const* name) {
    std::fprintf(f, ", \"%s%s\": %" PRIu64, prefix, name, t.values[at++]);
  };
  for (char const* name : ruler::kind_names) put("", name);
  for (char const* name : totals::fixed_names) put("", name);
  for (ruler::processor const& p : recorder().simulated())
    for (char const* name : totals::miss_names) put((std::string(p.name) + "_").c_str(), name);
  std::fprintf(f, "}");
}

/// Steps, and the executed blocks: address, executions, instructions, multiply-adds of four floats times four, and the
/// cycles of both cores.
void write_report() {
  std::FILE* const f = std::fopen(out_name.c_str(), "w");
  if (!f) {
    std::fprintf(stderr, "ruler: %s cannot be written\n", out_name.c_str());
    std::exit(EXIT_FAILURE);
  }
  char const* separator = "{\"steps\": [\n";
  for (auto const& [step, t] : recorder().steps()) {
    std::fputs(separator, f);
    write(f, std::size_t(step), t);
    separator = ",\n";
  }
  separator = "],\n\"blocks\": [\n";
  for (ruler::block const& b : recorder().blocks()) {
    if (b.executed == 0) continue;
    std::uint64_t const floats = 4 * b.count[std::size_t(ruler::kind::multiply_add)] +
                                 2 * b.count[std::size_t(ruler::kind::multiply_add_half)] +
                                 b.count[std::size_t(ruler::kind::multiply_add_scalar)];
    std::fprintf(f, "%s[%" PRIu64 ", %" PRIu64 ", %zu, %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", separator, b.address,
                 b.executed, b.instructions.size(), floats, b.in_order_cycles, b.out_of_order_cycles);
    separator = ",\n";
  }
  std::fputs("]}\n", f);
  is_written = std::fclose(f) == 0;
}

void on_block(unsigned, void* block) { recorder().enter(*static_cast<ruler::block*>(block)); }

/// Where the emulated program's address 0 is in this process.
std::uint64_t memory_base = 0;

void on_access(unsigned, qemu_plugin_meminfo_t info, std::uint64_t address, void* number) {
  recorder().access(unsigned(reinterpret_cast<std::uintptr_t>(number)), address, 1u << qemu_plugin_mem_size_shift(info),
                    qemu_plugin_mem_is_store(info), reinterpret_cast<void const*>(memory_base + address));
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* translated) {
  constexpr int no_registers = 0, reads_and_writes = 3;
  std::vector<std::uint32_t> words(qemu_plugin_tb_n_insns(translated));
  for (std::size_t k = 0; k < words.size(); ++k)
    std::memcpy(&words[k], qemu_plugin_insn_data(qemu_plugin_tb_get_insn(translated, k)), 4);
  qemu_plugin_insn* const first = qemu_plugin_tb_get_insn(translated, 0);
  memory_base = reinterpret_cast<std::uintptr_t>(qemu_plugin_insn_haddr(first)) - qemu_plugin_insn_vaddr(first);
  ruler::block& b = recorder().add_block(qemu_plugin_tb_vaddr(translated), words);
  for (std::size_t k = 0; k < words.size(); ++k)
    if (b.instructions[k].reads_or_writes())
      qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(translated, k), on_access, no_registers,
                                       reads_and_writes, reinterpret_cast<void*>(k));
  qemu_plugin_register_vcpu_tb_exec_cb(translated, on_block, no_registers, &b);
}

void on_system_call(qemu_plugin_id_t, unsigned, std::int64_t number, std::uint64_t what, std::uint64_t, std::uint64_t,
                    std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) {
  if (number == ruler::mark_call && recorder().reach(long(what))) write_report();
}

void on_end(qemu_plugin_id_t, void*) {
  if (!is_written) std::fprintf(stderr, "ruler: the program placed no marks, see mark.hpp\n");
}

}  // namespace

#define AGO_EXPORT extern "C" __attribute__((visibility("default")))

AGO_EXPORT int const qemu_plugin_version = 1;

AGO_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, qemu_info_t const*, int count, char** words) {
  for (int k = 0; k < count; ++k) {
    if (std::strncmp(words[k], "out=", 4) != 0) {
      std::fprintf(stderr, "ruler: unknown argument %s\n", words[k]);
      return 1;
    }
    out_name = words[k] + 4;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  qemu_plugin_register_atexit_cb(id, on_end, nullptr);
  return 0;
}
