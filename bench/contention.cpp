// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contention.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

namespace bench {
namespace {

#if defined(__linux__)
/// Binds the calling thread to a core and leaves a real-time class that it may have inherited, in which it would starve
/// others on its core. Returns 0 or errno.
int settle_on(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(unsigned(core), &cores);
  sched_param const none{.sched_priority = 0};
  if (sched_setaffinity(0, sizeof cores, &cores) != 0 || sched_setscheduler(0, SCHED_OTHER, &none) != 0) return errno;
  return 0;
}
#else
int settle_on(int) { return ENOSYS; }
#endif

}  // namespace

std::vector<int> usable_cores() {
  std::vector<int> all;
#if defined(__linux__)
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(unsigned(core), &cores)) all.push_back(core);
#endif
  return all;
}

std::vector<int> siblings_of(int core) {
  std::vector<int> all;
  std::ifstream list("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list");
  for (std::string range; std::getline(list, range, ',');) {  // as in 0-1,4
    std::istringstream words(range);
    int first = 0, last = 0;
    if (!(words >> first)) break;
    if (!(words.ignore(1, '-') >> last)) last = first;
    for (int i = first; i <= last; ++i) all.push_back(i);
  }
  return all;
}

int disturbing_core(std::vector<int> const& usable, int measured, std::vector<int> const& siblings) {
  if (std::find(usable.begin(), usable.end(), measured) == usable.end())
    throw std::runtime_error("--contend: this process may not use core " + std::to_string(measured));
  int other = -1;
  for (int const core : usable) {
    if (core == measured) continue;
    if (std::find(siblings.begin(), siblings.end(), core) == siblings.end()) return core;
    if (other < 0) other = core;
  }
  if (other < 0) throw std::runtime_error("--contend needs a second core; this process may use only one");
  return other;
}

std::size_t streaming_bytes() {
  std::size_t cache = 64u << 20, memory = 1u << 30;
#if defined(__linux__)
  long const level3 = sysconf(_SC_LEVEL3_CACHE_SIZE), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (level3 > 0) cache = std::size_t(level3);
  if (pages > 0 && page > 0) memory = std::size_t(pages) * std::size_t(page);
#endif
  return std::min(4 * cache, memory / 4);
}

contention::contention(int core, std::size_t bytes)
    : floats_(bytes / sizeof(float)), buffer_(new(std::nothrow) float[floats_]) {
  if (!buffer_) throw std::runtime_error("--contend: cannot allocate " + std::to_string(bytes) + " bytes");
  std::promise<int> settled;
  thread_ = std::thread([this, core, &settled] {
    int const error = settle_on(core);
    if (error == 0) std::fill_n(buffer_.get(), floats_, 0.f);
    settled.set_value(error);
    if (error == 0) stream();
  });
  if (int const error = settled.get_future().get()) {
    thread_.join();
    throw std::runtime_error("--contend: cannot use core " + std::to_string(core) + ": " + std::strerror(error));
  }
  begin_ = std::chrono::steady_clock::now();
}

contention::~contention() {
  stop_ = true;
  thread_.join();
}

double contention::rate() const {
  return double(moved()) / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void contention::stream() {
  constexpr std::size_t stretch = 1 << 16;  // floats between two reads of stop_
  for (std::size_t first = 0; !stop_; first = first + stretch < floats_ ? first + stretch : 0) {
    std::size_t const last = std::min(first + stretch, floats_);
    for (std::size_t i = first; i < last; ++i) buffer_[i] += 1.f;
    asm volatile("" : : "r"(buffer_.get()) : "memory");  // keeps compilers from merging passes
    moved_ += 2 * (last - first) * sizeof(float);
  }
}

}  // namespace bench
