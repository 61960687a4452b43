// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "read_tensor.hpp"

#include <onnx/onnx_pb.h>

#include <fstream>
#include <iterator>
#include <string>

#include "npy.hpp"
#include "sizes.hpp"
#include "tensor_proto.hpp"

namespace ago::onnx {

constant read_tensor(std::filesystem::path const& file) {
  std::string const quoted = "\"" + printable(file.string()) + "\"";
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw import_error(quoted + (error ? ": " + error.message() : " is not a regular file"));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw import_error(quoted + " cannot be read");
  try {
    if (is_npy(bytes)) return decode_npy(bytes);
    ::onnx::TensorProto proto;
    if (!proto.ParseFromString(bytes)) throw fault{"", "it is neither a TensorProto nor a NumPy array"};
    return decode_tensor(proto, file.parent_path().empty() ? "." : file.parent_path());
  } catch (fault const& f) { throw import_error(quoted + ": " + f.reason); }
}

}  // namespace ago::onnx
