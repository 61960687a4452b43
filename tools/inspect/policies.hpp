// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policies that a build of the inspector knows: the library's, and with ago_add_inspector() one of the user's.
#pragma once

#include <ago/partition/policy.hpp>

#ifdef AGO_INSPECTED_POLICY
#include AGO_INSPECTED_POLICY_HEADER
#endif

#include <stdexcept>
#include <string>
#include <vector>

namespace ago::tools {

/// f.operator()<P>() with the type P of a policy. Throws std::invalid_argument for policy::own if this build knows no
/// policy of the user's.
template <class F>
auto with_policy(policy p, F const& f) {
  if (p != policy::own) return ago::partition::with_policy(p, f);
#ifdef AGO_INSPECTED_POLICY
  return f.template operator()<AGO_INSPECTED_POLICY>();
#else
  throw std::invalid_argument("this program is built without a policy of its own");
#endif
}

/// What tools call a policy.
template <class Policy>
std::string name_of_policy() {
  if constexpr (requires { Policy::name; }) return Policy::name;
  else return "own";
}

/// The policy of the user's as C++ text: its type, and the header that defines it. Empty if there is none. (In
/// recorded.cpp, likewise.)
struct policy_text {
  std::string type, header;
};
policy_text own_policy();

/// The names of all, in the order of their enumerators. (In recorded.cpp, which ago_add_inspector() compiles again.)
std::vector<std::string> policy_names();

}  // namespace ago::tools
