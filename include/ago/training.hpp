// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training (docs/training.md). It is apart from ago.hpp, because networks that only run need not compile it.
#pragma once

#include <ago/graph/requirements.hpp>

#include <ago/ago.hpp>
#include <ago/expressions.hpp>
#include <ago/train/losses.hpp>
#include <ago/train/optimizers.hpp>
#include <ago/train/trainer.hpp>
