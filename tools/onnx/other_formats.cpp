// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "other_formats.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace ago::onnx {
namespace {

using namespace std::string_view_literals;
namespace fs = std::filesystem;

constexpr char const* of_pytorch =
    "; load it in Python and export the model with torch.onnx.export(model, example_inputs, \"model.onnx\")";
constexpr char const* of_keras =
    "; load it in Python and export the model with tf2onnx.convert.from_keras(model, output_path=\"model.onnx\")";
constexpr char const* of_weights =
    ", without the network; load them into their model in Python, and export that to ONNX";

struct magic {
  std::size_t at;
  std::string_view bytes;
  std::string_view what;
};

/// The first match counts.
constexpr magic magics[] = {
    {4, "TFL3"sv,
     "a TensorFlow Lite model; convert it with: python -m tf2onnx.convert --tflite FILE --output model.onnx"},
    {4, "ORTM"sv, "a model in ONNX Runtime's own format; import the .onnx file that it was made from"},
    {0, "GGUF"sv, "a GGUF file of weights, without the network; export that to ONNX with the program that made it"},
    {0, "\x1f\x8b"sv, "compressed with gzip; unpack it"},
    {0, "BZh"sv, "compressed with bzip2; unpack it"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "compressed with xz; unpack it"},
    {0, "version https://git-lfs"sv,
     "the pointer that Git LFS leaves in place of a file; fetch the file with: git lfs pull"},
    {0, "\x93NUMPY"sv, "a NumPy array, not a model"},
};

/// Up to `count` bytes from either end.
std::string part_of(fs::path const& file, std::size_t count, bool from_end = false) {
  std::ifstream in(file, std::ios::binary);
  if (from_end) {
    in.seekg(0, std::ios::end);
    auto const size = static_cast<std::int64_t>(in.tellg());
    in.seekg(std::max<std::int64_t>(size - static_cast<std::int64_t>(count), 0));
  }
  std::string bytes(count, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The names of its members are at the end.
std::string zip_archive(fs::path const& file) {
  std::string const names = part_of(file, 1 << 16, true);
  if (has(names, "/constants.pkl") || has(names, "/code/")) return std::string("a TorchScript model") + of_pytorch;
  if (has(names, "/data.pkl")) return std::string("a PyTorch file") + of_pytorch;
  if (has(names, "model.weights.h5")) return std::string("a Keras model") + of_keras;
  if (has(names, ".npy")) return "an archive of NumPy arrays, not a model";
  return "a zip archive; if there is an .onnx file in it, unpack that";
}

/// The first eight bytes are the length of the JSON that follows.
bool is_safetensors(std::string_view bytes, std::uintmax_t size) {
  if (bytes.size() < 10) return false;
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return bytes[8] == '{' && length >= 2 && length <= size - 8;
}

bool is_text(std::string_view bytes) {
  return !bytes.empty() && std::none_of(bytes.begin(), bytes.end(), [](char c) {
    auto const code = static_cast<unsigned char>(c);
    return (code < ' ' && !has("\t\n\r\f"sv, std::string_view(&c, 1))) || code == 0x7f;
  });
}

std::string text_file(std::string_view bytes) {
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  std::string start(bytes.substr(0, 64));
  for (char& c : start)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (start.starts_with("<!doctype html") || start.starts_with("<html"))
    return "a web page, not the file that you meant to download";
  return "a text file";
}

}  // namespace

std::string other_format(fs::path const& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    if (!fs::exists(file / "saved_model.pb", error)) return "";
    return "a TensorFlow SavedModel; convert it with: "
           "python -m tf2onnx.convert --saved-model FOLDER --output model.onnx";
  }
  std::string const bytes = part_of(file, 512);
  for (magic const& m : magics)
    if (bytes.size() > m.at && std::string_view(bytes).substr(m.at).starts_with(m.bytes)) return std::string(m.what);
  if (bytes.starts_with("PK\x03\x04")) return zip_archive(file);
  if (bytes.starts_with("\x89HDF\r\n\x1a\n"sv)) return std::string("an HDF5 file, such as Keras writes") + of_keras;
  if (bytes.starts_with("\x80\x02"sv) || bytes.starts_with("\x80\x03"sv) || bytes.starts_with("\x80\x04"sv))
    return std::string("a Python pickle, such as PyTorch writes") + of_pytorch;
  if (is_safetensors(bytes, fs::file_size(file, error)))
    return std::string("a safetensors file of weights") + of_weights;
  return is_text(bytes) ? text_file(bytes) : "";
}

}  // namespace ago::onnx
