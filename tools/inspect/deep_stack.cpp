// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "deep_stack.hpp"

#include <pthread.h>

#include <exception>
#include <stdexcept>

namespace ago::tools {
namespace {

struct task {
  std::function<void()> const& work;
  std::exception_ptr thrown{};
};

extern "C" void* ago_run_task(void* argument) {
  task& t = *static_cast<task*>(argument);
  try {
    t.work();
  } catch (...) { t.thrown = std::current_exception(); }
  return nullptr;
}

}  // namespace

void on_deep_stack(std::function<void()> const& work) {
  constexpr std::size_t bytes = std::size_t{512} << 20;
  task t{work};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  int const error = pthread_create(&thread, &attributes, ago_run_task, &t);
  pthread_attr_destroy(&attributes);
  if (error) throw std::runtime_error("a stack of 512 MiB could not be allocated");
  pthread_join(thread, nullptr);
  if (t.thrown) std::rethrow_exception(t.thrown);
}

}  // namespace ago::tools
