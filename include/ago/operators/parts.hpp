// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What descriptions of operators consist of: the notation of expression/, and parameters that have places in a graph.
#pragma once

#include <ago/expression/notation.hpp>
#include <ago/ir/graph.hpp>

namespace ago::described {

/// An operator of a graph as index expressions.
struct description {
  static constexpr int max_parameters = 16;

  /// Its inputs are the node's operands in order, its result is the node's value, in their four axes (images, rows,
  /// columns, channels); an operator by index expressions has the axes of its expression, and `from_nchw` and `to_nchw`
  /// have those of the stored order.
  expression::definition as{};
  int parameters[max_parameters]{};  ///< the offsets of its parameters among those of the graph, in their order
  int parameter_count{};
  bool exists{};  ///< false: it has no description (docs/what-is-an-operator.md has a list)
};

/// The operators of the graph as functions of their operands, in the notation of docs/expressions.md. Each returns the
/// result of node `n`. They are templates, so that a program that does not ask for descriptions does not compile them.

// Declared here, because some of ago's layers have the same names.
using expression::affine;
using expression::erf;
using expression::exp;
using expression::extents;
using expression::fold;
using expression::max_rank;
using expression::maximum;
using expression::minimum;
using expression::node_kind;
using expression::operand;
using expression::padded;
using expression::pow;
using expression::result;
using expression::result_index;
using expression::rsqrt;
using expression::scalar;
using expression::select;
using expression::sigmoid;
using expression::subscript;
using expression::sum;
using expression::tanh;
using expression::var;

constexpr extents extents_of(shape const& s) { return extents(s.n, s.h, s.w, s.c); }

/// Element v[0] ... v[rank - 1] of x; `at`: dimension `axis` is at that index instead.
constexpr scalar element(operand const& x, var (&v)[max_rank], int axis = -1, affine const& at = {}) {
  subscript i[max_rank];
  for (int d = 0; d < x.rank(); ++d) i[d] = d == axis ? subscript(at) : subscript(v[d]);
  return x(i[0], i[1], i[2], i[3], i[4], i[5]);
}

/// The values `part[0] ... part[count - 1]` one after the other along dimension `axis`.
constexpr operand joined(operand const* part, int count, int axis) {
  constexpr int most = 6;  // in an expression
  if (count > most) {
    operand left[description::max_parameters]{joined(part, most, axis)};
    for (int k = most; k < count; ++k) left[k - most + 1] = part[k];
    return joined(left, count - most + 1, axis);
  }
  int extent = 0;
  for (int k = 0; k < count; ++k) extent += part[k].extent(axis);
  int const rank = part[0].rank();
  var all[max_rank], along{extent};
  result_index i[max_rank];
  for (int d = 0; d < rank; ++d) i[d] = d == axis ? result_index(along) : result_index(all[d]);
  scalar r = 0;
  for (int k = count, first = extent; k-- > 0;) {
    int const end = first;
    first -= part[k].extent(axis);
    scalar const x = element(count == 1 ? part[k] : padded(part[k], 0), all, axis, along - first);
    r = k + 1 == count ? x : select(along < affine(end), x, r);
  }
  return result(i[0], i[1], i[2], i[3], i[4], i[5]) = r;
}

/// Makes the parameters of a node.
class parameters {
 public:
  constexpr parameters(node const& n, expression::weights make, description& to) : n_(n), make_(make), to_(to) {}

  /// Parameters of the given extents, whose first element is number `first` of the graph's parameters.
  template <class... I>
  constexpr operand operator()(char const* name, int first, int extent, I... more) const {
    bool const fits = to_.parameter_count < description::max_parameters;
    if (!fits) return {};
    to_.parameters[to_.parameter_count++] = first;
    return make_(name, extent, more...);
  }
  /// [channels][more ...]: for all channels of the node, which are those of several parts if it is merged. `first`,
  /// `of`: the offset of a node's, and of a part's; `skipped`: vectors before it.
  template <class... I>
  constexpr operand by_channel(char const* name, int first, int sibling::* of, int skipped, I... more) const {
    if (!n_.is_merged()) return (*this)(name, first + skipped * n_.out.c, n_.out.c, more...);
    operand part[max_siblings];
    int count = 1, own = n_.out.c;
    for (sibling const& s : n_.siblings) own -= s.channels;
    part[0] = (*this)(name, first + skipped * own, own, more...);
    for (sibling const& s : n_.siblings)
      if (s.channels > 0) part[count++] = (*this)(name, s.*of + skipped * s.channels, s.channels, more...);
    return joined(part, count, 0);
  }
  template <class... I>
  constexpr operand weight(char const* name, I... more) const {
    return by_channel(name, n_.weight, &sibling::weight, 0, more...);
  }
  constexpr operand shift(char const* name) const { return by_channel(name, n_.shift, &sibling::shift, 0); }
  /// The statistics of a batch norm: vector 0 is gamma, 1 beta, 2 the mean, 3 the variance.
  constexpr operand norm(char const* name, int vector) const {
    return by_channel(name, n_.norm, &sibling::norm, vector);
  }

 private:
  node const& n_;
  expression::weights make_;
  description& to_;
};

}  // namespace ago::described
