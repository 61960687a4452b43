// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a family of kernels states about itself. A unit is a type with these facts, in kernel/<family>/unit.hpp:
// everything that plan, packer, look-up and tuner know of the family. kernel/units.hpp lists the units.
#pragma once

#include <ago/partition/device.hpp>
#include <ago/partition/step_reuse.hpp>
#include <ago/plan/cuts.hpp>
#include <ago/plan/tile_options.hpp>

#include <type_traits>

namespace ago::kernel {

/// The weights of a step's main operator, which has some, or those of them that come from one source.
struct operator_packing {
  kernel_key key{};
  packed_operator data{};
  parameter_source from{};
};

// Facts that many families share. A unit inherits from these instead of stating them itself.

/// No weights to be packed.
struct without_weights {
  static constexpr bool has_weights = false;
  static constexpr bool packs_weights(kernel_key const&) { return false; }
  static constexpr long packed_floats(kernel_key const&, step_data const&) { return 0; }
};

/// Operators that no other structure computes, too.
struct without_alternatives {
  static constexpr int algorithm(structure) { return 0; }
  static constexpr long become(structure, kernel_key&, step_data&, schedule const&, device const&, bool) { return -1; }
};

/// Kernels that compute sums at once.
struct without_portions {
  static constexpr bool adds_portions(structure) { return false; }
};

/// One way to compute a step: no algorithm, register tile, window or cache tile to be chosen.
struct without_schedule : without_alternatives, without_portions {
  static constexpr int channel_groups(structure, step_data const&) { return 1; }
  static constexpr void choose(kernel_key&, planned_data&, schedule const&, chain_tiling const&, device const&) {}
};

/// Nothing for a tuner to try.
struct without_tiles {
  static constexpr bool has_tiles = false;
  static constexpr plan::tile_options tiles(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::tile_options repacked_tiles(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::block_options blocks(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::loop_words order_of_loops(kernel_key const&, planned_data const&) { return {}; }
};

/// Loops that read everything once, and keep nothing for later.
struct with_plain_loops {
  static constexpr long scratch_floats(kernel_key const&, planned_data const&) { return 0; }
  static constexpr void describe_loops(kernel_key const&, planned_data const&, partition::part_loops&) {}
  static constexpr void add_loops(kernel_key const&, planned_data const&, partition::part_loops const& loops, auto& r) {
    add_kernel(r, loops);
  }
};

/// Kernels that may read an element after they have written the one at its place.
struct keeps_operands {
  static constexpr bool overwrites(expression::index_expression const*, int) { return false; }
};

/// Work items take parts of values, if the family can be divided, and not a range of the indices of something else.
struct divided_by_values {
  static constexpr bool takes_portion = false;
  static constexpr long indices(kernel_key const&, step_data const&) { return 0; }
  static constexpr value_region written_by_portion(kernel_key const&, step_data const&, plan::stretch const&) {
    return {};
  }
  static constexpr value_region read_by_portion(kernel_key const&, step_data const&, plan::stretch const&) {
    return {};
  }
};

/// Kernels that one thread computes.
struct undivided : divided_by_values {
  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 0; }
  static constexpr int granule_of_rows(kernel_key const&, planned_data const&, chain_tiling const&, bool) { return 0; }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}
};

/// The facts of a unit, as plan and tuner ask for them: constants and static functions of the unit with these names. It
/// must also have an array `structures`, a template kernel() that gives the kernel of a key, and, if it `has_weights`,
/// a template pack().
struct unit_facts {
  // What it computes.
  bool of_expressions;                ///< only networks with <ago/expressions.hpp> include its kernels
  bool multiplies_values;             ///< the second operand is a value, which every work item reads
  bool (*implements)(structure, op);  ///< does this structure compute this operator?
  bool (*multiplies)(structure);      ///< does it spend its time on multiply-adds?
  bool (*copies)(structure);          ///< does it only copy elements, of which it reads those that it writes?
  /// May the result be in the memory of operand i, of the same shape, which nothing reads later? `described`: of a
  /// unit of expressions.
  bool (*overwrites)(expression::index_expression const* described, int i);

  // The weights of a step's main operator.
  bool has_weights;  ///< of some structure
  bool (*packs_weights)(kernel_key const&);
  long (*packed_floats)(kernel_key const&, step_data const&);  ///< of those that have weights

  // The alternatives for one operator.
  /// How a schedule calls it, see schedule::winograd; 0: no alternative to another structure.
  int (*algorithm)(structure);
  /// Makes a step of the direct algorithm one of this structure, and returns its quarter cycles, if `trained` with
  /// those of transforming the weights; -1: it cannot compute this step.
  long (*become)(structure, kernel_key&, step_data&, schedule const& wish, device const&, bool trained);

  // The analytic default schedule.
  /// Is what reads chunks of channels, in a pipeline by channels, added to its result (kernel_key::accumulates)?
  bool (*adds_portions)(structure);
  int (*channel_groups)(structure, step_data const&);  ///< which vectors of channels do not span
  /// Sets register tile, cache tile and whatever else of the key depends on these. `in`: the pipeline's tiling.
  void (*choose)(kernel_key&, planned_data&, schedule const& wish, chain_tiling const& in, device const&);

  // What it costs.
  /// Quarter cycles of the arithmetic on one core, with all values in L1. `in`: the pipeline's tiling.
  double (*cycles)(kernel_key const&, planned_data const&, chain_tiling const& in, device const&);
  double (*in_order_factor)(structure);  ///< longer on a core that issues in order, without loops for it
  /// How it goes over its operands, as far as the default is wrong, for the bytes that it moves.
  void (*describe_loops)(kernel_key const&, planned_data const&, partition::part_loops&);
  /// Adds what a kernel that is a step uses again: a template, of a priced_use or a step_reuse.
  void (*add_reuse)(kernel_key const&, planned_data const&, partition::part_loops const&, partition::step_reuse&);
  void (*add_price)(kernel_key const&, planned_data const&, partition::part_loops const&, partition::priced_use&);
  constexpr void add_loops(kernel_key const& key, planned_data const& s, partition::part_loops const& loops,
                           partition::step_reuse& r) const {
    add_reuse(key, s, loops, r);
  }
  constexpr void add_loops(kernel_key const& key, planned_data const& s, partition::part_loops const& loops,
                           partition::priced_use& r) const {
    add_price(key, s, loops, r);
  }

  long (*scratch_floats)(kernel_key const&, planned_data const&);  ///< of the arena, while it runs

  // How threads divide it. Granule 0: not along this.
  int (*granule_of_images)(kernel_key const&, planned_data const&, bool alone);
  int (*granule_of_rows)(kernel_key const&, planned_data const&, chain_tiling const& in, bool last);
  plan::pixel_cut (*cut_of_pixels)(kernel_key const&, planned_data const&);  ///< of a step that is alone
  plan::channel_cut (*cut_of_channels)(kernel_key const&, planned_data const&);
  /// Makes it one of channels `of`, if cut_of_channels() says so.
  void (*narrow)(kernel_key const&, planned_data&, plan::stretch const& of);
  /// Work items take a range of the indices of something, and of no value (step_data::portion).
  bool takes_portion;
  long (*indices)(kernel_key const&, step_data const&);  ///< the number of these
  value_region (*written_by_portion)(kernel_key const&, step_data const&, plan::stretch const&);  ///< at least
  value_region (*read_by_portion)(kernel_key const&, step_data const&, plan::stretch const&);     ///< at most

  // What a tuner tries, besides the tile of the key.
  bool has_tiles;  ///< register tiles, of some structure
  plan::tile_options (*tiles)(kernel_key const&, planned_data const&);
  plan::tile_options (*repacked_tiles)(kernel_key const&, planned_data const&);  ///< with the other packing
  plan::block_options (*blocks)(kernel_key const&, planned_data const&);         ///< cache tiles
  plan::loop_words (*order_of_loops)(kernel_key const&, planned_data const&);    ///< that these decide
};

// Only the list of facts is a macro: what a unit does not state, in the right form, is an error with the name of the
// fact.
#define AGO_FACT_AS(fact, member)                                            \
  {                                                                          \
    constexpr bool stated = requires { f.fact = U::member; };                \
    static_assert(stated, "a kernel unit does not state its fact " #member); \
    if constexpr (stated) f.fact = U::member;                                \
  }
#define AGO_FACT(fact) AGO_FACT_AS(fact, fact)

template <class U>
concept packs_its_weights =
    requires(operator_packing const& o, float const* blob, float* to) { U::template pack<isa::scalar>(o, blob, to); };

/// The facts of a unit.
template <class U>
constexpr unit_facts facts_of_unit() {
  unit_facts f{};
  AGO_FACT(of_expressions)
  AGO_FACT(multiplies_values)
  AGO_FACT(implements)
  AGO_FACT(multiplies)
  AGO_FACT(copies)
  AGO_FACT(overwrites)
  AGO_FACT(has_weights)
  AGO_FACT(packs_weights)
  AGO_FACT(packed_floats)
  AGO_FACT(algorithm)
  AGO_FACT(become)
  AGO_FACT(adds_portions)
  AGO_FACT(channel_groups)
  AGO_FACT(choose)
  AGO_FACT(cycles)
  AGO_FACT(in_order_factor)
  AGO_FACT(describe_loops)
  AGO_FACT_AS(add_reuse, add_loops)
  AGO_FACT_AS(add_price, add_loops)
  AGO_FACT(scratch_floats)
  AGO_FACT(granule_of_images)
  AGO_FACT(granule_of_rows)
  AGO_FACT(cut_of_pixels)
  AGO_FACT(cut_of_channels)
  AGO_FACT(narrow)
  AGO_FACT(takes_portion)
  AGO_FACT(indices)
  AGO_FACT(written_by_portion)
  AGO_FACT(read_by_portion)
  AGO_FACT(has_tiles)
  AGO_FACT(tiles)
  AGO_FACT(repacked_tiles)
  AGO_FACT(blocks)
  AGO_FACT(order_of_loops)
  static_assert(!U::has_weights || packs_its_weights<U>, "a kernel unit with weights has no function pack");
  return f;
}
#undef AGO_FACT
#undef AGO_FACT_AS

/// The structures of a unit, as bits.
template <class U>
inline constexpr std::uint64_t structures_of = [] {
  std::uint64_t r = 0;
  for (structure const what : U::structures) r |= std::uint64_t{1} << int(what);
  return r;
}();
/// Is this structure one of the unit's?
template <class U>
constexpr bool computes(structure what) {
  return int(what) < 64 && (structures_of<U> >> int(what) & 1) != 0;
}

/// Quarter cycles of loading and storing vectors of input and output, at a cycle for each.
constexpr double copy_cycles(kernel_key const& key, step_data const& s) {
  double const in = double(s.in.count()) / lanes(key.target), out = double(s.out.count()) / lanes(key.target);
  return 4 * (in + out);
}

}  // namespace ago::kernel
