// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "external_data.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

#include "error.hpp"
#include "sizes.hpp"

namespace ago::onnx {
namespace {

namespace fs = std::filesystem;

struct location {
  std::string file;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
};

std::int64_t number(std::string const& key, std::string const& text) {
  std::int64_t parsed = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size() || parsed < 0) {
    throw fault{"", "external data with the invalid " + key + " \"" + printable(text) + "\""};
  }
  return parsed;
}

location location_of(::onnx::TensorProto const& tensor) {
  location found;
  for (auto const& entry : tensor.external_data()) {
    if (entry.key() == "location") found.file = entry.value();
    if (entry.key() == "offset") found.offset = number("offset", entry.value());
    if (entry.key() == "length") found.length = number("length", entry.value());
  }
  return found;
}

/// The file that `name` refers to. Nothing outside the folder is opened, whatever the model says.
fs::path inside(fs::path const& folder, std::string const& name) {
  std::string const quoted = "the external file \"" + printable(name) + "\"";
  fs::path const relative(name);
  if (name.empty()) throw fault{"", "external data without a location"};
  if (name.find('\0') != std::string::npos || relative.is_absolute() || relative.has_root_path()) {
    throw fault{"", quoted + " is not a path relative to the model's folder"};
  }
  if (std::find(relative.begin(), relative.end(), fs::path("..")) != relative.end()) {
    throw fault{"", quoted + " leads out of the model's folder"};
  }
  std::error_code error;
  fs::path const root = fs::canonical(folder, error);
  if (error) throw fault{"", "the model's folder cannot be read: " + error.message()};
  fs::path const file = fs::canonical(root / relative, error);
  if (error) throw fault{"", quoted + ": " + error.message()};
  if (std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first != root.end()) {
    throw fault{"", quoted + " leads out of the model's folder"};
  }
  if (!fs::is_regular_file(file, error)) throw fault{"", quoted + " is not a regular file"};
  return file;
}

}  // namespace

std::string read_external(::onnx::TensorProto const& tensor, fs::path const& folder, std::int64_t bytes) {
  if (folder.empty()) throw fault{"", "external data, but the model has no folder"};
  location const where = location_of(tensor);
  fs::path const path = inside(folder, where.file);
  std::string const quoted = "the external file \"" + printable(where.file) + "\"";
  if (where.length.value_or(bytes) != bytes) {
    throw fault{"", std::to_string(*where.length) + " bytes of external data, expected " + std::to_string(bytes)};
  }
  std::error_code error;
  auto const size = fs::file_size(path, error);
  if (error) throw fault{"", quoted + ": " + error.message()};
  auto const offset = static_cast<std::uintmax_t>(where.offset);
  if (offset > size || static_cast<std::uintmax_t>(bytes) > size - offset) {
    throw fault{"", quoted + " has " + std::to_string(size) + " bytes; " + std::to_string(bytes) + " at " +
                        std::to_string(offset) + " are outside"};
  }
  std::string data(static_cast<std::size_t>(bytes), '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  if (!stream.read(data.data(), static_cast<std::streamsize>(data.size()))) throw fault{"", quoted + " cannot be read"};
  return data;
}

}  // namespace ago::onnx
