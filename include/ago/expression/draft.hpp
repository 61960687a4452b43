// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An expression that is made from parts, before it is known which of them it needs.
#pragma once

#include <ago/expression/definition_writer.hpp>
#include <ago/expression/excerpt.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// A value, and the expression that computes it from others.
struct computed_value {
  index_expression const& e;
  std::int16_t const* reads;
  int value;
};

/// An expression while it is made; nodes that turn out not to be needed are left out in the end.
struct draft {
  index_expression e{};
  std::int16_t reads[index_expression::max_operands]{};
  canonical into;

  /// (Without it, g++ 12 evaluates a draft in a constant with what a draft of another constant has left in it.)
  constexpr draft() : into{e} {}
  draft(draft const&) = delete;

  constexpr int emit(definition_writer& out, int root, int rank) {
    if (into.exceeded) {
      out.complain(into.exceeded);
      return 0;
    }
    index_expression made;
    std::int16_t made_reads[index_expression::max_operands]{};
    stand_in const none[excerpt::nodes]{};
    excerpt x{e, reads, none, made, made_reads};
    x.take(root, (1u << rank) - 1);
    return out.emit(made, made_reads);
  }
};

}  // namespace ago::expression::detail
