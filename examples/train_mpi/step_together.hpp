// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step of training by several processes, each with its own part of the batch.
#pragma once

#include <ago/training.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mpi.h>

// [step]
/// Forward and backward on this process's part of the batch, then the same update in all processes. False, with nothing
/// changed, if status() was not ok in any of them.
template <class Trainer>
bool step_together(Trainer& trainer, auto const& images, auto const& labels) {
  trainer.backward(images, labels);
  auto const g = trainer.gradients();
  // One sum tells the others of a failure, too: whatever is added to NaN is NaN.
  if (trainer.status() != ago::training_status::ok) std::ranges::fill(g, std::numeric_limits<float>::quiet_NaN());
  MPI_Allreduce(MPI_IN_PLACE, g.data(), int(g.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (std::isnan(g[0])) return false;
  int processes = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  for (float& v : g) v /= float(processes);
  trainer.update();
  return true;
}
// [/step]
