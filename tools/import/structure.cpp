// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From calls to statements: a value that is read once gets no name, and branches of one value become a layer of it.
#include "expression.hpp"

#include <algorithm>

namespace ago::importer {

namespace {

class structuring {
 public:
  structuring(call_list const& network, std::vector<std::string> const& input_names)
      : calls_(network.calls), outputs_(network.outputs), is_output_(calls_.size(), false), uses_(calls_.size(), 0),
        chains_(calls_.size()), names_(calls_.size()) {
    for (int v : outputs_) is_output_[std::size_t(v)] = true;
    for (std::size_t i = 0; i < input_names.size(); ++i) names_[i] = input_names[i];
  }

  program_text run() {
    count_uses();
    for (int v = 0; v < int(calls_.size()); ++v) {
      call const& c = calls_[std::size_t(v)];
      if (auto const* in = std::get_if<input>(&c.what)) {
        text_.inputs.push_back(*in);
        text_.order.push_back(v);
        text_.input_names.push_back(names_[std::size_t(v)]);
        chains_[std::size_t(v)] = {.root = v, .head = {}, .items = {}, .calls = {}};
      } else if (uses_[std::size_t(v)] > 0) {
        c.operands.size() == 1 ? extend(v) : combine(v);
      }
    }
    for (int v : outputs_) text_.output_names.push_back(name_of(v));
    forget_unused_inputs();
    return std::move(text_);
  }

 private:
  /// The layers that compute a value from the last named value.
  struct chain {
    int root = -1;  ///< the value it starts with; -1: with `head`
    std::string head;
    sequence items;
    std::vector<int> calls;  ///< in the order in which they are recorded, and their parameters declared
    int depth = 0;           ///< of nested branches
  };

  void count_uses() {
    for (int v : outputs_) ++uses_[std::size_t(v)];
    for (std::size_t v = calls_.size(); v-- > 0;)
      if (uses_[v] > 0)
        for (int operand : calls_[v].operands) ++uses_[std::size_t(operand)];
  }

  /// Compilers warn about an unused parameter that has a name.
  void forget_unused_inputs() {
    for (int v = 0, i = 0; v < int(calls_.size()); ++v)
      if (is_input(v) && ++i && uses_[std::size_t(v)] == 0) text_.input_names[std::size_t(i - 1)].clear();
  }

  bool is_input(int v) const { return std::holds_alternative<input>(calls_[std::size_t(v)].what); }
  /// Whether a value is only read here, so that it needs no name.
  bool is_open(int v, int reads = 1) const {
    return !is_output_[std::size_t(v)] && !is_input(v) && names_[std::size_t(v)].empty() &&
           uses_[std::size_t(v)] == reads;
  }
  int root_of(int v) const { return is_open(v) ? chains_[std::size_t(v)].root : v; }
  /// A residual needs equal shapes; a sum broadcasts.
  bool have_one_shape(std::vector<int> const& values) const {
    return std::all_of(values.begin(), values.end(),
                       [&](int v) { return calls_[std::size_t(v)].out == calls_[std::size_t(values[0])].out; });
  }
  bool is_root(int v) const { return !is_open(v) || chains_[std::size_t(v)].items.empty(); }

  /// Moves out the chain of a value that is only read here; otherwise a chain that begins with the value.
  chain chain_to(int v, int reads = 1) {
    if (is_open(v, reads)) return std::move(chains_[std::size_t(v)]);
    return {.root = v, .head = {}, .items = {}, .calls = {}};
  }

  void extend(int v) {
    call const& c = calls_[std::size_t(v)];
    chain r = chain_to(c.operands[0]);
    r.items.push_back(item_of(c));
    r.calls.push_back(v);
    chains_[std::size_t(v)] = std::move(r);
  }

  void combine(int v) {
    if (!as_item(v)) as_statement(v);
  }

  /// Whether all branches begin with the same value. Then they form a layer of it.
  bool as_item(int v) {
    constexpr int deepest = 16;  // readers and compilers need a stack
    call const& c = calls_[std::size_t(v)];
    int const root = root_of(c.operands[0]);
    int depth = 1;
    for (int operand : c.operands) {
      if (root_of(operand) < 0 || root_of(operand) != root) return false;
      if (!is_root(operand)) depth = std::max(depth, chains_[std::size_t(operand)].depth + 1);
    }
    auto const empty = std::count_if(c.operands.begin(), c.operands.end(), [&](int o) { return is_root(o); });
    item i = item_of(c);
    if (i.name == "+") i.kind = empty && have_one_shape(c.operands) ? item_kind::residual : item_kind::sum;
    else if (i.name == "*") i.kind = item_kind::product;
    else if (i.name == "concat" && i.arguments[0].value == "axis::channels") i.kind = item_kind::joined;
    else return false;
    if (empty > 1 || (empty && i.kind == item_kind::joined) || depth > deepest) return false;
    i.arguments.clear();
    if (i.kind == item_kind::residual && !is_root(c.operands[0])) text_.swapped.push_back(v);
    chain r = chain_to(root, int(c.operands.size()));
    r.depth = std::max(r.depth, depth);
    for (int operand : c.operands) {
      if (is_root(operand)) {
        if (i.kind != item_kind::residual) i.branches.emplace_back();
        continue;
      }
      chain b = chain_to(operand);
      i.branches.push_back(std::move(b.items));
      r.calls.insert(r.calls.end(), b.calls.begin(), b.calls.end());
    }
    r.items.push_back(std::move(i));
    r.calls.push_back(v);
    chains_[std::size_t(v)] = std::move(r);
    return true;
  }

  void as_statement(int v) {
    call const& c = calls_[std::size_t(v)];
    std::vector<std::string> operands;
    for (int operand : c.operands) operands.push_back(name_of(operand));
    chains_[std::size_t(v)] = {.root = -1, .head = head_of(c, operands), .items = {}, .calls = {v}};
  }

  /// The variable of a value. Its statement, and those it depends on, are written when it is first requested.
  std::string const& name_of(int v) {
    std::vector<int> unnamed;
    for (int u = v; u >= 0 && names_[std::size_t(u)].empty(); u = chains_[std::size_t(u)].root) unnamed.push_back(u);
    for (std::size_t i = unnamed.size(); i-- > 0;) write_statement(unnamed[i]);
    return names_[std::size_t(v)];
  }
  void write_statement(int v) {
    chain& c = chains_[std::size_t(v)];
    std::string& name = names_[std::size_t(v)] = "x" + std::to_string(++named_);
    text_.order.insert(text_.order.end(), c.calls.begin(), c.calls.end());
    for (int i : c.calls)
      text_.weights.insert(text_.weights.end(), calls_[std::size_t(i)].weights.begin(),
                           calls_[std::size_t(i)].weights.end());
    text_.statements.push_back({.name = name,
                                .head = c.root < 0 ? c.head : names_[std::size_t(c.root)],
                                .items = std::move(c.items),
                                .origin = calls_[std::size_t(v)].origin});
  }

  std::vector<call> const& calls_;
  std::vector<int> const& outputs_;
  std::vector<bool> is_output_;
  std::vector<int> uses_;
  std::vector<chain> chains_;
  std::vector<std::string> names_;
  int named_ = 0;
  program_text text_;
};

}  // namespace

program_text structured(call_list const& network, std::vector<std::string> const& input_names) {
  return structuring(network, input_names).run();
}

call_list in_order_of(program_text const& text, call_list const& network) {
  std::vector<int> place(network.calls.size(), -1);
  call_list r;
  for (int const v : text.order) {
    place[std::size_t(v)] = int(r.calls.size());
    r.calls.push_back(network.calls[std::size_t(v)]);
    for (int& operand : r.calls.back().operands) operand = place[std::size_t(operand)];
  }
  for (int const v : text.swapped)
    if (place[std::size_t(v)] >= 0) {
      auto& operands = r.calls[std::size_t(place[std::size_t(v)])].operands;
      std::reverse(operands.begin(), operands.end());
    }
  for (int const v : network.outputs) r.outputs.push_back(place[std::size_t(v)]);
  return r;
}

}  // namespace ago::importer
