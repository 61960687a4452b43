// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in files: every encoding, in the model, in external data, in tensor files and NumPy arrays.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "files.hpp"
#include "network.hpp"
#include "read_tensor.hpp"

using namespace ago_test;
using ::onnx::TensorProto;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The bytes of the numbers, least significant first.
template <class T>
std::string little(std::vector<T> const& numbers) {
  std::string bytes;
  for (T const x : numbers) {
    char raw[sizeof(T)];
    std::memcpy(raw, &x, sizeof(T));
    if (std::endian::native == std::endian::big) std::reverse(raw, raw + sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  return bytes;
}

TensorProto tensor(int type, ints const& dims) {
  TensorProto t;
  t.set_name("w");
  t.set_data_type(type);
  for (std::int64_t const d : dims) t.add_dims(d);
  return t;
}

TensorProto raw(int type, ints const& dims, std::string const& bytes) {
  TensorProto t = tensor(type, dims);
  t.set_raw_data(bytes);
  return t;
}

/// A network that consists of this tensor.
network holding(TensorProto const& t) {
  network net;
  *net.graph().add_initializer() = t;
  net.output("w");
  return net;
}

ago::onnx::constant decoded(TensorProto const& t) {
  auto const m = holding(t).load();
  REQUIRE(output(m).known.has_value());
  return *output(m).known;
}

std::string refused(TensorProto const& t) { return holding(t).complaint(); }

template <class T>
ints raw_integers(int type, std::vector<T> const& numbers) {
  return decoded(raw(type, {static_cast<std::int64_t>(numbers.size())}, little(numbers))).integers;
}

template <class T>
floats raw_reals(int type, std::vector<T> const& numbers) {
  return decoded(raw(type, {static_cast<std::int64_t>(numbers.size())}, little(numbers))).reals;
}

TensorProto external(ints const& dims, names const& entries) {
  TensorProto t = tensor(TensorProto::FLOAT, dims);
  t.set_data_location(TensorProto::EXTERNAL);
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    auto& entry = *t.add_external_data();
    entry.set_key(entries[i]);
    entry.set_value(entries[i + 1]);
  }
  return t;
}

std::string refused_in(std::filesystem::path const& folder, TensorProto const& t) {
  try {
    ago::onnx::load_bytes(holding(t).bytes(), folder);
  } catch (ago::onnx::import_error const& e) { return e.what(); }
  FAIL("no error");
  return "";
}

std::string npy(std::string const& header, std::string const& data, char version = 1) {
  auto const size = static_cast<std::uint32_t>(header.size());
  std::string const length =
      version == 1 ? little<std::uint16_t>({static_cast<std::uint16_t>(size)}) : little<std::uint32_t>({size});
  return std::string("\x93NUMPY") + version + '\0' + length + header + data;
}

ago::onnx::constant read(std::string const& bytes) {
  temporary_folder const folder;
  return ago::onnx::read_tensor(folder.write("x.npy", bytes));
}

std::string unreadable(std::string const& bytes) {
  try {
    read(bytes);
  } catch (ago::onnx::import_error const& e) { return e.what(); }
  FAIL("no error");
  return "";
}

}  // namespace

TEST_CASE("raw data of every type") {
  CHECK(raw_reals<float>(TensorProto::FLOAT, {1.5f, -0.0f, infinity}) == floats{1.5f, -0.0f, infinity});
  CHECK(raw_reals<double>(TensorProto::DOUBLE, {0.1, 1e300, -1e300}) == floats{0.1f, infinity, -infinity});
  CHECK(raw_integers<std::int8_t>(TensorProto::INT8, {-128, 127}) == ints{-128, 127});
  CHECK(raw_integers<std::uint8_t>(TensorProto::UINT8, {0, 255}) == ints{0, 255});
  CHECK(raw_integers<std::int16_t>(TensorProto::INT16, {-32768}) == ints{-32768});
  CHECK(raw_integers<std::uint16_t>(TensorProto::UINT16, {65535}) == ints{65535});
  CHECK(raw_integers<std::int32_t>(TensorProto::INT32, {-5}) == ints{-5});
  CHECK(raw_integers<std::uint32_t>(TensorProto::UINT32, {4294967295u}) == ints{4294967295});
  CHECK(raw_integers<std::int64_t>(TensorProto::INT64, {INT64_MIN}) == ints{INT64_MIN});
  CHECK(raw_integers<std::uint64_t>(TensorProto::UINT64, {7}) == ints{7});
  CHECK(raw_integers<std::uint8_t>(TensorProto::BOOL, {0, 1, 2}) == ints{0, 1, 1});
  CHECK(decoded(raw(TensorProto::FLOAT, {1}, {"\0\0\x80\x3f", 4})).reals ==
        floats{1});  // whatever this machine's byte order
}

TEST_CASE("small floats are widened exactly") {
  // one, a third, largest, smallest normal, smallest subnormal, negative zero, infinities
  CHECK(raw_reals<std::uint16_t>(TensorProto::FLOAT16,
                                 {0x3c00, 0x3555, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00, 0xfc00}) ==
        floats{1, 0.333251953125f, 65504, 6.103515625e-05f, 5.9604644775390625e-08f, -0.0f, infinity, -infinity});
  CHECK(std::isnan(raw_reals<std::uint16_t>(TensorProto::FLOAT16, {0x7e00})[0]));
  CHECK(raw_reals<std::uint16_t>(TensorProto::BFLOAT16, {0x3f80, 0xc049, 0x7f80, 0x0001}) ==
        floats{1, -3.140625f, infinity, std::ldexp(1.0f, -133)});
  CHECK(raw_reals<std::uint8_t>(17, {0x38, 0x7e, 0x01, 0xc0}) == floats{1, 448, 0.001953125f, -2});  // E4M3FN
  CHECK(std::isnan(raw_reals<std::uint8_t>(17, {0x7f})[0]));
  CHECK(raw_reals<std::uint8_t>(18, {0x40, 0x7f}) == floats{1, 240});  // E4M3FNUZ
  CHECK(std::isnan(raw_reals<std::uint8_t>(18, {0x80})[0]));
  CHECK(raw_reals<std::uint8_t>(19, {0x3c, 0x7b, 0x7c}) == floats{1, 57344, infinity});  // E5M2
  CHECK(raw_reals<std::uint8_t>(20, {0x40, 0x7f}) == floats{1, 57344});                  // E5M2FNUZ
}

TEST_CASE("typed data of every type") {
  auto const with = [](int type, auto add) {
    TensorProto t = tensor(type, {2});
    add(t);
    return decoded(t);
  };
  auto const narrow = [](TensorProto& t) { t.add_int32_data(1), t.add_int32_data(-2); };
  CHECK(with(TensorProto::FLOAT, [](auto& t) { t.add_float_data(1), t.add_float_data(2); }).reals == floats{1, 2});
  CHECK(with(TensorProto::DOUBLE, [](auto& t) { t.add_double_data(1), t.add_double_data(0.1); }).reals ==
        floats{1, 0.1f});
  CHECK(with(TensorProto::INT64, [](auto& t) { t.add_int64_data(1), t.add_int64_data(-2); }).integers == ints{1, -2});
  CHECK(with(TensorProto::UINT64, [](auto& t) { t.add_uint64_data(1), t.add_uint64_data(2); }).integers == ints{1, 2});
  for (int const type : {TensorProto::INT32, TensorProto::INT16, TensorProto::INT8}) {
    CHECK(with(type, narrow).integers == ints{1, -2});
  }
  CHECK(with(TensorProto::BOOL, narrow).integers == ints{1, 1});
  CHECK(with(TensorProto::FLOAT16, [](auto& t) { t.add_int32_data(0x3c00), t.add_int32_data(0xc000); }).reals ==
        floats{1, -2});
}

TEST_CASE("numbers that do not fit their shape are refused") {
  contains(refused(raw(TensorProto::FLOAT, {2}, "1234567")), "initializer \"w\": 7 bytes of data, expected 8");
  contains(refused(raw(TensorProto::FLOAT, {2}, "123456789")), "9 bytes of data, expected 8");
  contains(refused(raw(TensorProto::FLOAT, {2, 3}, "")), "0 bytes of data, expected 24");
  contains(refused(tensor(TensorProto::FLOAT, {2})), "0 numbers, expected 2");
  contains(refused(raw(TensorProto::FLOAT, {-1}, "")), "a size of -1");
  contains(refused(raw(TensorProto::FLOAT, {INT64_MAX, 4}, "")), "more than 2147483647 elements");
  contains(refused(raw(TensorProto::FLOAT, {1 << 16, 1 << 16, 0}, "")), "more than 2147483647 elements");
  contains(refused(raw(TensorProto::FLOAT, ints(17, 1), "1234")), "17 axes, more than 16");
  contains(refused(raw(TensorProto::UINT64, {1}, std::string(8, '\xff'))),
           "the integer 18446744073709551615 is too large");
  contains(refused(raw(TensorProto::STRING, {1}, "a")), "data type STRING is not supported");
  contains(refused(raw(TensorProto::COMPLEX64, {1}, "12345678")), "data type COMPLEX64 is not supported");
  contains(refused(raw(99, {1}, "a")), "data type number 99 is not supported");
  contains(refused(raw(-1, {1}, "a")), "data type number -1 is not supported");
  CHECK(decoded(raw(TensorProto::FLOAT, {0, 5}, "")).reals.empty());
}

TEST_CASE("external data is read from the model's folder") {
  temporary_folder const folder;
  std::filesystem::create_directory(folder.path() / "weights");
  folder.write("weights/w.bin", "skip" + little<float>({1, 2, 3}));
  auto const file = folder.write(
      "m.onnx", holding(external({2}, {"location", "weights/w.bin", "offset", "8", "length", "8"})).bytes());
  CHECK(output(ago::onnx::load(file)).known->reals == floats{2, 3});
}

TEST_CASE("external data outside its file, or its folder, is refused") {
  temporary_folder const outer;
  auto const folder = outer.path() / "model";
  std::filesystem::create_directory(folder);
  outer.write("secret.bin", std::string(64, 'x'));
  outer.write("model/w.bin", std::string(8, 'x'));
  std::filesystem::create_symlink("../secret.bin", folder / "link.bin");
  std::filesystem::create_directory_symlink("..", folder / "up");
  auto const at = [&](std::string const& location) {
    return refused_in(folder, external({2}, {"location", location}));
  };
  contains(at("../secret.bin"), "\"../secret.bin\" leads out of the model's folder");
  contains(at("a/../../secret.bin"), "leads out of the model's folder");
  contains(at((outer.path() / "secret.bin").string()), "is not a path relative to the model's folder");
  contains(at("link.bin"), "leads out of the model's folder");
  contains(at("up/secret.bin"), "leads out of the model's folder");
  contains(at(std::string("w.bin\0.txt", 10)), "is not a path relative");
  contains(at("."), "is not a regular file");
  contains(at("nothing.bin"), "No such file");
  contains(at(""), "external data without a location");
  contains(at(std::string(5000, 'a')), "the external file");
  auto const with = [&](std::string const& key, std::string const& text) {
    return refused_in(folder, external({2}, {"location", "w.bin", key, text}));
  };
  contains(with("offset", "1"), "has 8 bytes; 8 at 1 are outside");
  contains(with("offset", "9223372036854775807"), "are outside");
  contains(with("offset", "-1"), "external data with the invalid offset \"-1\"");
  contains(with("offset", "99999999999999999999"), "external data with the invalid offset");
  contains(with("offset", "1x"), "external data with the invalid offset");
  contains(with("length", "4"), "4 bytes of external data, expected 8");
  contains(refused_in(folder, external({1 << 20, 1 << 10}, {"location", "w.bin"})), "has 8 bytes; 4294967296 at 0");
  contains(refused_in("", external({2}, {"location", "w.bin"})), "the model has no folder");
}

TEST_CASE("NumPy arrays, row-major and column-major, of all versions") {
  std::string const numbers = little<float>({1, 2, 3, 4, 5, 6});
  std::string const rows = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
  std::string const columns = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
  for (char const version : {1, 2, 3}) {
    CHECK(read(npy(rows, numbers, version)).reals == floats{1, 2, 3, 4, 5, 6});
    CHECK(read(npy(columns, numbers, version)).reals == floats{1, 3, 5, 2, 4, 6});
    CHECK(read(npy(columns, numbers, version)).dims == ints{2, 3});
  }
  auto const list = [](std::string const& type, std::string const& data) {
    return read(npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,)}", data));
  };
  CHECK(list("<f8", little<double>({0.5, 1e300})).reals == floats{0.5f, infinity});
  CHECK(list("<f2", little<std::uint16_t>({0x3c00, 0xc000})).reals == floats{1, -2});
  CHECK(list(">f4", {"\x3f\x80\0\0\x40\0\0\0", 8}).reals == floats{1, 2});
  CHECK(list("<i8", little<std::int64_t>({-1, 2})).integers == ints{-1, 2});
  CHECK(list("<i4", little<std::int32_t>({-1, 2})).integers == ints{-1, 2});
  CHECK(list("|u1", "\xff\x01").integers == ints{255, 1});
  CHECK(list("|b1", {"\0\x01", 2}).integers == ints{0, 1});
  CHECK(read(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", little<float>({7}))).dims.empty());
}

TEST_CASE("damaged NumPy arrays") {
  std::string const good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", little<float>({1, 2}));
  CHECK(read(good).reals == floats{1, 2});
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(!unreadable(good.substr(0, size)).empty());
  }
  auto const header = [](std::string const& text) { return unreadable(npy(text, std::string(8, 'x'))); };
  contains(header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
           "not a tuple of integers");
  contains(header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}"), "a size of -2");
  contains(header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"), "8 bytes of data, expected 12");
  contains(header("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}"), "data type c8 is not supported");
  contains(header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"),
           "data type that is not supported");
  contains(header("{'descr': '<f4', 'shape': (2,)}"), "no fortran_order");
}

TEST_CASE("tensor files") {
  temporary_folder const folder;
  auto const file = folder.write("t.pb", raw(TensorProto::FLOAT, {2}, little<float>({1, 2})).SerializeAsString());
  CHECK(ago::onnx::read_tensor(file).reals == floats{1, 2});
  CHECK_THROWS_AS(ago::onnx::read_tensor(folder.path() / "nothing.pb"), ago::onnx::import_error);
  CHECK_THROWS_AS(ago::onnx::read_tensor(folder.path()), ago::onnx::import_error);
}
