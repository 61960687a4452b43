// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a network of ncnn's own benchmark, whose times on many boards it publishes, with all weights zero as there.
//
// usage: PROGRAM RESULTS MODEL.param SIZE fp32|fp16 big|little    RESULTS stays empty
#include "mark.hpp"

#include <datareader.h>
#include <net.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

class zeros : public ncnn::DataReader {
 public:
  std::size_t read(void* to, std::size_t bytes) const override { return std::memset(to, 0, bytes), bytes; }
};

}  // namespace

int main(int count, char** words) {
  if (count != 6) return 2;
  bool const halves = std::string(words[4]) == "fp16", little = std::string(words[5]) == "little";
  ncnn::UnlockedPoolAllocator values;
  ncnn::PoolAllocator scratch;
  ncnn::Net net;
  ncnn::Option& o = net.opt;
  o.num_threads = 1;
  o.use_vulkan_compute = false;
  o.use_fp16_packed = o.use_fp16_storage = o.use_fp16_arithmetic = halves;
  o.use_bf16_storage = false;
  o.use_a53_a55_optimized_kernel = little;
  o.blob_allocator = &values;
  o.workspace_allocator = &scratch;
  if (net.load_param(words[2]) != 0 || net.load_model(zeros()) != 0) {
    std::fprintf(stderr, "ncnn cannot load %s\n", words[2]);
    return EXIT_FAILURE;
  }
  int const size = std::atoi(words[3]);
  ncnn::Mat image(size, size, 3), result;
  image.fill(.01f);
  auto const run = [&] {
    ncnn::Extractor extractor = net.create_extractor();
    extractor.input(net.input_names()[0], image);
    result.release();
    extractor.extract(net.output_names()[0], result);
  };
  ruler::warm_up();
  for (int k = 0; k < 2; ++k) run();
  ruler::begin_step(0);
  run();
  ruler::end_of_steps();
  if (std::FILE* const f = std::fopen(words[1], "wb")) std::fclose(f);
}
