// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The families of kernels, and what is asked of them: the plan, the packer, the look-up of kernels and the tuner ask
// the unit that computes a structure.
#pragma once

#include <ago/kernel/attention/unit.hpp>
#include <ago/kernel/contraction/unit.hpp>
#include <ago/kernel/depthwise/unit.hpp>
#include <ago/kernel/elementwise/unit.hpp>
#include <ago/kernel/matrix/unit.hpp>
#include <ago/kernel/movement/unit.hpp>
#include <ago/kernel/nest/unit.hpp>
#include <ago/kernel/norm/unit.hpp>
#include <ago/kernel/pool/unit.hpp>
#include <ago/kernel/reduction/unit.hpp>
#include <ago/kernel/winograd/unit.hpp>

namespace ago::kernel {

template <class... Units>
struct unit_list {};

/// All units. The first one that implements an operator computes it unless a schedule chooses another.
using kernel_units = unit_list<matrix_unit, depthwise_unit, winograd_unit, attention_unit, norm_unit, pool_unit,
                               elementwise_unit, movement_unit, reduction_unit, contraction_unit, nest_unit>;

/// Is every structure computed by one unit, and by no other?
template <class... Units>
constexpr bool covers_structures(unit_list<Units...>) {
  for (int i = 0; i < structure_count; ++i)
    if ((int(computes<Units>(structure(i))) + ...) != 1) return false;
  return true;
}
static_assert(covers_structures(kernel_units{}), "a structure is computed by no kernel unit, or by several");

template <structure What, class... Units>
struct unit_among : std::type_identity<void> {};
template <structure What, class U, class... Others>
struct unit_among<What, U, Others...>
    : std::conditional_t<computes<U>(What), std::type_identity<U>, unit_among<What, Others...>> {};

template <structure What, class... Units>
constexpr auto unit_in(unit_list<Units...>) -> unit_among<What, Units...>;

/// The facts of all units, and which unit computes each structure.
template <int N>
struct fact_table {
  unit_facts of[N]{};
  std::uint8_t unit[structure_count]{};

  template <class... Units>
  constexpr explicit fact_table(unit_list<Units...>) : of{facts_of_unit<Units>()...} {
    for (int what = 0; what < structure_count; ++what) {
      int i = 0;
      ((computes<Units>(structure(what)) ? void(unit[what] = std::uint8_t(i)) : void(), ++i), ...);
    }
  }
};
template <class... Units>
constexpr fact_table<int(sizeof...(Units))> table_of(unit_list<Units...> all) {
  return fact_table<int(sizeof...(Units))>(all);
}
inline constexpr auto facts = table_of(kernel_units{});

/// The facts of the unit that computes `what`.
constexpr unit_facts const& facts_of(structure what) {
  if (int(what) >= structure_count) no_case_for_this_value();
  return facts.of[facts.unit[int(what)]];
}

/// Which structure computes each operator, and the other way round.
struct implementation_table {
  structure of_operator[operator_count]{};
  bool implemented[operator_count]{};
  op of_structure[structure_count]{};

  template <class... Units>
  constexpr explicit implementation_table(unit_list<Units...>) {
    (add<Units>(), ...);
  }

 private:
  template <class U>
  constexpr void add() {
    for (structure const what : U::structures)
      for (int k = operator_count - 1; k >= 0; --k) {
        op const kind{std::uint8_t(k)};
        if (!U::implements(what, kind)) continue;
        of_structure[int(what)] = kind;
        if (implemented[k]) continue;
        of_operator[k] = what;
        implemented[k] = true;
      }
  }
};
inline constexpr implementation_table implementations{kernel_units{}};

/// The unit of a structure; void: there is none.
template <structure What>
using unit_of = typename decltype(unit_in<What>(kernel_units{}))::type;

/// The kernel of a key, with a static function run().
template <kernel_key K>
using kernel_of = typename decltype(unit_of<K.what>::template kernel<K>())::type;

/// The structure that computes an operator directly; elementwise for those that are only computed by epilogues.
constexpr structure structure_of(op kind) {
  // Inputs and constants take no step.
  if (!implementations.implemented[int(kind)]) ir::no_case_for_this_value();
  return implementations.of_operator[int(kind)];
}

/// Does a kernel spend its time on multiply-adds?
constexpr bool multiplies(structure what) { return facts_of(what).multiplies(what); }

/// Does it multiply as an index expression says?
constexpr bool contracts(structure what) { return facts_of(what).of_expressions && multiplies(what); }

/// Does it only copy elements, of which it reads those that it writes?
constexpr bool copies(structure what) { return facts_of(what).copies(what); }

/// Whether a step's main operator has weights to be packed.
constexpr bool packs_weights(kernel_key const& key) { return facts_of(key.what).packs_weights(key); }

/// Floats of these weights.
constexpr long packed_floats(kernel_key const& key, step_data const& s) {
  unit_facts const& unit = facts_of(key.what);
  return unit.packs_weights(key) ? unit.packed_floats(key, s) : 0;
}

/// How a schedule calls the algorithm of a convolution, see schedule::winograd; 0: of another operator.
constexpr int algorithm_of(structure what) { return facts_of(what).algorithm(what); }

/// Floats of the arena that a kernel works in.
constexpr long scratch_floats(kernel_key const& key, planned_data const& s) {
  return facts_of(key.what).scratch_floats(key, s);
}

/// Should a kernel have the loops for cores that issue in order?
constexpr bool has_in_order_loops(structure what, isa target, device const& on) {
  return has_in_order_loops(target, on) && multiplies(what);
}

/// Quarter cycles of the arithmetic of one part; `in`: the tiling of the pipeline that it is part of.
constexpr double cycles_of(kernel_key const& key, planned_data const& s, chain_tiling const& in, device const& on) {
  return facts_of(key.what).cycles(key, s, in, on);
}

/// Does a kernel multiply two values, of which every work item reads all of the second, unless it is cut, too?
constexpr bool multiplies_values(structure what) { return facts_of(what).multiplies_values; }
/// Does a work item take a range of the indices of something, and of no value: the tiles of Winograd, the rows of a
/// contraction, or the outermost axis of a nest's result?
constexpr bool takes_portion(structure what) { return facts_of(what).takes_portion; }
/// The number of these indices.
constexpr long indices_of(kernel_key const& key, step_data const& s) { return facts_of(key.what).indices(key, s); }

}  // namespace ago::kernel
