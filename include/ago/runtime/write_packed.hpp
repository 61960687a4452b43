// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program that ago_pack builds for the build machine and runs there. It packs weights for the machine that will
// run the model, and needs no kernels.
#pragma once

#include <ago/runtime/packed.hpp>
#include <ago/runtime/planned.hpp>
#include <ago/simd/map.hpp>

#include <cinttypes>
#include <concepts>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace ago::runtime {

/// The same options for another instruction set. The device that is usual here becomes the one that is usual there.
template <std::derived_from<options> Options>
constexpr Options for_target(Options o, isa target) {
  device here = usual_device(o.target), there = usual_device(target);
  here.threads = there.threads = o.device.threads;
  if (o.device == here) o.device = there;
  o.target = target;
  return with_storage(o, storage::own);
}

/// Closes a file that a pointer owns.
struct close_file {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

inline int pack_error(std::string const& file, std::string const& what) {
  std::fprintf(stderr, "ago_pack: %s: %s\n", file.c_str(), what.c_str());
  return 1;
}

/// Reads the floats of a file into `to`, at most `wanted` + 1. Returns an error, or null.
inline char const* read_floats(char const* path, std::size_t wanted, std::vector<float>& to) {
  file_handle const in(std::fopen(path, "rb"));
  if (!in) return "cannot be read";
  to.resize(wanted + 1);
  std::size_t const bytes = std::fread(to.data(), 1, to.size() * sizeof(float), in.get());
  if (std::ferror(in.get())) return "cannot be read";
  to.resize(bytes / sizeof(float));
  return bytes % sizeof(float) == 0 ? nullptr : "its length is not a multiple of 4 bytes";
}

inline bool write_file(char const* path, void const* header, std::size_t header_bytes, void const* data,
                       std::size_t bytes) {
  file_handle out(std::fopen(path, "wb"));
  return out && std::fwrite(header, 1, header_bytes, out.get()) == header_bytes &&
         std::fwrite(data, 1, bytes, out.get()) == bytes && std::fclose(out.release()) == 0;
}

/// The header that declares the weights `name`.
inline std::string declaration_of(std::string const& name, std::uint64_t signature, char const* network, isa target) {
  char number[32];
  std::snprintf(number, sizeof number, "0x%016" PRIx64, signature);
  return std::string("// Made by ago_pack: do not edit. Packed weights of ") + network + " for " + name_of(target) +
         ".\n#pragma once\n\n#include <ago/runtime/packed.hpp>\n\nextern \"C\" unsigned char const " + name +
         "_file[];\ninline constexpr ago::packed_weights<" + number + "> " + name + "{" + name + "_file};\n";
}

/// main() of that program: <weights> <packed weights> <header> <name of the weights>
template <auto const& Net, auto const& Schedules, options_for Options>
int write_packed(int count, char** words, char const* network) {
  using plan = planned<Net, Schedules, Options>;
  if (count != 5) return pack_error(words[0], "expects weights, packed weights, a header and a name");
  std::vector<float> weights, packed(plan::packed_floats);
  if (char const* why = read_floats(words[1], plan::parameter_count, weights)) return pack_error(words[1], why);
  if (weights.size() != plan::parameter_count) {
    bool const is_longer = weights.size() > plan::parameter_count;
    std::string const takes = std::to_string(plan::parameter_count);
    std::string const has = is_longer ? "more than " + takes : std::to_string(weights.size());
    return pack_error(words[1], "has " + has + " float32 values, the network " + network + " takes " + takes);
  }
  plan::pack(std::span(weights).template first<plan::parameter_count>(),
             std::span(packed).template first<plan::packed_floats>());
  packed_header header;
  header.signature = plan::signature();
  header.floats = plan::packed_floats;
  if (!write_file(words[2], &header, sizeof header, packed.data(), packed.size() * sizeof(float)))
    return pack_error(words[2], "cannot be written");
  std::string const text = declaration_of(words[4], header.signature, network, Options.target);
  if (!write_file(words[3], text.data(), text.size(), nullptr, 0)) return pack_error(words[3], "cannot be written");
  return 0;
}

}  // namespace ago::runtime

namespace ago {
using runtime::write_packed;
}  // namespace ago
