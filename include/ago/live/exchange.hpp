// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes programs between the thread that finds them and the thread that runs them; neither waits for the other.
#pragma once

#include <ago/requirements.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace ago::live {

/// A program on its way, in one direction or back.
template <class Program>
struct parcel {
  std::unique_ptr<Program> program;
  parcel* next = nullptr;
};

/// One thread offers and collects, another one takes and gives back. Only the former makes and destroys programs.
template <class Program>
class exchange {
 public:
  using parcel_type = parcel<Program>;

  exchange() = default;
  exchange(exchange const&) = delete;
  exchange& operator=(exchange const&) = delete;
  ~exchange() {
    delete offered_.load();
    collect();
  }

  /// Offers a program in place of the one that was offered before, if that has not been taken.
  void offer(std::unique_ptr<Program> p) {
    delete offered_.exchange(new parcel_type{std::move(p)}, std::memory_order_acq_rel);
  }
  /// Destroys the programs that were given back.
  void collect() {
    for (parcel_type* p = returned_.exchange(nullptr, std::memory_order_acquire); p;) delete std::exchange(p, p->next);
  }

  /// The program on offer; null: none. Without one, this costs a load.
  parcel_type* take() noexcept {
    if (!offered_.load(std::memory_order_relaxed)) return nullptr;
    return offered_.exchange(nullptr, std::memory_order_acquire);
  }
  void give_back(parcel_type* p) noexcept {
    p->next = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(p->next, p, std::memory_order_release, std::memory_order_relaxed)) {}
  }

 private:
  std::atomic<parcel_type*> offered_ = nullptr, returned_ = nullptr;
};

}  // namespace ago::live
