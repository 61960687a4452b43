// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of the user's own, by index expressions (docs/expressions.md), and the kernels that compute them. They are
// apart from ago.hpp, because networks without them need not compile them.
#pragma once

#include <ago/requirements.hpp>

#include <ago/expression/check.hpp>
#include <ago/kernel/contraction/kernel.hpp>
#include <ago/kernel/nest/kernel.hpp>
#include <ago/recognition/operation.hpp>
