// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "describe.hpp"

#include <cstdio>

namespace ago::tools {
namespace {

/// Phrases separated by commas.
class phrases {
 public:
  void add(std::string const& phrase) { text_ += (text_.empty() ? "" : ", ") + phrase; }
  /// "what 2", or "what 2x1" if the axes differ.
  void add(char const* what, int rows, int columns) {
    add(what + std::to_string(rows) + (rows == columns ? "" : 'x' + std::to_string(columns)));
  }
  std::string const& text() const { return text_; }

 private:
  std::string text_;
};

std::string number(float x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", double(x));
  return text;
}

void add_window(phrases& p, ir::window const& w) {
  p.add(std::to_string(w.kernel_h) + 'x' + std::to_string(w.kernel_w));
  if (w.stride_h != 1 || w.stride_w != 1) p.add("stride ", w.stride_h, w.stride_w);
  if (w.dilation_h != 1 || w.dilation_w != 1) p.add("dilation ", w.dilation_h, w.dilation_w);
  if (w.pad_top || w.pad_left || w.pad_bottom || w.pad_right)
    p.add("pads " + std::to_string(w.pad_top) + ' ' + std::to_string(w.pad_left) + ' ' + std::to_string(w.pad_bottom) +
          ' ' + std::to_string(w.pad_right));
}

char const* axis_name(int axis) {
  constexpr char const* names[] = {"images", "rows", "columns", "channels"};
  return names[axis];
}

void add_attention(phrases& p, ir::node const& n) {
  p.add(std::to_string(n.groups) + (n.groups == 1 ? " head" : " heads"));
  if (n.patch.pixels() != 1) p.add("patch ", n.patch.h, n.patch.w);
}

}  // namespace

std::string describe(ir::node const& n) {
  phrases p;
  if (n.kind == op::conv2d || n.kind == op::depthwise || ir::pools_windows(n.kind)) add_window(p, n.win);
  switch (n.kind) {
    case op::conv2d:
    case op::channel_shuffle:
      if (n.groups > 1) p.add(std::to_string(n.groups) + " groups");
      break;
    case op::avg_pool:
      if (n.count_pads) p.add("pads count");
      break;
    case op::attention_scores:
    case op::attention_values: add_attention(p, n); break;
    case op::matmul:
      if (n.transposed) p.add("second operand transposed");
      break;
    case op::leaky_relu: p.add("slope " + number(n.alpha)); break;
    case op::clip: p.add("from " + number(n.alpha) + " to " + number(n.beta)); break;
    case op::layer_norm:
    case op::batch_norm: p.add("epsilon " + number(n.alpha)); break;
    case op::pad: p.add("with " + number(n.alpha)); break;
    case op::concat: p.add(std::string("of ") + axis_name(n.axis)); break;
    case op::slice:
      p.add(std::string(axis_name(n.axis)) + " from " + std::to_string(n.begin));
      if (n.step != 1) p.add("step " + std::to_string(n.step));
      break;
    case op::permute:
      p.add("axes " + std::to_string(n.order[0]) + ' ' + std::to_string(n.order[1]) + ' ' + std::to_string(n.order[2]) +
            ' ' + std::to_string(n.order[3]));
      break;
    case op::unfold:
    case op::fold: p.add("patch ", n.patch.h, n.patch.w); break;
    case op::embedding: p.add(std::to_string(n.entries) + " entries"); break;
    default: break;
  }
  return p.text();
}

}  // namespace ago::tools
