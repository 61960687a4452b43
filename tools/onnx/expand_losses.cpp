// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses of classifiers: the negative logarithm of the probability of the right class.
#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

enum input { scores, labels, weights };

char const* name_of(parts_of_operation const& p, input i) {
  bool const likelihood = p.what().type() == "NegativeLogLikelihoodLoss";
  if (i == labels) return likelihood ? "target" : "labels";
  return likelihood ? "weight" : "weights";
}

/// Scores [batch, classes, places].
struct classified {
  std::int64_t batch, classes, places;

  explicit classified(parts_of_operation const& p) {
    extents const &x = p.what().dims(scores), &y = p.what().dims(labels);
    extents expected = x;
    if (x.size() >= 2) expected.erase(expected.begin() + 1);
    if (x.size() < 2 || y != expected) {
      throw fault{name_of(p, labels), "the shape " + text_of(y) + " does not fit " + text_of(x)};
    }
    batch = x[0], classes = x[1], places = volume(x, 2, x.size());
    if (p.has(weights) && p.what().dims(weights) != extents{classes}) {
      throw fault{name_of(p, weights),
                  "they have the shape " + text_of(p.what().dims(weights)) + ", expected " + text_of({classes})};
    }
  }
};

/// Known labels must be classes; of computed ones, nothing is known.
void check_labels(parts_of_operation const& p, std::int64_t classes) {
  auto const& known = p.what().input(labels).known;
  if (p.what().element_type(labels) != element::integer) throw fault{name_of(p, labels), "they are not integers"};
  if (!known) return;
  for (std::int64_t const k : known->integers) {
    bool const ignored = p.what().has("ignore_index") && k == p.what().integer("ignore_index", 0);
    if (!ignored && (k < 0 || k >= classes)) {
      throw fault{name_of(p, labels), "class " + std::to_string(k) + " of " + std::to_string(classes)};
    }
  }
}

/// The loss from logarithms of probabilities [batch, classes, places].
void finish_loss(parts_of_operation& p, int logarithms, classified const& x) {
  check_labels(p, x.classes);
  std::string const reduction = p.what().text("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    throw fault{"reduction", "\"" + reduction + "\" is not supported"};
  }
  extents const one_class{x.batch, 1, x.places};
  int label = p.reshape(p.operand(labels), one_class), ignored = -1, weight = -1;
  if (p.what().has("ignore_index")) {
    ignored = p.make("Equal", {label, p.integer(p.what().integer("ignore_index", 0))});
    label = p.make("Where", {ignored, p.integer(0), label});
  }
  int loss = p.make("Neg", {p.make("GatherElements", {logarithms, label}, {{"axis", std::int64_t{1}}})});
  if (p.has(weights)) {
    weight = p.make("GatherND", {p.operand(weights), p.reshape(label, {x.batch, 1, x.places, 1})});
    loss = p.make("Mul", {loss, weight});
  }
  if (ignored >= 0) {
    loss = p.make("Where", {ignored, p.number(0), loss});
    weight = p.make("Where", {ignored, p.number(0), weight >= 0 ? weight : p.number(1)});
  }
  if (reduction == "none") return p.finish("Reshape", {loss, p.list(p.dims(labels))});
  int const sum = p.sum(loss, {0, 1, 2});
  if (reduction == "sum") return p.finish("Identity", {sum});
  int const count =
      weight >= 0 ? p.sum(weight, {0, 1, 2}) : p.number(static_cast<float>(x.batch) * static_cast<float>(x.places));
  p.finish("Div", {sum, count});
}

}  // namespace

void negative_log_likelihood(parts_of_operation& p) {
  classified const x(p);
  finish_loss(p, p.reshape(p.operand(scores), {x.batch, x.classes, x.places}), x);
}

void softmax_cross_entropy(parts_of_operation& p) {
  classified const x(p);
  // Along the last axis, since before operator set 13 a LogSoftmax is over all axes from the given one on.
  int const last = p.transpose(p.reshape(p.operand(scores), {x.batch, x.classes, x.places}), {0, 2, 1});
  int const logarithms = p.transpose(p.make("LogSoftmax", {last}, {{"axis", std::int64_t{2}}}), {0, 2, 1});
  if (p.wants(1)) p.finish("Reshape", {logarithms, p.list(p.dims(scores))}, {}, {1});
  if (p.wants(0)) finish_loss(p, logarithms, x);
}

}  // namespace ago::onnx::expansion
