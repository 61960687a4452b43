// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator, a structure, a reduction, a tiling and a policy without kernel or partitioner, as if they had just been
// added to their enumerations.
// expect: no kernel computes this operator of one operand
// expect: no kernel computes this operator of two operands
// expect: no kernel computes this reduction
// expect: this structure has no kernel
// expect: no pipeline computes this tiling
// expect: no partitioner belongs to this policy
// lines: 60
#include <ago/kernel/kernels.hpp>
#include <ago/partition/policy.hpp>

using namespace ago;
using ago::kernel::kernel_for;
using ago::partition::policy_type;
using ago::plan::fused_key;
using ago::plan::kernel_key;
using ago::plan::structure;

#ifdef AGO_POSITIVE
constexpr op unary = op::relu, binary = op::add, sum = op::reduce_sum;
constexpr structure what = structure::copy;
constexpr tiling how = tiling::pixels;
constexpr policy chosen = policy::ago;
#else
constexpr op unary{200}, binary{200}, sum{200};
constexpr structure what{200};
constexpr tiling how{200};
constexpr policy chosen{200};
#endif

auto const one = &kernel::activate<unary, isa::scalar>;
auto const two = &kernel::combine<binary, isa::scalar>;
float const start = kernel::reducer<sum>::neutral;
auto const single = kernel_for<kernel_key{.what = what, .target = isa::scalar}>();
constexpr kernel_key part{.what = structure::pointwise, .target = isa::scalar};
auto const several = kernel_for<fused_key{2, {part, part}, how}>();
auto const parts = &policy_type<chosen>::name;
