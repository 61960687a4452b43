// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pytorch.hpp"

#include "../temporary_folder.hpp"

#include <sstream>

namespace bench {

// Debian's PyTorch calls a reference BLAS unless another one is loaded before. Without OpenBLAS the loader goes on, and
// `version` is an error.
pytorch::pytorch()
    : child_({"env", "LD_PRELOAD=libopenblas.so.0", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "/usr/bin/python3",
              "-B", AGO_BENCH_TRAINING_PEER, std::to_string(training_run::rate),
              std::to_string(training_run::momentum)}),
      version_(child_.ask("version")) {}

void pytorch::load(training_subject const& subject, training_run const& run) {
  temporary_folder const folder;
  write_floats(folder.file("parameters"), run.parameters);
  write_floats(folder.file("input"), run.input);
  write_floats(folder.file("targets"), run.targets);
  child_.ask("load " + subject.name + ' ' + std::to_string(subject.batch) + ' ' + folder.path());
}

pytorch::gradient_errors pytorch::gradients(std::span<float const> ours) {
  temporary_folder const folder;
  write_floats(folder.file("gradients"), ours);
  std::istringstream answer(child_.ask("gradients " + folder.path()));
  gradient_errors r{};
  answer >> r.ours >> r.theirs;
  return r;
}

std::vector<double> pytorch::losses(int count) {
  std::istringstream answer(child_.ask("losses " + std::to_string(count)));
  std::vector<double> r;
  for (double x; answer >> x;) r.push_back(x);
  return r;
}

double pytorch::seconds(char const* command, int count) {
  return std::stod(child_.ask(command + (' ' + std::to_string(count)))) * 1e-9;
}

}  // namespace bench
