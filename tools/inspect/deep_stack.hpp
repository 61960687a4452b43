// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A large stack for the algorithms of the library, which keep their data in arrays on the stack.
#pragma once

#include <functional>

namespace ago::tools {

/// Calls `work` on a stack of 512 MiB, and passes its exceptions on. Throws std::runtime_error if there is no memory
/// for the stack.
void on_deep_stack(std::function<void()> const& work);

}  // namespace ago::tools
