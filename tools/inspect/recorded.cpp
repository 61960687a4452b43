// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recorded.hpp"

#include "policies.hpp"

namespace ago::tools {

template inspection inspect(decltype(roomy_graph::value) const&, options const&);

namespace {

using usual_graph = decltype(roomy_graph::value);
using large_graph = ir::graph<16384, 49152, 1024>;

template <class Graph>
std::vector<inspection> inspect_as(ago::tracing::recorder const& made, std::vector<options> const& ways) {
  auto const g = std::make_unique<Graph>();
  detail::copy_with_room(*g, made);
  *g = passes::optimize(*g);
  std::vector<inspection> all;
  for (options const& way : ways) all.push_back(inspect(*g, way));
  return all;
}

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (int p = 0; p < partition::policies; ++p) names.emplace_back(name_of(policy(p)));
#ifdef AGO_INSPECTED_POLICY
  names.push_back(name_of_policy<AGO_INSPECTED_POLICY>());
#endif
  return names;
}

#define AGO_TEXT_OF(...) #__VA_ARGS__
#define AGO_EXPANDED_TEXT_OF(...) AGO_TEXT_OF(__VA_ARGS__)
policy_text own_policy() {
#ifdef AGO_INSPECTED_POLICY
  return {AGO_EXPANDED_TEXT_OF(AGO_INSPECTED_POLICY), AGO_INSPECTED_POLICY_HEADER};
#else
  return {};
#endif
}

std::vector<inspection> inspect_recorded(ago::tracing::recorder const& made, std::vector<options> const& ways) {
  try {
    return inspect_as<usual_graph>(made, ways);
  } catch (std::length_error const&) { return inspect_as<large_graph>(made, ways); }
}

}  // namespace ago::tools
