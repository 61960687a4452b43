// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory for the candidates' inputs and outputs.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace bench {

/// Zeroed floats on a 64-byte boundary, readable for 64 bytes beyond their end, as XNNPACK requires.
class buffer {
 public:
  explicit buffer(std::size_t count) : data_{new(std::align_val_t{64}) float[count + 16]()}, count_{count} {}
  float* data() const { return data_.get(); }
  std::span<float> span() const { return {data(), count_}; }

 private:
  struct release {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<float[], release> data_;
  std::size_t count_;
};

}  // namespace bench
