// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program that bench/cache runs under valgrind: a network at one size, compiled for one device under some policies.
//
// usage: cache-driver POLICY INFERENCES [marked]
//        cache-driver POLICY describe
//        cache-driver POLICY planned
#include "parameters.hpp"

#include <ago/ago.hpp>
#include AGO_CACHE_HEADER

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

/// Marks the beginning of a step for callgrind.
extern "C" [[gnu::noinline]] void step_begins(int step) { asm volatile("" : : "r"(step) : "memory"); }

namespace {

// The compiler's command line gives the network and its header, the instruction set, the device, and the policies.
constexpr ago::isa target = ago::isa::AGO_CACHE_ISA;
constexpr ago::device device = ago::AGO_CACHE_DEVICE;

template <ago::policy Policy>
using program = ago::program<networks::AGO_CACHE_NETWORK, ago::untuned,
                             ago::options{.target = target, .policy = Policy, .device = device}>;

/// Floats that begin on a page boundary, so that cache sets favour no variant.
class pages {
 public:
  explicit pages(std::size_t floats)
      : memory_(static_cast<float*>(::operator new(floats * sizeof(float), page))), size_(floats) {
    std::memset(memory_.get(), 0, floats * sizeof(float));
  }
  float* data() { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t page{4096};
  struct release {
    void operator()(float* p) const { ::operator delete(p, page); }
  };
  std::unique_ptr<float, release> memory_;
  std::size_t size_;
};

template <class Program>
void infer(int inferences, bool marked) {
  std::vector<float> const parameters = bench::make_parameters(Program::graph, 1);
  pages packed(Program::packed_floats), arena(Program::arena_floats), in(Program::input_size(0)),
      out(Program::output_size(0));
  Program::pack(std::span<float const, Program::parameter_count>(parameters),
                std::span<float, Program::packed_floats>(packed.data(), Program::packed_floats));
  for (std::size_t i = 0; i < in.size(); ++i) in.data()[i] = bench::uniform(2, i, -1, 1);
  float const* const inputs[] = {in.data()};
  float* const outputs[] = {out.data()};
  ago::plan::run_memory const memory{packed.data(), arena.data(), inputs, outputs};
  for (int i = 0; i < inferences; ++i)
    for (int step = 0; step < Program::steps; ++step) {
      if (marked) step_begins(step);
      Program::run_step(step, memory);
    }
  if (marked) step_begins(Program::steps);
}

/// Prints a line for each step: structures, shapes, and the tiling of its parts.
template <class Program>
void describe() {
  for (int step = 0; step < Program::steps; ++step) {
    int const first = Program::first_part(step), end = Program::first_part(step + 1);
    ago::shape const& in = Program::plan.steps[first].data.in;
    std::printf("%dx%dx%d", in.h, in.w, in.c);
    for (int i = first; i < end; ++i) {
      auto const& s = Program::plan.steps[i];
      std::printf(" -> %s %dx%dx%d", name_of(s.key.what), s.data.out.h, s.data.out.w, s.data.out.c);
    }
    ago::partition::chain_tiling const tiles = Program::tiling_of(step);
    if (tiles.how != ago::tiling::none) std::printf(", by %s %d", name_of(tiles.how), tiles.tile);
    std::printf("\n");
  }
}

/// Prints a line for each step: the bytes beyond L1 and beyond L2 that the plan reckons with.
template <class Program>
void print_planned() {
  auto const moved = Program::moved(device);
  for (int step = 0; step < Program::steps; ++step)
    std::printf("%.0f %.0f\n", moved.of[step].beyond_l1, moved.of[step].beyond_l2);
}

template <class Program>
int run(int count, char** words) {
  if (std::strcmp(words[2], "planned") == 0) return print_planned<Program>(), EXIT_SUCCESS;
  if (std::strcmp(words[2], "describe") == 0) return describe<Program>(), EXIT_SUCCESS;
  infer<Program>(std::atoi(words[2]), count > 3);
  return EXIT_SUCCESS;
}

/// Runs the compiled policy of this name; returns 2 if there is none.
template <ago::policy... Policies>
int run_one(int count, char** words) {
  int code = 2;
  ((std::strcmp(words[1], name_of(Policies)) == 0 && (code = run<program<Policies>>(count, words))), ...);
  return code;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  return run_one<AGO_CACHE_POLICIES>(count, words);
}
