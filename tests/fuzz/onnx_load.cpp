// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes give a valid model, or an error sentence. Built with libFuzzer and sanitizers.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "load.hpp"
#include "npy.hpp"
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

/// The guarantees of model.hpp: indices in range, operands defined before use, constants with the size of their shape.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  try {
    if (is_npy(std::string(bytes))) {
      expect_sound(decode_npy(std::string(bytes)));
    } else {
      expect_sound(load_bytes(bytes, "", {.batch = 2, .largest_constant = 1 << 14, .all_constants = 1 << 16}));
    }
  } catch (import_error const& e) { expect(e.what()[0] != '\0' && !e.findings().empty()); } catch (fault const& f) {
    expect(!f.reason.empty());
  }
  return 0;
}
