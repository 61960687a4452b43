// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers as operators of XNNPACK. The interface changed in 2023: xnnpack_2022.cpp implements this header with the older
// one, xnnpack_2026.cpp with the newer.
#pragma once

#include "../buffer.hpp"
#include "layers.hpp"

#include <xnnpack.h>

#include <memory>
#include <string>
#include <vector>

namespace bench {

/// Throws `unsupported` unless XNNPACK succeeded.
inline void must(xnn_status status, layer const& l, char const* what) {
  if (status == xnn_status_success) return;
  throw unsupported(std::string(name_of(l.kind)) + ": XNNPACK could not " + what + " it, status " +
                    std::to_string(status));
}

/// Operators in the order in which they run. Each function appends those that compute a layer.
class xnnpack_operators {
 public:
  /// Channels of a value: in memory of its own, or among those of another value.
  struct place {
    float* data = nullptr;
    std::size_t stride = 0;  ///< floats between pixels
  };

  explicit xnnpack_operators(int threads) {
    if (xnn_initialize(nullptr) != xnn_status_success) throw unsupported("XNNPACK does not run on this machine");
    if (threads > 1) threads_.reset(pthreadpool_create(std::size_t(threads)));
  }

  /// Floats that a layer needs beside its operands and its result.
  static std::size_t scratch_floats(layer const&);

  /// `weights`: [out][ky][kx][in].
  void convolution(layer const&, std::vector<float> const& weights, place from, place to);
  void linear(layer const&, place from, place to);
  void global_average(layer const&, place from, place to);
  void pool(layer const&, place from, place to);
  /// Limits values to `after`.
  void limit(layer const&, place from, place to);
  void copy(layer const&, std::size_t channels, place from, place to);
  void shuffle(layer const&, place from, place to);
  // The others have values in memory of their own.
  void add(layer const&, float const* a, float const* b, float* to);
  /// silu or gelu, in place.
  void apply_function(layer const&, float* values, float* scratch);
  void normalise(layer const&, float const* from, float* to, float* scratch);
  void attend(layer const&, float const* queries, float const* keys, float const* values, float* to, float* scratch);

  void run() {
    for (auto const& o : operators_) xnn_run_operator(o.get(), threads_.get());
  }

 private:
  friend struct xnnpack_calls;  // in xnnpack_2026.cpp
  struct release {
    void operator()(xnn_operator_t o) const { xnn_delete_operator(o); }
    void operator()(pthreadpool_t p) const { pthreadpool_destroy(p); }
  };

  xnn_operator_t append(xnn_operator_t o) { return operators_.emplace_back(o).get(); }

  std::unique_ptr<pthreadpool, release> threads_;
  std::vector<std::unique_ptr<xnn_operator, release>> operators_;
  std::vector<buffer> workspaces_;  ///< of operators
};

}  // namespace bench
