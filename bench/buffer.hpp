// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory for the candidates' inputs and outputs.
#pragma once

#include <ago/runtime/large_pages.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace bench {

/// Zeroed floats on a 64-byte boundary, readable for 64 bytes beyond their end, as XNNPACK requires. In large pages, if
/// they fill some, as models are.
class buffer {
 public:
  explicit buffer(std::size_t count) : data_{new(std::align_val_t{64}) float[count + 16]}, count_{count} {
    ago::runtime::prefer_large_pages(data(), count * sizeof(float));  // before they are touched
    std::fill_n(data(), count + 16, 0.f);
  }
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
