// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_proto.hpp"

#include <array>

#include "encodings.hpp"
#include "external_data.hpp"
#include "sizes.hpp"

namespace ago::onnx {
namespace {

using ::onnx::TensorProto;

/// By the numbers of the specification: older definitions lack names for the newest types.
struct data_type {
  int number;
  char const* name;
  int bytes;  ///< of a value in raw data; 0: not supported
  element type;
};

constexpr std::array types{
    data_type{1, "FLOAT", 4, element::real},         data_type{2, "UINT8", 1, element::integer},
    data_type{3, "INT8", 1, element::integer},       data_type{4, "UINT16", 2, element::integer},
    data_type{5, "INT16", 2, element::integer},      data_type{6, "INT32", 4, element::integer},
    data_type{7, "INT64", 8, element::integer},      data_type{8, "STRING", 0, element::integer},
    data_type{9, "BOOL", 1, element::integer},       data_type{10, "FLOAT16", 2, element::real},
    data_type{11, "DOUBLE", 8, element::real},       data_type{12, "UINT32", 4, element::integer},
    data_type{13, "UINT64", 8, element::integer},    data_type{14, "COMPLEX64", 0, element::real},
    data_type{15, "COMPLEX128", 0, element::real},   data_type{16, "BFLOAT16", 2, element::real},
    data_type{17, "FLOAT8E4M3FN", 1, element::real}, data_type{18, "FLOAT8E4M3FNUZ", 1, element::real},
    data_type{19, "FLOAT8E5M2", 1, element::real},   data_type{20, "FLOAT8E5M2FNUZ", 1, element::real},
    data_type{21, "UINT4", 0, element::integer},     data_type{22, "INT4", 0, element::integer},
    data_type{23, "FLOAT4E2M1", 0, element::real}};

data_type const* find(int number) {
  for (data_type const& t : types) {
    if (t.number == number) return &t;
  }
  return nullptr;
}

data_type const& supported(int number) {
  data_type const* t = find(number);
  if (t == nullptr || t->bytes == 0) throw fault{"", "data type " + name_of_type(number) + " is not supported"};
  return *t;
}

std::int64_t signed_of(std::uint64_t x) {
  if (x > static_cast<std::uint64_t>(INT64_MAX)) throw fault{"", "the integer " + std::to_string(x) + " is too large"};
  return static_cast<std::int64_t>(x);
}

small_float layout(int number) {
  switch (number) {
    case 10: return half;
    case 16: return bfloat16;
    case 17: return float8_e4m3;
    case 18: return float8_e4m3_uz;
    case 19: return float8_e5m2;
    default: return float8_e5m2_uz;
  }
}

/// Calls `keep(value)` with every stored T in this machine's byte order.
template <class T, class Keep>
void each(std::string const& raw, Keep keep) {
  for (std::size_t i = 0; i + sizeof(T) <= raw.size(); i += sizeof(T)) keep(from_bytes<T>(raw.data() + i));
}

void from_raw(int type, std::string const& raw, constant& out) {
  auto const real = [&](auto x) { out.reals.push_back(x); };
  auto const integer = [&](auto x) { out.integers.push_back(static_cast<std::int64_t>(x)); };
  auto const small = [&](auto bits) { out.reals.push_back(widen(layout(type), bits)); };
  switch (type) {
    case TensorProto::FLOAT: return each<float>(raw, real);
    case TensorProto::DOUBLE: return each<double>(raw, [&](double x) { real(narrow(x)); });
    case TensorProto::UINT8: return each<std::uint8_t>(raw, integer);
    case TensorProto::INT8: return each<std::int8_t>(raw, integer);
    case TensorProto::UINT16: return each<std::uint16_t>(raw, integer);
    case TensorProto::INT16: return each<std::int16_t>(raw, integer);
    case TensorProto::INT32: return each<std::int32_t>(raw, integer);
    case TensorProto::INT64: return each<std::int64_t>(raw, integer);
    case TensorProto::UINT32: return each<std::uint32_t>(raw, integer);
    case TensorProto::UINT64: return each<std::uint64_t>(raw, [&](std::uint64_t x) { integer(signed_of(x)); });
    case TensorProto::BOOL: return each<std::uint8_t>(raw, [&](std::uint8_t x) { integer(x != 0); });
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16: return each<std::uint16_t>(raw, small);
    default: return each<std::uint8_t>(raw, small);
  }
}

/// The typed field that holds the numbers of a tensor without raw data.
void from_typed(TensorProto const& t, std::size_t count, constant& out) {
  auto const fill = [count](auto const& field, auto& to, auto convert) {
    if (static_cast<std::size_t>(field.size()) != count) {
      throw fault{"", std::to_string(field.size()) + " numbers, expected " + std::to_string(count)};
    }
    for (auto const x : field) to.push_back(convert(x));
  };
  auto const as_is = [](auto x) { return x; };
  switch (t.data_type()) {
    case TensorProto::FLOAT: return fill(t.float_data(), out.reals, as_is);
    case TensorProto::DOUBLE: return fill(t.double_data(), out.reals, narrow);
    case TensorProto::INT64: return fill(t.int64_data(), out.integers, as_is);
    case TensorProto::UINT32:
    case TensorProto::UINT64: return fill(t.uint64_data(), out.integers, signed_of);
    case TensorProto::BOOL: return fill(t.int32_data(), out.integers, [](std::int32_t x) { return x != 0; });
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::INT32: return fill(t.int32_data(), out.integers, as_is);
    default:
      return fill(t.int32_data(), out.reals,
                  [&](std::int32_t bits) { return widen(layout(t.data_type()), static_cast<std::uint32_t>(bits)); });
  }
}

}  // namespace

element element_of(int number) { return supported(number).type; }

std::string name_of_type(int number) {
  data_type const* t = find(number);
  return t ? t->name : "number " + std::to_string(number);
}

constant decode_tensor(TensorProto const& tensor, std::filesystem::path const& folder) {
  data_type const& type = supported(tensor.data_type());
  if (tensor.has_segment()) throw fault{"", "a tensor in segments is not supported"};
  constant out{.type = type.type, .dims = {tensor.dims().begin(), tensor.dims().end()}};
  check_dims(out.dims);
  auto const count = static_cast<std::size_t>(volume(out.dims));
  bool const external = tensor.data_location() == TensorProto::EXTERNAL;
  // Memory for the numbers is only allocated once they are known to be there.
  auto const reserve = [&] { type.type == element::real ? out.reals.reserve(count) : out.integers.reserve(count); };
  if (external) {
    std::string const raw = read_external(tensor, folder, static_cast<std::int64_t>(count) * type.bytes);
    reserve();
    from_raw(tensor.data_type(), raw, out);
  } else if (tensor.has_raw_data()) {
    std::size_t const bytes = count * static_cast<std::size_t>(type.bytes);
    if (tensor.raw_data().size() != bytes) {
      throw fault{"", std::to_string(tensor.raw_data().size()) + " bytes of data, expected " + std::to_string(bytes)};
    }
    reserve();
    from_raw(tensor.data_type(), tensor.raw_data(), out);
  } else {
    from_typed(tensor, count, out);
  }
  return out;
}

}  // namespace ago::onnx
