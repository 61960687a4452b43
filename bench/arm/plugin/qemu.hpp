// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the plugin uses of QEMU's interface for plugins, version 1 (documented in docs/devel/tcg-plugins.rst of QEMU).
// Debian's qemu-user 7.2 has the interface, but no package of it contains qemu-plugin.h.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
using qemu_plugin_id_t = std::uint64_t;
using qemu_plugin_meminfo_t = std::uint32_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;

std::size_t qemu_plugin_tb_n_insns(qemu_plugin_tb const*);
std::uint64_t qemu_plugin_tb_vaddr(qemu_plugin_tb const*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(qemu_plugin_tb const*, std::size_t);
void const* qemu_plugin_insn_data(qemu_plugin_insn const*);
std::uint64_t qemu_plugin_insn_vaddr(qemu_plugin_insn const*);
void* qemu_plugin_insn_haddr(qemu_plugin_insn const*);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, void (*)(unsigned, void*), int flags, void*);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*,
                                      void (*)(unsigned, qemu_plugin_meminfo_t, std::uint64_t, void*), int flags,
                                      int reads_and_writes, void*);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t,
                                          void (*)(qemu_plugin_id_t, unsigned, std::int64_t, std::uint64_t,
                                                   std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                                   std::uint64_t, std::uint64_t, std::uint64_t));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
}
