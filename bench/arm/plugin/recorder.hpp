// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Feeds the executed instructions to the models, and keeps what they cost by step and by block.
#pragma once

#include "../mark.hpp"
#include "../model/branch_predictor.hpp"
#include "../model/decode.hpp"
#include "../model/hierarchy.hpp"
#include "../model/in_order_core.hpp"
#include "../model/known_registers.hpp"
#include "../model/out_of_order_core.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace ruler {

/// Instructions that QEMU translated together; it executes them in order, from the first to the last.
struct block {
  std::uint64_t address = 0;
  std::vector<instruction> instructions;
  std::array<std::uint64_t, kinds> count{};
  std::uint64_t executed = 0, in_order_cycles = 0, out_of_order_cycles = 0;

  std::uint64_t end() const { return address + 4 * instructions.size(); }
};

/// The processors whose caches are simulated: L1 as in Arm's technical reference manuals, L2 and L3 as on boards. 512
/// KB of L2 beside the Cortex-A53 of a Raspberry Pi 3; 128 KB for each Cortex-A55 of an RK3588, whose L3 is left out,
/// as smaller chips have less of it; 512 KB, and 2 MB of L3, beside the Cortex-A76 of a Raspberry Pi 5.
struct processor {
  char const* name;
  hierarchy caches;
};
inline std::vector<processor> processors() {
  constexpr std::size_t kb = 1 << 10;
  std::vector<processor> all;
  all.push_back({"a53", {{32 * kb, 2}, {32 * kb, 4}, {512 * kb, 16}}});
  all.push_back({"a55", {{32 * kb, 4}, {32 * kb, 4}, {128 * kb, 4}}});
  all.push_back({"a76", {{64 * kb, 4}, {64 * kb, 4}, {512 * kb, 8}, cache_size{2048 * kb, 16}}});
  return all;
}

/// Everything that is counted, in the order of `names`.
struct totals {
  static constexpr char const* fixed_names[] = {"loaded_bytes",    "stored_bytes",        "mispredicted",
                                                "in_order_cycles", "out_of_order_cycles", "known_prefetches",
                                                "instructions"};
  static constexpr char const* miss_names[] = {"l1", "l1_foreseen", "l2", "l2_foreseen", "far", "code_l1", "code_l2"};

  std::vector<std::uint64_t> values;

  totals& operator+=(totals const& other) {
    values.resize(other.values.size());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += other.values[k];
    return *this;
  }
  friend totals operator-(totals a, totals const& b) {
    for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] -= b.values[k];
    return a;
  }
};

class recorder {
 public:
  /// Blocks stay where they are.
  block& add_block(std::uint64_t address, std::span<std::uint32_t const> words) {
    block& b = blocks_.emplace_back();
    b.address = address;
    for (std::uint32_t const word : words) {
      b.instructions.push_back(decode(word));
      ++b.count[std::size_t(b.instructions.back().kind)];
    }
    prefetches_ = prefetches_ || b.count[std::size_t(kind::prefetch)] > 0;
    return b;
  }

  /// A block begins.
  void enter(block& b) {
    if (phase_ == phase::off) return;
    finish(b.address);
    current_ = &b;
  }
  /// An instruction of the current block accesses memory. One that moves several registers may do so in several parts.
  /// `memory`: where this program finds what is at `address`.
  void access(unsigned instruction, std::uint64_t address, unsigned bytes, bool is_store, void const* memory) {
    if (!current_) return;
    std::uint64_t content = 0;
    if (!is_store && prefetches_ && bytes <= sizeof content) std::memcpy(&content, memory, bytes);
    accesses_.push_back({address, content, instruction, bytes, is_store});
  }
  /// The last instruction of the current block was a mark. Returns true at the end of what is measured.
  bool reach(long what) {
    if (current_) finish(current_->end());
    registers_.forget();
    close_step();
    if (what == long(mark::end)) {
      bool const counted = phase_ == phase::counting;
      phase_ = phase::off;
      return counted;
    }
    phase_ = what >= long(mark::first_step) ? phase::counting : phase::warming;
    step_ = what - long(mark::first_step);
    begin_ = now();
    return false;
  }

  std::map<long, totals> const& steps() const { return steps_; }
  std::deque<block> const& blocks() const { return blocks_; }
  std::vector<processor> const& simulated() const { return processors_; }

 private:
  enum class phase { off, warming, counting };
  struct memory_access {
    std::uint64_t address, content;
    unsigned instruction, bytes;
    bool is_store;
    std::uint64_t extended(ruler::instruction const& i) const {
      unsigned const unused = 64 - 8 * bytes;
      if (!i.is_signed || unused == 0) return content;
      std::uint64_t const x = std::uint64_t(std::int64_t(content << unused) >> unused);
      return i.is_wide ? x : x & 0xffff'ffff;
    }
  };

  totals now() const {
    totals t;
    t.values.assign(count_.begin(), count_.end());
    t.values.insert(t.values.end(),
                    {loaded_, stored_, mispredicted_, little_->now(), big_->now(), known_prefetches_, instructions_});
    for (processor const& p : processors_) {
      misses const& m = p.caches.count();
      t.values.insert(t.values.end(), {m.l1, m.l1_foreseen, m.l2, m.l2_foreseen, m.far, m.code_l1, m.code_l2});
    }
    return t;
  }

  void close_step() {
    if (phase_ == phase::counting) steps_[step_] += now() - begin_;
  }

  /// The current block has been executed, and the instruction at `next` follows.
  void finish(std::uint64_t next) {
    if (!current_) return;
    block& b = *current_;
    current_ = nullptr;
    for (std::uint64_t line = b.address / line_bytes; line <= (b.end() - 1) / line_bytes; ++line)
      for (processor& p : processors_) p.caches.fetch_code(line);
    move_data(b);
    instruction const& last = b.instructions.back();
    bool const mistaken = last.is_conditional && predictor_.mistakes(b.end() - 4, next != b.end());
    if (phase_ != phase::counting) return;
    for (std::size_t k = 0; k < kinds; ++k) count_[k] += b.count[k];
    instructions_ += b.instructions.size();
    ++b.executed;
    std::uint64_t const little = little_->now(), big = big_->now();
    for (instruction const& i : b.instructions) {
      little_->issue(i);
      big_->issue(i);
    }
    if (mistaken) {
      ++mispredicted_;
      little_->mispredict();
      big_->mispredict();
    }
    b.in_order_cycles += little_->now() - little;
    b.out_of_order_cycles += big_->now() - big;
  }

  void move_data(block const& b) {
    if (!prefetches_) {
      for (memory_access const& a : accesses_) touch(a);
      return accesses_.clear();
    }
    std::size_t next = 0;
    for (unsigned k = 0; k < b.instructions.size(); ++k) {
      instruction const& i = b.instructions[k];
      std::optional<std::uint64_t> accessed;
      std::uint64_t loaded[2];
      std::size_t parts = 0;
      for (; next < accesses_.size() && accesses_[next].instruction == k; ++next, ++parts) {
        memory_access const& a = accesses_[next];
        if (!accessed) accessed = a.address;
        if (parts < 2) loaded[parts] = a.extended(i);
        touch(a);
      }
      if (i.kind == kind::prefetch)
        if (std::optional<std::uint64_t> const address = registers_.address(i)) {
          known_prefetches_ += phase_ == phase::counting;
          for (processor& p : processors_) p.caches.prefetch(*address / line_bytes, i.into_l2);
        }
      registers_.execute(i, accessed, {loaded, parts <= 2 ? parts : 0});
    }
    accesses_.clear();
  }

  void touch(memory_access const& a) {
    if (phase_ == phase::counting) (a.is_store ? stored_ : loaded_) += a.bytes;
    std::uint64_t const first = a.address / line_bytes, last = (a.address + a.bytes - 1) / line_bytes;
    for (std::uint64_t line = first; line <= last; ++line)
      for (processor& p : processors_) p.caches.access(line);
  }

  phase phase_ = phase::off;
  long step_ = 0;
  std::deque<block> blocks_;
  block* current_ = nullptr;
  std::vector<memory_access> accesses_;
  known_registers registers_;
  bool prefetches_ = false;  ///< registers need not be followed before the first prefetch
  std::vector<processor> processors_ = processors();
  branch_predictor predictor_;
  std::unique_ptr<in_order_core> little_ = std::make_unique<in_order_core>();
  std::unique_ptr<out_of_order_core> big_ = std::make_unique<out_of_order_core>();
  std::array<std::uint64_t, kinds> count_{};
  std::uint64_t loaded_ = 0, stored_ = 0, mispredicted_ = 0, known_prefetches_ = 0, instructions_ = 0;
  totals begin_;
  std::map<long, totals> steps_;
};

}  // namespace ruler
