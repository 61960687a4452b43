// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of programs that train.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace digits {

/// --seed N, --epochs N, --svg FILE.
struct arguments {
  char const* program;
  int epochs;
  std::uint64_t seed = 0;
  char const* svg = nullptr;

  [[noreturn]] void refuse(char const* what, char const* argument) const {
    std::fprintf(stderr, "%s: %s: %s\nusage: %s [--seed N] [--epochs N] [--svg FILE]\n", program, argument, what,
                 program);
    std::exit(2);
  }
};

/// What is given, else as in `r`. Anything wrong ends the program.
inline arguments parse(arguments r, int count, char** words) {
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) r.refuse("needs a value", words[i]);
    char* end = words[i + 1];
    if (std::strcmp(words[i], "--svg") == 0) r.svg = words[i + 1], end += std::strlen(end);
    else if (std::strcmp(words[i], "--seed") == 0) r.seed = std::strtoull(words[i + 1], &end, 10);
    else if (std::strcmp(words[i], "--epochs") == 0) r.epochs = int(std::strtol(words[i + 1], &end, 10));
    else r.refuse("is not an option", words[i]);
    if (*end != 0 || end == words[i + 1]) r.refuse("is not a number", words[i + 1]);
  }
  if (r.epochs < 1 || r.epochs > 10000) r.refuse("must be from 1 to 10000", "--epochs");
  return r;
}

}  // namespace digits
