// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names within names: "encoders.1.norm2", joined while a network is traced.
#pragma once

#include <ago/graph/requirements.hpp>

namespace ago::detail {

/// The name that named() has given to what is being recorded. A name within a name is written out whole, the outer name
/// before it, so that whatever is recorded just points to its name. A constant cannot point to characters made in its
/// own evaluation: a first trace counts the names, another one writes them, and those after it refer to what was
/// written.
class naming {
 public:
  constexpr naming() = default;
  /// Refers to the names that an earlier trace of the same network has written.
  constexpr explicit naming(char const* const* names) : way_(way::refers), names_(names) {}
  /// Writes them into rows of zeros: count() names of up to longest() characters, as an earlier trace has counted.
  constexpr explicit naming(char* const* names) : way_(way::writes), written_(names) {}

  /// The current name; null where there is none, or where names are not referred to.
  constexpr char const* current() const {
    if (way_ != way::refers || current_.index < 0) return nullptr;
    return names_[current_.index][0] ? names_[current_.index] : nullptr;
  }
  constexpr int count() const { return count_; }
  constexpr int longest() const { return longest_; }

  /// Which name it is, negative: none; and, where it is not referred to, how long.
  struct joined {
    int index = -1, length = 0;
  };
  /// Goes into what is called `name`, `name.number`, or `number` where the name is empty; negative: no number. Gives
  /// the name outside, which leave() wants back.
  constexpr joined enter(char const* name, int number) {
    joined const outer = current_;
    current_ = {count_++, 0};
    if (way_ != way::refers) join(outer, name, number);
    return outer;
  }
  constexpr void leave(joined outer) { current_ = outer; }

 private:
  enum class way { counts, writes, refers };  ///< not told from null pointers, see schedule_table::find

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

}  // namespace ago::detail
