// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of elementwise operators and of normalizations.
#include "rules.hpp"
#include "tensor_proto.hpp"

namespace ago::onnx::shapes {
namespace {

void expect_dims(site const& s, std::size_t i, extents const& dims, char const* what) {
  if (s.dims(i) != dims) throw fault{what, "it has the shape " + text_of(s.dims(i)) + ", expected " + text_of(dims)};
}

/// Operator set 6 broadcasts the second operand on request, at an axis; only what NumPy would also do is supported.
void check_old_broadcast(site const& s) {
  bool const same = s.dims(0) == s.dims(1);
  if (!same && !s.flag("broadcast", false)) {
    throw fault{"broadcast", "the shapes " + text_of(s.dims(0)) + " and " + text_of(s.dims(1)) + " differ"};
  }
  if (s.rank(1) > s.rank(0)) throw fault{"broadcast", "the second operand has more axes than the first"};
  auto const end = static_cast<std::int64_t>(s.rank(0) - s.rank(1));
  if (volume(s.dims(1)) != 1 && s.integer("axis", end) != end) {
    throw fault{"axis", "broadcasting along other than the last axes is not supported in operator set 6"};
  }
}

extents broadcast_all(site const& s) {
  if (s.opset() < 7 && s.inputs() == 2 && s.type() != "Max" && s.type() != "Min" && s.type() != "Sum" &&
      s.type() != "Mean") {
    check_old_broadcast(s);
  }
  extents dims = s.dims(0);
  for (std::size_t i = 1; i < s.inputs(); ++i) dims = broadcast(dims, s.dims(i));
  return dims;
}

void expect_same_type(site const& s, std::size_t i, std::size_t j) {
  if (s.element_type(i) != s.element_type(j)) throw fault{"", "its inputs are floats and integers"};
}

}  // namespace

void same(site& s) { s.set(0, s.dims(0)); }

void truth(site& s) { s.set(0, s.dims(0), element::integer); }

void elementwise(site& s) {
  // Only the exponent may have another type.
  for (std::size_t i = 1; i < s.inputs() && s.type() != "Pow"; ++i) expect_same_type(s, 0, i);
  s.set(0, broadcast_all(s));
}

void comparison(site& s) {
  expect_same_type(s, 0, 1);
  s.set(0, broadcast_all(s), element::integer);
}

void where(site& s) {
  if (s.element_type(0) != element::integer) throw fault{"condition", "it is not boolean"};
  expect_same_type(s, 1, 2);
  s.set(0, broadcast_all(s), s.element_type(1));
}

void prelu(site& s) {
  if (s.opset() < 7 && volume(s.dims(1)) != 1) throw fault{"slope", "only one slope is supported in operator set 6"};
  if (broadcast(s.dims(0), s.dims(1)) != s.dims(0)) {
    throw fault{"slope", "the shape " + text_of(s.dims(1)) + " does not fit " + text_of(s.dims(0))};
  }
  s.set(0, s.dims(0));
}

void clip(site& s) {
  for (std::size_t i = 1; i < s.inputs(); ++i) {
    if (!s.has_input(i)) continue;
    char const* const what = i == 1 ? "min" : "max";
    if (volume(s.dims(i)) != 1) throw fault{what, "it has the shape " + text_of(s.dims(i)) + ", expected a scalar"};
    expect_same_type(s, 0, i);
  }
  s.set(0, s.dims(0));
}

void cast(site& s) {
  if (!s.has("to")) throw fault{"to", "it is missing"};
  std::int64_t const to = s.integer("to", 0);
  if (to < 0 || to > 1000) throw fault{"to", "data type number " + std::to_string(to) + " is not supported"};
  s.set(0, s.dims(0), element_of(static_cast<int>(to)));
}

void dropout(site& s) {
  if (s.opset() < 7 && !s.flag("is_test", false)) throw fault{"is_test", "training is not supported"};
  if (s.has_input(2) && s.integer(2, "training_mode") != 0) {
    throw fault{"training_mode", "training is not supported"};
  }
  s.set(0, s.dims(0));
  s.set(1, s.dims(0), element::integer);
}

void dequantize(site& s) { s.set(0, s.dims(0), element::real); }

void quantize(site& s) { s.set(0, s.dims(0), element::integer); }

void along_axis(site& s) {
  bool const coerced = s.opset() < 13 && s.type() != "LpNormalization";  // flattened to a matrix at the axis
  std::int64_t const axis = s.integer("axis", -1);  // before operator set 13 the default is 1: it exists, or is the end
  if (!coerced || axis != static_cast<std::int64_t>(s.rank(0))) axis_of(axis, s.rank(0));
  s.set(0, s.dims(0));
}

void batch_normalization(site& s) {
  bool const more = s.has_output(1) || s.has_output(2) || s.has_output(3) || s.has_output(4);
  bool const old = s.opset() < 7 && !s.flag("is_test", false);
  if (s.opset() < 14 ? more || old : s.flag("training_mode", false)) {
    throw fault{old ? "is_test" : s.opset() < 14 ? "" : "training_mode", "training is not supported"};
  }
  if (!s.flag("spatial", true)) throw fault{"spatial", "statistics per pixel are not supported"};
  if (s.rank(0) < 1) throw fault{"", "its input is a scalar"};
  extents const channels{s.rank(0) > 1 ? s.dims(0)[1] : 1};
  char const* const names[] = {"", "scale", "B", "mean", "var"};
  for (std::size_t i = 1; i < 5; ++i) expect_dims(s, i, channels, names[i]);
  s.set(0, s.dims(0));
}

void channel_normalization(site& s) {
  if (s.rank(0) < 2) throw fault{"", "its input has the shape " + text_of(s.dims(0)) + ", expected channels"};
  extents parameters{s.dims(0)[1]};
  if (s.type() == "GroupNormalization") {
    std::int64_t const groups = s.integer("num_groups", 0);
    if (groups < 1 || s.dims(0)[1] % groups != 0) {
      throw fault{"num_groups", std::to_string(groups) + " groups of " + std::to_string(s.dims(0)[1]) + " channels"};
    }
    if (s.opset() < 21) parameters[0] = groups;
  }
  expect_dims(s, 1, parameters, "scale");
  expect_dims(s, 2, parameters, s.type() == "GroupNormalization" ? "bias" : "B");
  s.set(0, s.dims(0));
}

void layer_normalization(site& s) {
  std::size_t const axis = axis_of(s.integer("axis", -1), s.rank(0));
  for (std::size_t i = 1; i < s.inputs(); ++i) {
    if (s.has_input(i) && broadcast(s.dims(0), s.dims(i)) != s.dims(0)) {
      throw fault{i == 1 ? "scale" : "B", "the shape " + text_of(s.dims(i)) + " does not fit " + text_of(s.dims(0))};
    }
  }
  extents statistics = s.dims(0);
  for (std::size_t i = axis; i < statistics.size(); ++i) statistics[i] = 1;
  s.set(0, s.dims(0));
  s.set(1, statistics);
  s.set(2, statistics);
}

void local_response(site& s) {
  if (s.rank(0) < 2) throw fault{"", "its input has no channels"};
  if (s.integer("size", 0) < 1) throw fault{"size", "it is missing, or not positive"};
  s.set(0, s.dims(0));
}

void mean_variance(site& s) {
  axes_of(s.integers("axes", {0, 2, 3}), s.rank(0));
  s.set(0, s.dims(0));
}

void cumulative(site& s) {
  axis_of(s.integer(1, "axis"), s.rank(0));
  s.set(0, s.dims(0));
}

}  // namespace ago::onnx::shapes
