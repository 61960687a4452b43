// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training (docs/training.md). It is apart from ago.hpp, because networks that only run need not compile it.
#pragma once

#include <ago/requirements.hpp>

#include <ago/ago.hpp>
#include <ago/expressions.hpp>
#include <ago/learning/losses.hpp>
#include <ago/learning/optimizers.hpp>
#include <ago/learning/trainer.hpp>
