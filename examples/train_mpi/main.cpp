// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a network on handwritten digits by two processes that average their gradients. The first one also trains alone
// with batches twice as large, and compares: exit code 1 if parameters differ by more than 1e-6 of the largest.
//
// usage: mpirun -n 2 train_mpi [STEPS]
#include "../train_digits/training_set.hpp"
#include "step_together.hpp"

#include <ago/training.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace ago;

// Without batch norm: its statistics are those of the part of the batch that a process has, so that two processes would
// compute something else than one.
inline constexpr auto network = input{.h = 8, .w = 8, .c = 1} | conv2d{.out = 16, .kernel = 3, .stride = 2, .pad = 1} |
                                relu{} | conv2d{.out = 10, .kernel = 4};

constexpr int processes = 2, batch = 16;
using part_trainer = trainer<network, cross_entropy, sgd, training{.batch = batch}>;
using whole_trainer = trainer<network, cross_entropy, sgd, training{.batch = processes * batch}>;
constexpr double bound = 1e-6;

struct mpi {
  mpi() { MPI_Init(nullptr, nullptr); }
  ~mpi() { MPI_Finalize(); }
};

/// The largest difference, as a part of the largest absolute value.
double difference(std::span<float const> a, std::span<float const> b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(double(a[i]) - double(b[i])));
    largest = std::max(largest, std::fabs(double(b[i])));
  }
  return most / largest;
}

}  // namespace

int main(int count, char** words) {
  mpi const session;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* end = nullptr;
  long const steps = count == 2 ? std::strtol(words[1], &end, 10) : 100;
  if (count > 2 || (end && (*end != 0 || end == words[1])) || steps < 1 || steps > 100000 || size != processes) {
    if (rank == 0)
      std::fprintf(stderr, "train_mpi: %s\nusage: mpirun -n 2 train_mpi [STEPS]\n",
                   size != processes ? "needs two processes" : "STEPS must be a number from 1 to 100000");
    return 2;
  }

  static part_trainer part{/*seed=*/1};
  static whole_trainer whole{/*seed=*/1};
  part.rate = whole.rate = .1f;
  std::vector<float> const start(whole.parameters().begin(), whole.parameters().end());
  digits::batches<processes * batch> batches{digits::load_training_set(), 0};
  for (long step = 0; step < steps; ++step) {
    batches.next();
    std::span const images{batches.images};
    std::span const labels{batches.labels};
    if (!step_together(part, images.subspan(std::size_t(rank) * batch * 64).first<batch * 64>(),
                       labels.subspan(std::size_t(rank) * batch).first<batch>())) {
      if (rank == 0) std::fprintf(stderr, "train_mpi: step %ld: a loss is not finite\n", step);
      return 1;
    }
    if (rank == 0) whole.step(images, labels);
  }
  if (rank != 0) return 0;

  double const apart = difference(part.parameters(), whole.parameters());
  std::printf("%ld steps: parameters changed by %.3g, and differ from one process's by %.3g of the largest\n", steps,
              difference(start, whole.parameters()), apart);
  std::printf("accuracy %.2f %%\n", digits::accuracy<network>(part.parameters()));
  return apart <= bound ? 0 : 1;
}
