// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nested names, such as "encoders.1.norm2", joined while a network is traced.
#pragma once

#include <ago/requirements.hpp>

namespace ago::tracing {

/// The current name from named(). A nested name is written in full, after the outer one, so that each node needs only a
/// pointer. A constant cannot point to characters created in its own evaluation. Therefore a first trace counts the
/// names, a second one writes them, and later ones refer to the written names.
class naming {
 public:
  constexpr naming() = default;
  /// Refers to the names written by an earlier trace of the same network.
  constexpr explicit naming(char const* const* names) : way_(way::refers), names_(names) {}
  /// Writes the names into rows of zeros: count() names of up to longest() characters, which an earlier trace counted.
  constexpr explicit naming(char* const* names) : way_(way::writes), written_(names) {}

  /// The current name; null if there is none, or if this trace does not refer to names.
  constexpr char const* current() const {
    if (way_ != way::refers || current_.index < 0) return nullptr;
    return names_[current_.index][0] ? names_[current_.index] : nullptr;
  }
  constexpr int count() const { return count_; }
  constexpr int longest() const { return longest_; }

  /// The index of a name, negative: none; and its length, unless this trace refers to names.
  struct joined {
    int index = -1, length = 0;
  };
  /// Enters the name `name`, `name.number`, or `number` if the name is empty; a negative number is none. Returns the
  /// outer name, which leave() takes.
  constexpr joined enter(char const* name, int number) {
    joined const outer = current_;
    current_ = {count_++, 0};
    if (way_ != way::refers) join(outer, name, number);
    return outer;
  }
  constexpr void leave(joined outer) { current_ = outer; }

 private:
  enum class way { counts, writes, refers };  ///< not deduced from null pointers, see schedule_table::find

  constexpr void join(joined outer, char const* name, int number) {
    if (way_ == way::writes)
      for (int i = 0; i < outer.length; ++i) written_[current_.index][i] = written_[outer.index][i];
    current_.length = outer.length;
    if (outer.length && (*name || number >= 0)) put('.');
    for (int i = 0; name[i]; ++i) put(name[i]);
    if (*name && number >= 0) put('.');
    if (number >= 0) put_number(number);
    if (longest_ < current_.length) longest_ = current_.length;
  }
  constexpr void put(char c) {
    if (way_ == way::writes) written_[current_.index][current_.length] = c;
    ++current_.length;
  }
  constexpr void put_number(int x) {
    if (x >= 10) put_number(x / 10);
    put(char('0' + x % 10));
  }

  way way_ = way::counts;
  char const* const* names_{};
  char* const* written_{};
  int count_{}, longest_{};
  joined current_{};
};

}  // namespace ago::tracing
