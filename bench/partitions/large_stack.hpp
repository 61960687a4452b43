// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work on a stack that is large enough for the partitioner's arrays.
#pragma once

#include <stdexcept>
#include <string>

#include <pthread.h>

namespace bench {

/// Calls `work` on a stack of `bytes`, because the partitioner keeps data about each operator in local arrays.
template <class Work>
void on_large_stack(std::size_t bytes, Work work) {
  pthread_attr_t attributes;
  pthread_t thread;
  auto const call = [](void* w) -> void* { return (*static_cast<Work*>(w))(), nullptr; };
  pthread_attr_init(&attributes);
  bool const started =
      pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_create(&thread, &attributes, call, &work) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) throw std::runtime_error("a thread with a stack of " + std::to_string(bytes) + " bytes cannot start");
  pthread_join(thread, nullptr);
}

}  // namespace bench
