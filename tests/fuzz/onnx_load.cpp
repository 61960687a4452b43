// Whatever bytes there are: a model that keeps its promises, or a sentence. Built with libFuzzer and sanitizers.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "load.hpp"
#include "mutate.hpp"
#include "npy.hpp"
#include "rules.hpp"
#include "sizes.hpp"

namespace {

using namespace ago::onnx;

void expect(bool holds) {
  if (!holds) std::abort();
}

void expect_sound(constant const& c) {
  auto const count = static_cast<std::size_t>(volume(c.dims));
  expect(c.reals.size() == (c.type == element::real ? count : 0));
  expect(c.integers.size() == (c.type == element::integer ? count : 0));
}

/// What model.hpp says: indices in range, operands defined before they are read, constants of the size of their shape.
void expect_sound(model const& m) {
  std::vector<bool> defined(m.values.size(), false);
  for (std::size_t v = 0; v < m.values.size(); ++v) {
    check_dims(m.values[v].dims);
    if (!m.values[v].known) continue;
    defined[v] = true;
    expect(m.values[v].known->dims == m.values[v].dims && m.values[v].known->type == m.values[v].type);
    expect_sound(*m.values[v].known);
  }
  for (int const v : m.inputs) defined.at(static_cast<std::size_t>(v)) = true;
  for (operation const& op : m.operations) {
    for (int const v : op.inputs) expect(v == -1 || defined.at(static_cast<std::size_t>(v)));
    for (int const v : op.outputs) {
      if (v != -1) defined.at(static_cast<std::size_t>(v)) = true;
    }
  }
  for (int const v : m.outputs) expect(defined.at(static_cast<std::size_t>(v)));
}

/// What strings of a model are replaced by: names that the seeds use, operators, attributes.
std::vector<std::string> const& words() {
  static std::vector<std::string> const all = [] {
    std::vector<std::string> words{"x", "y", "a", "b", "c", "x0", "x1", "x2", "y0", "", "SAME_UPPER", "VALID", "N"};
    for (rule const& r : all_rules()) {
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

/// One time in four the bytes are changed, else the fields.
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

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  try {
    if (is_npy(std::string(bytes))) {
      expect_sound(decode_npy(std::string(bytes)));
    } else {
      expect_sound(load_bytes(bytes, "", {.batch = 2, .largest_constant = 1 << 14, .all_constants = 1 << 16}));
    }
  } catch (import_error const& e) {
    expect(e.what()[0] != '\0' && !e.findings().empty());
  } catch (fault const& f) {
    expect(!f.reason.empty());
  }
  return 0;
}
