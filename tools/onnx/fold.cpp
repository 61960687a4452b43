#include "fold.hpp"

#include <algorithm>

namespace ago::onnx {
namespace {

bool operands_known(site const& s) {
  if (s.type() == "Shape" || s.type() == "Size" || s.type() == "EyeLike") return true;
  for (std::size_t i = 0; i < s.inputs(); ++i) {
    if (s.has_input(i) && !s.input(i).known) return false;
  }
  return true;
}

}  // namespace

bool fold(model& graph, operation const& op, fold_budget& budget) {
  site s(graph, op);
  if (!operands_known(s)) return false;
  std::int64_t made = 0, read = 0;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) made += s.has_output(i) ? volume(s.output_dims(i)) : 0;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) read += s.has_input(i) ? volume(s.dims(i)) : 0;
  if (op.type == "Constant") made = 0;  // it is in the file already
  if (op.type == "Shape" || op.type == "Size") read = 0;
  if (made > budget.largest || made > budget.made || read > budget.read) return false;
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
      throw fault{"", "its constant value has another shape than its operands say"};
    }
    s.set(i, std::move((*found)[i]));
  }
  return true;
}

}  // namespace ago::onnx
