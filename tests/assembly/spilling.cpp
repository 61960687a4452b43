// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles that are too large for any compiler: check_loops.py must complain about them.
#include <ago/kernel/kernels.hpp>

namespace assembly {

using namespace ago;
using namespace ago::kernel;
using namespace ago::plan;

constexpr kernel_key too_large = [] {
  kernel_key key;
  key.what = structure::pointwise;
  key.tile = native_isa == isa::avx2 ? register_tile{6, 3} : register_tile{9, 4};
  return key;
}();
extern kernel_function const spilling;
kernel_function const spilling = kernel_for<too_large>();

}  // namespace assembly
