// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutations of messages that keep them valid messages: randomly changed bytes rarely get past the parser.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ago_test {

class mutator {
 public:
  mutator(unsigned seed, std::vector<std::string> const& words) : random_(seed), words_(words) {}

  /// Changes one field anywhere in the message.
  void change(google::protobuf::Message& message) {
    std::vector<google::protobuf::Message*> all;
    collect(message, all);
    google::protobuf::Message& target = *all[below(all.size())];
    auto const* type = target.GetDescriptor();
    if (type->field_count() == 0) return;
    // Usually a field that is set; many of the others never matter.
    std::vector<google::protobuf::FieldDescriptor const*> set;
    target.GetReflection()->ListFields(target, &set);
    bool const any = set.empty() || below(4) == 0;
    auto const* field = any ? type->field(static_cast<int>(below(static_cast<std::size_t>(type->field_count()))))
                            : set[below(set.size())];
    field->is_repeated() ? change_list(target, field) : change_one(target, field);
  }

 private:
  using message = google::protobuf::Message;
  using field_type = google::protobuf::FieldDescriptor;

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  static void collect(message& m, std::vector<message*>& all) {
    all.push_back(&m);
    std::vector<field_type const*> set;
    auto const* reflection = m.GetReflection();
    reflection->ListFields(m, &set);
    for (auto const* field : set) {
      if (field->cpp_type() != field_type::CPPTYPE_MESSAGE) continue;
      int const count = field->is_repeated() ? reflection->FieldSize(m, field) : 1;
      for (int i = 0; i < count; ++i) {
        collect(*(field->is_repeated() ? reflection->MutableRepeatedMessage(&m, field, i)
                                       : reflection->MutableMessage(&m, field)),
                all);
      }
    }
  }

  std::int64_t number(std::int64_t old) {
    constexpr std::int64_t interesting[] = {0,         1,        2,       3,         4,         5,
                                            7,         8,        16,      -1,        -2,        -3,
                                            255,       65536,    1 << 20, INT32_MAX, INT32_MIN, std::int64_t{1} << 32,
                                            INT64_MAX, INT64_MIN};
    switch (below(4)) {
      case 0: return static_cast<std::int64_t>(static_cast<std::uint64_t>(old) + 1);
      case 1: return static_cast<std::int64_t>(static_cast<std::uint64_t>(old) - 1);
      default: return interesting[below(std::size(interesting))];
    }
  }

  std::string text(std::string const& old) {
    if (below(8) == 0) return old.substr(0, old.size() / 2);
    if (below(8) == 0) return old + std::string(1 + below(9), static_cast<char>(below(256)));
    return words_[below(words_.size())];
  }

  void change_one(message& m, field_type const* f) {
    auto const* r = m.GetReflection();
    if (below(8) == 0) return r->ClearField(&m, f);
    switch (f->cpp_type()) {
      case field_type::CPPTYPE_INT32: return r->SetInt32(&m, f, static_cast<std::int32_t>(number(r->GetInt32(m, f))));
      case field_type::CPPTYPE_INT64: return r->SetInt64(&m, f, number(r->GetInt64(m, f)));
      case field_type::CPPTYPE_FLOAT: return r->SetFloat(&m, f, static_cast<float>(number(0)) / 4);
      case field_type::CPPTYPE_STRING: return r->SetString(&m, f, text(r->GetString(m, f)));
      case field_type::CPPTYPE_ENUM:
        return r->SetEnumValue(&m, f, static_cast<int>(below(static_cast<std::size_t>(f->enum_type()->value_count()))));
      case field_type::CPPTYPE_MESSAGE: r->MutableMessage(&m, f); return;
      default: return;
    }
  }

  void change_list(message& m, field_type const* f) {
    auto const* r = m.GetReflection();
    int const count = r->FieldSize(m, f);
    if (count > 0 && below(3) == 0) return r->RemoveLast(&m, f);
    if (count > 1 && below(3) == 0) {
      return r->SwapElements(&m, f, static_cast<int>(below(static_cast<std::size_t>(count))), count - 1);
    }
    bool const add = count == 0 || below(2) == 0;
    int const at = add ? 0 : static_cast<int>(below(static_cast<std::size_t>(count)));
    switch (f->cpp_type()) {
      case field_type::CPPTYPE_INT32:
        return add ? r->AddInt32(&m, f, static_cast<std::int32_t>(number(1)))
                   : r->SetRepeatedInt32(&m, f, at, static_cast<std::int32_t>(number(r->GetRepeatedInt32(m, f, at))));
      case field_type::CPPTYPE_INT64:
        return add ? r->AddInt64(&m, f, number(1))
                   : r->SetRepeatedInt64(&m, f, at, number(r->GetRepeatedInt64(m, f, at)));
      case field_type::CPPTYPE_FLOAT:
        return add ? r->AddFloat(&m, f, 1) : r->SetRepeatedFloat(&m, f, at, static_cast<float>(number(0)) / 4);
      case field_type::CPPTYPE_STRING:
        return add ? r->AddString(&m, f, text(""))
                   : r->SetRepeatedString(&m, f, at, text(r->GetRepeatedString(m, f, at)));
      case field_type::CPPTYPE_MESSAGE: {
        message* added = r->AddMessage(&m, f);
        if (count > 0)
          added->CopyFrom(r->GetRepeatedMessage(m, f, static_cast<int>(below(static_cast<std::size_t>(count)))));
        return;
      }
      default: return;
    }
  }

  std::minstd_rand random_;
  std::vector<std::string> const& words_;
};

}  // namespace ago_test
