// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the kernel tests: instruction sets, guarded memory, seeded numbers, tolerances.
#pragma once

#include <ago/plan/step.hpp>

#include <doctest/doctest.h>
#include <support/instruction_sets.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace test {

/// Calls f(std::integral_constant<ago::isa, I>{}) for every tested instruction set.
template <class F>
void for_each_isa(F f) {
  auto const one = [&]<ago::isa I>(std::integral_constant<ago::isa, I> tag) {
    if constexpr (is_tested(I)) {
      CAPTURE(ago::name_of(I));
      f(tag);
    }
  };
  using enum ago::isa;
  one(std::integral_constant<ago::isa, scalar>{});
  one(std::integral_constant<ago::isa, sse2>{});
  one(std::integral_constant<ago::isa, sse42>{});
  one(std::integral_constant<ago::isa, avx2>{});
  one(std::integral_constant<ago::isa, avx512>{});
  one(std::integral_constant<ago::isa, neon>{});
  one(std::integral_constant<ago::isa, emulated128>{});
  one(std::integral_constant<ago::isa, emulated512>{});
}

/// Calls f(std::integral_constant<ago::isa, I>{}) for every tested instruction set that has this turn.
template <long Turn, class F>
void for_each_isa_in_turn(F f) {
  for_each_isa([&]<ago::isa I>(std::integral_constant<ago::isa, I> tag) {
    if constexpr (has_turn(I, Turn)) f(tag);
  });
}

/// Floats whose bounds must not be exceeded. The byte after the last one is not mapped, so that reading it ends the
/// test; canaries precede the first one. Under AddressSanitizer, a heap block of the exact size.
class guarded {
 public:
  explicit guarded(std::size_t floats) : size_(floats) {
#if defined(__SANITIZE_ADDRESS__)
    heap_.reset(new float[floats]);
    data_ = heap_.get();
#else
    std::size_t const page = std::size_t(sysconf(_SC_PAGESIZE));
    bytes_ = ((floats + front) * sizeof(float) + page - 1) / page * page + page;
    map_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map_ == MAP_FAILED) throw std::bad_alloc{};
    char* const end = static_cast<char*>(map_) + bytes_ - page;
    mprotect(end, page, PROT_NONE);
    data_ = reinterpret_cast<float*>(end) - floats;
    for (std::size_t i = 1; i <= front; ++i) data_[-std::ptrdiff_t(i)] = canary;
#endif
    for (std::size_t i = 0; i < floats; ++i) data_[i] = canary;
  }
  guarded(guarded const&) = delete;
  ~guarded() {
    if (map_) munmap(map_, bytes_);
  }

  float* data() { return data_; }
  float const* data() const { return data_; }
  std::size_t size() const { return size_; }
  float& operator[](std::size_t i) { return data_[i]; }
  float operator[](std::size_t i) const { return data_[i]; }
  /// Nothing was written before the first float.
  bool intact() const {
#if !defined(__SANITIZE_ADDRESS__)
    for (std::size_t i = 1; i <= front; ++i)
      if (data_[-std::ptrdiff_t(i)] != canary) return false;
#endif
    return true;
  }

  static constexpr float canary = -7.7e20f;

 private:
  static constexpr std::size_t front = 64;
  std::unique_ptr<float[]> heap_;
  void* map_ = nullptr;
  std::size_t bytes_ = 0, size_;
  float* data_;
};

/// Weights aligned to 64 bytes, as in a model.
class aligned {
 public:
  explicit aligned(std::size_t floats)
      : memory_(static_cast<float*>(::operator new(floats * 4 + 64, std::align_val_t(64)))) {}
  float* data() { return memory_.get(); }

 private:
  struct release {
    void operator()(float* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<float, release> memory_;
};

/// Seeded numbers.
class numbers {
 public:
  explicit numbers(unsigned seed) : engine_(seed) {}
  /// first ... last, inclusive.
  int integer(int first, int last) { return first + int(engine_() % std::uint32_t(last - first + 1)); }
  template <std::size_t N>
  int one_of(int const (&choices)[N]) {
    return choices[integer(0, int(N) - 1)];
  }
  float real(float low = -1, float high = 1) { return low + (high - low) * float(engine_() >> 8) * 0x1p-24f; }
  void fill(float* p, std::size_t count, float low = -1, float high = 1) {
    for (std::size_t i = 0; i < count; ++i) p[i] = real(low, high);
  }
  std::vector<float> vector(std::size_t count, float low = -1, float high = 1) {
    std::vector<float> v(count);
    fill(v.data(), count, low, high);
    return v;
  }

 private:
  std::mt19937 engine_;
};

/// Floats spanned by a value with a pixel stride of `stride` floats.
inline std::size_t extent(ago::shape const& s, int stride) { return std::size_t((s.pixels() - 1) * stride + s.c); }

inline long index_of(ago::shape const& s, int stride, int n, int y, int x, int c) {
  return ((long(n) * s.h + y) * s.w + x) * stride + c;
}

/// Arguments of a kernel call: a source (input 0), a destination (output 0), other operands (inputs 1 ...).
template <class Kernel>
void call(ago::plan::planned_data const& s, float const* weights, std::vector<float const*> const& inputs,
          float* output, float* arena = nullptr) {
  float* outputs[] = {output};
  Kernel::run(s, ago::plan::kernel_memory{{weights, arena, inputs.data(), outputs}, s.tables()});
}

/// Checks every channel of every pixel against expected(n, y, x, c) within tolerance(n, y, x, c), and the canaries in
/// the gaps between pixels.
template <class Expected>
void check_output(ago::shape const& s, int stride, guarded const& out, Expected expected, double tolerance) {
  bool good = out.intact();
  std::string message = good ? "" : "written in front of the destination";
  std::size_t i = 0;
  for (int n = 0; n < s.n; ++n)
    for (int y = 0; y < s.h; ++y)
      for (int x = 0; x < s.w; ++x)
        for (int c = 0; c < stride && i < out.size(); ++c, ++i) {
          if (!good) break;
          if (c >= s.c) {
            good = out[i] == guarded::canary;
            if (!good) message = "written between pixels";
            continue;
          }
          double const e = expected(n, y, x, c), difference = std::fabs(out[i] - e);
          good = difference <= tolerance || (std::isinf(e) && double(out[i]) == e);
          if (!good)
            message = "at " + std::to_string(n) + "," + std::to_string(y) + "," + std::to_string(x) + "," +
                      std::to_string(c) + ": " + std::to_string(out[i]) + " instead of " + std::to_string(e);
        }
  CAPTURE(message);
  CHECK(good);
}

}  // namespace test
