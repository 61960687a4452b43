// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recurrent_activations.hpp"

#include <algorithm>
#include <cctype>

namespace ago::onnx::expansion {
namespace {

/// The activations that take numbers.
struct numbered {
  char const* name;
  bool has_alpha, has_beta;
};
constexpr numbered with_numbers[] = {{"leakyrelu", true, false}, {"thresholdedrelu", true, false},
                                     {"elu", true, false},       {"hardsigmoid", true, true},
                                     {"affine", true, true},     {"scaledtanh", true, true}};

bool takes(std::string const& name, bool numbered::* number) {
  return std::any_of(std::begin(with_numbers), std::end(with_numbers),
                     [&](numbered const& n) { return name == n.name && n.*number; });
}

/// Numbers for activations: for each of them, or for each that takes one, in their order.
void give_numbers(parts_of_operation const& p, std::vector<activation>& all, char const* attribute,
                  std::optional<float> activation::* to, bool numbered::* number) {
  onnx::attribute const* a = p.what().find(attribute);
  if (a == nullptr) return;
  auto const* list = std::get_if<std::vector<float>>(a);
  if (list == nullptr) throw fault{attribute, "it is not a list of floats"};
  auto const needed = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](activation const& f) { return takes(f.name, number); }));
  if (list->size() != all.size() && list->size() != needed) {
    throw fault{attribute,
                std::to_string(list->size()) + " numbers for " + std::to_string(all.size()) + " activations"};
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (list->size() == all.size()) all[i].*to = (*list)[i];
    else if (takes(all[i].name, number)) all[i].*to = (*list)[next++];
  }
}

}  // namespace

std::vector<activation> activations_of(parts_of_operation const& p, std::vector<std::string> const& usual,
                                       std::size_t directions) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), usual.begin(), usual.end());
  if (onnx::attribute const* a = p.what().find("activations")) {
    auto const* list = std::get_if<std::vector<std::string>>(a);
    if (list == nullptr) throw fault{"activations", "it is not a list of strings"};
    if (list->size() != names.size()) {
      throw fault{"activations",
                  std::to_string(list->size()) + " activations, expected " + std::to_string(names.size())};
    }
    names = *list;
  }
  std::vector<activation> r;
  for (std::string& name : names) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    r.push_back({name, {}, {}});
  }
  give_numbers(p, r, "activation_alpha", &activation::alpha, &numbered::has_alpha);
  give_numbers(p, r, "activation_beta", &activation::beta, &numbered::has_beta);
  return r;
}

int apply(parts_of_operation& p, activation const& f, int x) {
  auto const alpha = [&](float usual) { return f.alpha.value_or(usual); };
  auto const scaled = [&](int v, float factor) { return p.make("Mul", {v, p.number(factor)}); };
  if (f.name == "sigmoid") return p.make("Sigmoid", {x});
  if (f.name == "tanh") return p.make("Tanh", {x});
  if (f.name == "relu") return p.make("Relu", {x});
  if (f.name == "softsign") return p.make("Softsign", {x});
  if (f.name == "softplus") return p.make("Softplus", {x});
  if (f.name == "leakyrelu") return p.make("LeakyRelu", {x}, {{"alpha", alpha(0.01f)}});
  if (f.name == "thresholdedrelu") return p.make("ThresholdedRelu", {x}, {{"alpha", alpha(1)}});
  if (f.name == "elu") return p.make("Elu", {x}, {{"alpha", alpha(1)}});
  if (f.name == "hardsigmoid") {
    return p.make("HardSigmoid", {x}, {{"alpha", alpha(0.2f)}, {"beta", f.beta.value_or(0.5f)}});
  }
  if (f.name == "affine") return p.make("Add", {scaled(x, alpha(1)), p.number(f.beta.value_or(0))});
  if (f.name == "scaledtanh") return scaled(p.make("Tanh", {scaled(x, f.beta.value_or(1))}), alpha(1));
  throw fault{"activations", "\"" + f.name + "\" is not supported"};
}

}  // namespace ago::onnx::expansion
