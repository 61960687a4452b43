// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Einsum as matrix products, elementwise products and sums, with transpositions and reshapes between them.
#include <algorithm>
#include <cctype>
#include <set>

#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

/// Letters; the axes of an ellipsis are negative numbers, -1 being its last one.
using labels = std::vector<int>;

struct term {
  int value = -1;
  labels axes;
  extents dims;
};

bool has(labels const& list, int label) { return std::find(list.begin(), list.end(), label) != list.end(); }

/// "ij...k", with an ellipsis of the given number of axes.
labels parsed(std::string const& text, std::size_t ellipsis) {
  labels r;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "...") == 0) {
      for (std::size_t k = ellipsis; k > 0; --k) r.push_back(-static_cast<int>(k));
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      r.push_back(text[i]);
    } else {
      throw fault{"equation", "\"" + text + "\" is not understood"};
    }
  }
  return r;
}

std::size_t letters_in(std::string const& text) {
  auto const is_letter = [](unsigned char c) { return std::isalpha(c); };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_letter));
}

bool has_twice(labels const& axes) { return std::set<int>(axes.begin(), axes.end()).size() != axes.size(); }

/// The operands of the equation and the labels of its result.
struct equation {
  std::vector<term> operands;
  labels result;
};

/// Without "->", each label that occurs once is an axis of the result, in alphabetical order.
labels implied_result(std::vector<term> const& operands, std::size_t ellipsis) {
  labels r;
  for (std::size_t k = ellipsis; k > 0; --k) r.push_back(-static_cast<int>(k));
  std::multiset<int> all;
  for (term const& t : operands) all.insert(t.axes.begin(), t.axes.end());
  for (int const label : all) {
    if (label > 0 && all.count(label) == 1) r.push_back(label);
  }
  return r;
}

equation equation_of(parts_of_operation const& p) {
  std::string text = p.what().text("equation", "");
  std::erase(text, ' ');
  std::size_t const arrow = text.find("->");
  std::string const left = text.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (char const c : left) {
    if (c == ',') terms.emplace_back();
    else terms.back() += c;
  }
  if (terms.size() != p.op().inputs.size()) {
    throw fault{"equation", "it has " + std::to_string(terms.size()) + " operands, the node has " +
                                std::to_string(p.op().inputs.size())};
  }
  equation e;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    extents const dims = p.dims(i);
    std::size_t const letters = letters_in(terms[i]);
    bool const open = terms[i].find("...") != std::string::npos;
    if (open ? letters > dims.size() : letters != dims.size()) {
      throw fault{"equation", "\"" + terms[i] + "\" does not fit an operand of " + text_of(dims)};
    }
    std::size_t const ellipsis = open ? dims.size() - letters : 0;
    widest = std::max(widest, ellipsis);
    e.operands.push_back({p.operand(i), parsed(terms[i], ellipsis), dims});
    if (e.operands.back().axes.size() != dims.size()) throw fault{"equation", "\"" + terms[i] + "\" is not understood"};
  }
  e.result = arrow == std::string::npos ? implied_result(e.operands, widest) : parsed(text.substr(arrow + 2), widest);
  if (has_twice(e.result)) throw fault{"equation", "a label appears twice in its result"};
  for (int const label : e.result) {
    auto const knows = [&](term const& t) { return has(t.axes, label); };
    if (std::none_of(e.operands.begin(), e.operands.end(), knows)) {
      throw fault{"equation", "its result has a label that no operand has"};
    }
  }
  return e;
}

std::int64_t extent_of(term const& t, int label) {
  auto const at = std::find(t.axes.begin(), t.axes.end(), label);
  return at == t.axes.end() ? 1 : t.dims[static_cast<std::size_t>(at - t.axes.begin())];
}

extents extents_of(term const& t, labels const& axes) {
  extents r;
  for (int const label : axes) r.push_back(extent_of(t, label));
  return r;
}

[[noreturn]] void refuse_extents(std::int64_t x, std::int64_t y) {
  throw fault{"equation", "a label stands for " + std::to_string(x) + " and for " + std::to_string(y) + " elements"};
}

/// The diagonal of the axes of a label that appears twice: every (n + 1)th element of both as one axis.
term diagonal(parts_of_operation& p, term const& t) {
  std::size_t second = 1, first = 0;
  auto const before = [&] {
    return std::size_t(std::find(t.axes.begin(), t.axes.end(), t.axes[second]) - t.axes.begin());
  };
  while ((first = before()) == second) ++second;
  std::int64_t const n = t.dims[first];
  if (t.dims[second] != n) refuse_extents(n, t.dims[second]);
  extents perm, dims;
  labels axes;
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    if (i == first || i == second) continue;
    perm.push_back(static_cast<std::int64_t>(i));
    dims.push_back(t.dims[i]);
    axes.push_back(t.axes[i]);
  }
  std::int64_t const last = static_cast<std::int64_t>(axes.size());
  axes.push_back(t.axes[second]);
  perm.insert(perm.end(), {static_cast<std::int64_t>(first), static_cast<std::int64_t>(second)});
  dims.push_back(n * n);
  int const square = std::is_sorted(perm.begin(), perm.end()) ? t.value : p.transpose(t.value, perm);
  int const line = p.reshape(square, dims);
  int const y = p.make("Slice", {line, p.list({0}), p.list({n * n}), p.list({last}), p.list({n + 1})});
  dims.back() = n;
  return {y, axes, dims};
}

/// With its axes in another order; missing labels become axes of one element.
term ordered(parts_of_operation& p, term t, labels const& order) {
  labels own;
  for (int const label : order) {
    if (has(t.axes, label)) own.push_back(label);
  }
  extents perm;
  for (int const label : own) perm.push_back(std::find(t.axes.begin(), t.axes.end(), label) - t.axes.begin());
  extents const dims = extents_of(t, order);
  if (!std::is_sorted(perm.begin(), perm.end())) t.value = p.transpose(t.value, perm);
  if (own.size() != order.size()) t.value = p.reshape(t.value, dims);
  return {t.value, order, dims};
}

/// The sum over all labels except those wanted.
term summed(parts_of_operation& p, term t, std::set<int> const& wanted) {
  extents axes;
  term r;
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    if (wanted.count(t.axes[i]) == 0) {
      axes.push_back(static_cast<std::int64_t>(i));
    } else {
      r.axes.push_back(t.axes[i]);
      r.dims.push_back(t.dims[i]);
    }
  }
  r.value = axes.empty() ? t.value : p.sum(t.value, axes);
  return r;
}

labels joined(labels a, labels const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The product of both, summed over unwanted labels; its axes: those of both, of the first alone, of the second alone.
term product(parts_of_operation& p, term a, term b, std::set<int> const& wanted) {
  auto const needed = [&](term const& other) {
    std::set<int> all = wanted;
    all.insert(other.axes.begin(), other.axes.end());
    return all;
  };
  a = summed(p, a, needed(b));
  b = summed(p, b, needed(a));
  labels both, inside, first, second;
  extents dims;
  for (int const label : a.axes) {
    if (!has(b.axes, label)) {
      first.push_back(label);
      continue;
    }
    std::int64_t const x = extent_of(a, label), y = extent_of(b, label);
    bool const repeats = label < 0 && wanted.count(label) != 0 && (x == 1 || y == 1);  // ellipses broadcast
    if (x != y && !repeats) refuse_extents(x, y);
    (wanted.count(label) != 0 ? both : inside).push_back(label);
    if (wanted.count(label) != 0) dims.push_back(x == 1 ? y : x);
  }
  for (int const label : b.axes) {
    if (!has(a.axes, label)) second.push_back(label);
  }
  labels const result = joined(joined(both, first), second);
  for (extents const& more : {extents_of(a, first), extents_of(b, second)}) {
    dims.insert(dims.end(), more.begin(), more.end());
  }
  check_dims(dims);
  if (inside.empty()) {
    return {p.make("Mul", {ordered(p, a, result).value, ordered(p, b, result).value}), result, dims};
  }
  auto const matrix = [&](term const& t, labels const& rows, labels const& columns) {
    term const all = ordered(p, t, joined(joined(both, rows), columns));
    extents d = extents_of(t, both);
    d.push_back(volume(extents_of(t, rows)));
    d.push_back(volume(extents_of(t, columns)));
    return p.reshape(all.value, d);
  };
  int const y = p.make("MatMul", {matrix(a, first, inside), matrix(b, inside, second)});
  return {p.reshape(y, dims), result, dims};
}

/// Whether the labels of `order` are in the order of the product of a and b.
bool is_in_order(term const& a, term const& b, labels const& order) {
  std::vector<std::size_t> places;
  for (int which : {0, 1, 2}) {
    for (int const label : which < 2 ? a.axes : b.axes) {
      bool const in_both = has(a.axes, label) && has(b.axes, label);
      if (in_both != (which == 0) || !has(order, label)) continue;
      places.push_back(static_cast<std::size_t>(std::find(order.begin(), order.end(), label) - order.begin()));
    }
  }
  return std::is_sorted(places.begin(), places.end());
}

}  // namespace

void einsum(parts_of_operation& p) {
  equation e = equation_of(p);
  for (term& t : e.operands) {
    while (has_twice(t.axes)) t = diagonal(p, t);
  }
  term t = e.operands[0];
  for (std::size_t i = 1; i < e.operands.size(); ++i) {
    std::set<int> wanted(e.result.begin(), e.result.end());
    for (std::size_t k = i + 1; k < e.operands.size(); ++k) {
      wanted.insert(e.operands[k].axes.begin(), e.operands[k].axes.end());
    }
    // Swap the operands if that avoids a transposition.
    bool const last = i + 1 == e.operands.size();
    bool const turned = last && !is_in_order(t, e.operands[i], e.result) && is_in_order(e.operands[i], t, e.result);
    t = turned ? product(p, e.operands[i], t, wanted) : product(p, t, e.operands[i], wanted);
  }
  t = summed(p, t, {e.result.begin(), e.result.end()});
  p.finish("Identity", {ordered(p, t, e.result).value});
}

}  // namespace ago::onnx::expansion
