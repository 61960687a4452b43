// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mutator of libFuzzer: changes fields, with words from ONNX, so that most results get past the parser.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mutate.hpp"
#include "rules.hpp"

namespace {

/// Replacements for strings of a model: names used by the seeds, operators, attributes.
std::vector<std::string> const& words() {
  static std::vector<std::string> const all = [] {
    std::vector<std::string> words{"x", "y", "a", "b", "c", "x0", "x1", "x2", "y0", "", "SAME_UPPER", "VALID", "N"};
    for (ago::onnx::rule const& r : ago::onnx::all_rules()) {
      words.emplace_back(r.type);
      std::string_view names = r.attributes;
      while (!names.empty()) {
        std::size_t const end = std::min(names.find(' '), names.size());
        words.emplace_back(names.substr(0, end));
        names.remove_prefix(std::min(end + 1, names.size()));
      }
    }
    return words;
  }();
  return all;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

/// Changes bytes in one of four cases, otherwise fields.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned seed) {
  ::onnx::ModelProto proto;
  if (seed % 4 == 0 || !proto.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, largest);
  ago_test::mutator changes(seed, words());
  for (unsigned i = 0; i < 1 + seed / 4 % 3; ++i) changes.change(proto);
  std::string const bytes = proto.SerializePartialAsString();
  if (bytes.size() > largest) return LLVMFuzzerMutate(data, size, largest);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
