// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A family of kernels that does not say what a step costs, and one that has weights but no packer, and a fact that
// takes other arguments.
// expect: a kernel unit does not state its fact cycles
// expect: a kernel unit does not state its fact packed_floats
// expect: a kernel unit with weights has no function pack
// lines: 60
#include <ago/kernel/units.hpp>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::partition;
using namespace ago::plan;

struct summing_unit : without_weights, without_schedule, without_tiles, with_plain_loops, undivided, keeps_operands {
  static constexpr structure structures[] = {structure::reduction};
  static constexpr bool multiplies_values = false, of_expressions = false;
  static constexpr bool implements(structure, op kind) { return is_reduction(kind); }
  static constexpr bool multiplies(structure) { return false; }
  static constexpr bool copies(structure) { return false; }
#ifdef AGO_POSITIVE
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const&) {
    return kernel::copy_cycles(key, s);
  }
#endif
  static constexpr double in_order_factor(structure) { return 1; }
};
constexpr unit_facts summing = kernel::facts_of_unit<summing_unit>();

struct packing_unit : depthwise_unit {
#ifdef AGO_POSITIVE
  static constexpr long packed_floats(kernel_key const&, step_data const& s) { return s.out.c; }
#else
  static constexpr long packed_floats(kernel_key const&) { return 0; }
  template <isa I>
  static void pack(float*);
#endif
};
constexpr unit_facts packing = kernel::facts_of_unit<packing_unit>();
