// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives scripts access to the networks: their names, parameters and outputs.
//
//   answer                                          prints the names and sizes of all networks
//   answer NAME SIZE                                prints the table of parameters
//   answer NAME SIZE WEIGHTS INPUT OUTPUT           runs it; raw float32, images NHWC
#include <ago/ago.hpp>
#include <ago/network/write_parameters.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <cstddef>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// All floats in a file; none if it cannot be read.
std::vector<float> read(char const* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> data(file ? std::size_t(file.tellg()) / sizeof(float) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(data.data()), std::streamsize(data.size() * sizeof(float)));
  return file ? data : std::vector<float>{};
}

template <auto const& Net>
void print_table(char const* name) {
  ago::write_parameters<Net>(std::cout, name);
}

/// Exit code.
template <auto const& Net>
int run(char const* weights, char const* input, char const* output) {
  using net = ago::model<Net>;
  ago::status s{};
  auto const model = std::make_unique<net>(read(weights), s);
  std::vector<float> out(net::output_size());
  if (s == ago::status::ok) s = model->try_run(read(input), out);
  if (s != ago::status::ok) {
    std::cerr << name_of(s) << '\n';
    return 1;
  }
  std::ofstream file(output, std::ios::binary);
  file.write(reinterpret_cast<char const*>(out.data()), std::streamsize(out.size() * sizeof(float)));
  return file.flush() ? 0 : 1;
}

struct network {
  char const* name;
  int size;
  void (*print_table)(char const* name);
  int (*run)(char const* weights, char const* input, char const* output);
};

template <auto const& Net>
constexpr network made(char const* name, int size) {
  return {name, size, print_table<Net>, run<Net>};
}

constexpr network all[] = {
    made<networks::mobilenet_v2<56>>("mobilenet_v2", 56),
    made<networks::mobilenet_v2<224>>("mobilenet_v2", 224),
    made<networks::mnasnet<56>>("mnasnet1_0", 56),
    made<networks::mnasnet<224>>("mnasnet1_0", 224),
    made<networks::squeezenet<56>>("squeezenet1_1", 56),
    made<networks::squeezenet<224>>("squeezenet1_1", 224),
    made<networks::shufflenet_v2<56>>("shufflenet_v2_x1_0", 56),
    made<networks::shufflenet_v2<224>>("shufflenet_v2_x1_0", 224),
    made<networks::mobilevit_s<224>>("mobilevit_s", 224),
    made<networks::bert_tiny<128>>("bert_tiny", 128),
    made<networks::bert_tiny_ids<128>>("bert_tiny_ids", 128),
};

}  // namespace

int main(int count, char** arguments) {
  for (network const& n : all) {
    if (count == 1) std::cout << n.name << ' ' << n.size << '\n';
    if (count < 3 || arguments[1] != std::string_view(n.name) || arguments[2] != std::to_string(n.size)) continue;
    if (count == 6) return n.run(arguments[3], arguments[4], arguments[5]);
    n.print_table(n.name);
    return 0;
  }
  return count == 1 ? 0 : 1;
}
