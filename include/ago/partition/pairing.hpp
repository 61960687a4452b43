// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which matrix products compute two steps of K in one register, and therefore add in another order.
#pragma once

#include <ago/partition/chain_link.hpp>
#include <ago/partition/device.hpp>

namespace ago::partition {

/// Does it pay to compute two steps of K in one register, for half as many channels (kernel_key::paired)? It wastes
/// less of the last register, and turns one register per pixel into two, which share a broadcast. Adding the pairs
/// takes three instructions for two registers. With a single register every product needs its own input (measured on
/// Zen 5, 32 channels to 16: 1.1 times the time of pairs). Depends only on its arguments, so that the order of
/// additions is the same whatever the tile. `zeros`: that are added to make all runs of channels even, see
/// zeros_in_pairs().
constexpr bool pays_in_pairs(isa target, int depth, int channels, int zeros = 1) {
  if (!has_pairs(target)) return false;
  int const width = lanes(target), whole = (channels + width - 1) / width;
  int const half = (channels + width / 2 - 1) / (width / 2);
  if (whole > 8) return false;
  long const alone = (whole == 1 ? 23L : 20L) * whole * depth;
  long const paired = 20L * half * ((depth + zeros) / 2) + 30L * half;
  return paired < alone - alone / 64;
}

/// Would the product be computed in pairs if it were alone, on an instruction set that the device may have? Chunks of K
/// cannot be, so it is not computed in chunks: whether it is depends on the number of threads, the bits of its result
/// must not.
constexpr bool may_be_paired(chain_link const& l, device const& on) {
  if (!is_matrix_product(l.kind) || on.vector_floats < 8) return false;
  int const depth = int(l.weight_bytes / 4 / l.out.c);
  for (ir::isa_facts const& f : ir::isa_table)
    if (f.pairs && pays_in_pairs(f.which, depth, l.out.c)) return true;
  return false;
}

}  // namespace ago::partition
