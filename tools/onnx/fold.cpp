// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fold.hpp"

#include "words.hpp"

#include <string>

namespace ago::onnx {
namespace {

constexpr std::string_view foldable_types =
    "Abs Add And Cast Ceil Clip Concat Constant ConstantOfShape Cos DequantizeLinear Div Dropout Equal Erf Exp "
    "Expand EyeLike Flatten Floor Gather GatherElements Greater GreaterOrEqual Identity Less LessOrEqual Log Max "
    "Min Mod Mul Neg NonZero Not Or Pad Pow Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceMax "
    "ReduceMean "
    "ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Round ScatterND Shape Sigmoid Sign Sin Size "
    "Slice Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Trilu Unsqueeze Where Xor";

bool operands_known(site const& s) {
  if (s.type() == "Shape" || s.type() == "Size" || s.type() == "EyeLike") return true;
  for (std::size_t i = 0; i < s.inputs(); ++i) {
    if (s.has_input(i) && !s.input(i).known) return false;
  }
  return true;
}

std::string unaffordable(std::int64_t made, fold_budget const& budget) {
  std::string const largest = std::to_string(budget.largest);
  if (made > budget.largest)
    return std::to_string(made) + " constant numbers would result from it, more than " + largest;
  return "the constants of the model would take more than " + largest + " numbers, or too long, to compute";
}

}  // namespace

bool foldable(std::string_view type) { return lists(foldable_types, type); }

bool fold(model& graph, operation& op, fold_budget& budget) {
  site s(graph, op);
  if (!foldable(op.type) || !operands_known(s)) return false;
  std::int64_t made = 0, read = 0;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    std::int64_t const size = s.output_type(i) == element::integer ? 2 : 1;
    made += s.has_output(i) ? size * volume(s.output_dims(i)) : 0;
  }
  for (std::size_t i = 0; i < op.inputs.size(); ++i) read += s.has_input(i) ? volume(s.dims(i)) : 0;
  if (op.type == "Constant") made = 0;                                                  // already in the file
  if (op.type != "Concat") read += made * static_cast<std::int64_t>(op.inputs.size());  // operands may be broadcast
  if (op.type == "Shape" || op.type == "Size") read = 0;
  if (made > budget.largest || made > budget.made || read > budget.read) {
    op.unfolded = unaffordable(made, budget);
    return false;
  }
  folding::results found;
  for (auto const rule : {folding::make, folding::move, folding::arithmetic, folding::reduce}) {
    if (found = rule(s); found) break;
  }
  if (!found) return false;
  budget.made -= made;
  budget.read -= read;
  for (std::size_t i = 0; i < found->size(); ++i) {
    if (!s.has_output(i)) continue;
    if ((*found)[i].dims != s.output_dims(i)) {
      throw fault{"", "the shape of its constant value contradicts its operands"};
    }
    s.set(i, std::move((*found)[i]));
  }
  return true;
}

}  // namespace ago::onnx
