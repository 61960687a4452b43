// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks trained without one of the choices that the library makes: what training_ablations measures.
#pragma once

#include "prepare_step.hpp"

#include <ago/training.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A training step without a choice.
struct ablation {
  std::string taken_away;  ///< "nothing", or the choice
  std::size_t arena_bytes = 0;
  std::function<std::function<float()>()> prepare;  ///< returns a step, which returns its loss
};

/// A network with a batch size, first with all choices.
struct ablation_subject {
  std::string name;
  int batch = 1;
  std::vector<ablation> all;
};

/// All subjects of this program, in no particular order.
inline std::vector<ablation_subject>& ablation_subjects() {
  static std::vector<ablation_subject> all;
  return all;
}

inline constexpr ago::options without_layout{.factors = ago::plan::factor_layout::never_in_place};
inline constexpr ago::options without_swapping{.factors = ago::plan::factor_layout::not_swapped};
inline constexpr ago::options without_parallel_fusion{.horizontal_fusion = ago::horizontal_fusion::off};

template <auto const& Net, int Batch, auto const& Loss, auto const& Options>
ablation ablation_of(std::string taken_away) {
  using trainer = ago::trainer<Net, Loss, ago::sgd, ago::training{.batch = Batch, .program = Options}>;
  return {std::move(taken_away), trainer::arena_bytes, [] { return prepare_step<trainer>().step; }};
}

template <auto const& Net, int Batch, auto const& Loss>
bool add_ablations(std::string name) {
  static constexpr ago::options usual{};
  ablation_subjects().push_back(
      {std::move(name),
       Batch,
       {ablation_of<Net, Batch, Loss, usual>("nothing"), ablation_of<Net, Batch, Loss, without_layout>("layout"),
        ablation_of<Net, Batch, Loss, without_swapping>("swapping"),
        ablation_of<Net, Batch, Loss, without_parallel_fusion>("parallel fusion")}});
  return true;
}

}  // namespace bench
