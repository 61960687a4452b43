// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Room for the algorithms of the library, which keep what they work on in arrays on the stack.
#pragma once

#include <functional>

namespace ago::tools {

/// Calls `work` on a stack of 512 MiB, and throws what it throws. Throws std::runtime_error if there is no such stack.
void on_deep_stack(std::function<void()> const& work);

}  // namespace ago::tools
