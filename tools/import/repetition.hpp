// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When parts of a text repeat except for their numbers.
#pragma once

#include "expression.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace ago::importer {

/// A text that is equal for items that differ only in numbers.
std::string signature(item const& i);

/// Calls f for each number of an item, in order.
void visit_arguments(item& i, std::function<void(argument&)> const& f);

/// All numbers of a run of items, in order.
std::vector<argument> numbers_of(sequence const& run);

/// Whether an argument must be a parameter. Names must: they are only known in the block around them.
inline bool differs(argument const& a, argument const& first) { return a.is_name || a.value != first.value; }

/// The type of a parameter with these values: an extent2 or a padding that is a single number in every place is an int.
std::string parameter_type(std::string const& type, std::vector<std::string> const& values);

/// A name for a parameter that replaces an argument: "out", then "out2".
std::string parameter_name(argument const& a, std::set<std::string>& used);

/// Adds the names of all layers: a parameter with such a name would hide the layer.
void collect_layers(sequence const& s, std::set<std::string>& names);

}  // namespace ago::importer
