// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dynamic mode (docs/live.md): networks that get faster while they run. It is apart from ago.hpp, because it contains
// the tuner.
#pragma once

#include <ago/requirements.hpp>

#include <ago/ago.hpp>
#include <ago/live/live_model.hpp>
#include <ago/live/live_trainer.hpp>
#include <ago/training.hpp>
