// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kind of step, divided along every axis that it can be divided along.
#include "threads.hpp"

using namespace model_test;

namespace {

inline constexpr auto products = input{.h = 11, .w = 9, .c = 23} | pointwise{83} | bias{} | relu6{} | pointwise{40} |
                                 residual{pointwise{40} | silu{}} | layer_norm{} | softmax{};
inline constexpr auto product_batch =
    input{.n = 3, .h = 9, .w = 10, .c = 23} | pointwise{83} | bias{} | relu6{} | pointwise{40};
inline constexpr auto windows =
    input{.h = 17, .w = 14, .c = 20} | conv2d{.out = 50, .kernel = {5, 3}, .stride = 2, .pad = 2} | batch_norm{} |
    relu{} | depthwise{.kernel = 3, .stride = 1, .pad = 1} | bias{} | max_pool{.kernel = 3, .stride = 2, .pad = 1} |
    avg_pool{.kernel = 2, .stride = 1, .pad = 1};
inline constexpr auto groups =
    input{.n = 3, .h = 9, .w = 8, .c = 24} | conv2d{.out = 72, .kernel = 3, .pad = 1, .groups = 2} | relu{} |
    depthwise{.kernel = 5, .stride = 2, .pad = 2} | silu{} | pointwise{19} | max_pool{.kernel = 2};
inline constexpr auto squares = input{.h = 26, .w = 22, .c = 24} | conv2d{.out = 40, .kernel = 3, .pad = 1} |
                                batch_norm{} | relu{} | conv2d{.out = 24, .kernel = 3, .pad = 1} | silu{};
inline constexpr auto wide_squares =
    input{.h = 13, .w = 9, .c = 24} | conv2d{.out = 325, .kernel = 3, .pad = 1} | bias{} | relu{};
inline constexpr auto many_squares =
    input{.n = 3, .h = 11, .w = 9, .c = 32} | conv2d{.out = 48, .kernel = 3, .pad = 1} | bias{} | relu{};
inline constexpr auto heads = input{.h = 8, .w = 6, .c = 36} |
                              residual{linear{108} | attention{.heads = 3, .patch = 2} | linear{36}} | layer_norm{};
inline constexpr auto scattered = input{.h = 13, .w = 7, .c = 32} | [](tensor x) {
  auto const [a, b] = chunk<2>(x | pointwise{64} | channel_shuffle{2});
  return (concat(a, b | pointwise{32} | relu{}) | channel_shuffle{2}) | pointwise{200} | relu{};
};
inline constexpr auto ends_depthwise = input{.h = 15, .w = 12, .c = 24} | pointwise{150} | batch_norm{} | relu6{} |
                                       depthwise{.kernel = 3, .stride = 2, .pad = 1} | bias{} | silu{};
inline constexpr auto ends_pointwise = input{.h = 23, .w = 14, .c = 70} |
                                       depthwise{.kernel = 5, .stride = 2, .pad = 2} | batch_norm{} | relu6{} |
                                       pointwise{30} | bias{} | max_pool{.kernel = 2};
inline constexpr auto begins_elementwise = input{.h = 23, .w = 14, .c = 40} | batch_norm{} | silu{} |
                                           depthwise{.kernel = 5, .stride = 2, .pad = 2} | bias{} | relu6{};
inline constexpr auto residual_block = input{.h = 15, .w = 12, .c = 24} | inverted_residual(100);
inline constexpr auto strided_block = input{.h = 21, .w = 16, .c = 24} | pointwise{100} | bias{} | relu6{} |
                                      depthwise{.kernel = 5, .stride = 2, .pad = 2} | bias{} | relu6{} | pointwise{40};
inline constexpr auto residual_blocks = input{.n = 2, .h = 15, .w = 12, .c = 24} | inverted_residual(100);

/// Has what plans for several threads compute in other chunks, other passes or by other algorithms than those for one.
inline constexpr auto mixed =
    input{.h = 28, .w = 28, .c = 24} | inverted_residual(72) | pointwise{72} | relu{} |
    depthwise{.kernel = 5, .stride = 2, .pad = 2} | bias{} | pointwise{48} | relu{} |
    conv2d{.out = 192, .kernel = 3, .pad = 1} | bias{} | relu{} | max_pool{.kernel = 3} | pointwise{58} | relu{} |
    residual{pointwise{240} | depthwise{.kernel = 3, .pad = 1} | pointwise{58}} | global_avg_pool{} | linear{130};

struct counting_team {
  int runs = 0;
  void run(int pieces, auto const& piece) {
    ++runs;
    for (int i = 0; i < pieces; ++i) piece(i);
  }
};

}  // namespace

TEST_CASE("steps divided along channels give bit-identical results") {
  CHECK(compare_cut<products, cut<split::channels>, 3>() > 0);
  CHECK(compare_cut<windows, cut<split::channels>, 2>() > 0);
  CHECK(compare_cut<groups, cut<split::channels>, 4>() > 0);
  CHECK(compare_cut<heads, cut<split::channels>, 4>() > 0);
  CHECK(compare_cut<scattered, cut<split::channels>, 2>() > 0);
  CHECK(compare_cut<wide_squares, cut<split::channels>, 3>() == 3);
}

TEST_CASE("steps divided along pixels give bit-identical results") {
  CHECK(compare_cut<products, cut<split::pixels>, 4>() > 0);
  CHECK(compare_cut<groups, cut<split::pixels>, 3>() > 0);
  CHECK(compare_cut<heads, cut<split::pixels>, 3>() > 0);
  CHECK(compare_cut<scattered, cut<split::pixels>, 3>() > 0);
  CHECK(compare_cut<squares, cut<split::pixels>, 3>() == 6);  // the tiles of Winograd
  CHECK(compare_cut<many_squares, cut<split::pixels>, 4>() == 4);
}

TEST_CASE("steps divided along rows give bit-identical results") {
  CHECK(compare_cut<windows, cut<split::rows>, 3>() > 0);
  CHECK(compare_cut<windows, cut<split::rows>, 4>() > 0);
}

TEST_CASE("steps divided along images give bit-identical results") {
  CHECK(compare_cut<groups, cut<split::images>, 3>() > 0);
  CHECK(compare_cut<groups, cut<split::images, tiling::rows>, 3>() > 0);
}

TEST_CASE("pipelines by runs of pixels are divided along images that consist of whole runs") {
  CHECK(compare_cut<product_batch, cut<split::images, tiling::pixels, 15>, 3>() == 3);
  CHECK(compare_cut<product_batch, cut<split::images, tiling::pixels, 84>, 3>() == 3);
  using whole_runs = program<product_batch, cut<split::images, tiling::pixels, 15>, options{.threads = {3}}>;
  using others = program<product_batch, cut<split::images, tiling::pixels, 84>, options{.threads = {3}}>;
  CHECK(whole_runs::split_of(0).how == split::images);
  CHECK(others::split_of(0).how == split::pixels);
}

TEST_CASE("pipelines are divided along channels, images, pixels and rows, and give bit-identical results") {
  CHECK(compare_cut<ends_depthwise, cut<split::channels, tiling::channels, 48>, 2>() == 2);
  CHECK(compare_cut<ends_depthwise, cut<split::channels, tiling::channels, 32>, 4>() > 2);
  CHECK(compare_cut<ends_depthwise, cut<split::channels, tiling::channels_rows, 32>, 3>() == 3);
  CHECK(compare_cut<ends_pointwise, cut<split::rows, tiling::rows>, 3>() == 3);
  CHECK(compare_cut<residual_blocks, cut<split::images, tiling::rows>, 4>() == 2);
  CHECK(compare_cut<residual_blocks, cut<split::images, tiling::channels, 32>, 2>() == 2);
  CHECK(compare_cut<products, cut<split::pixels, tiling::pixels, 14>, 3>() >= 3);
}

TEST_CASE("pipelines with windows in the middle are divided along rows, those at the border being computed twice") {
  CHECK(compare_cut<residual_block, cut<split::rows, tiling::rows>, 4>() == 4);
  CHECK(compare_cut<residual_block, cut<split::rows, tiling::channels_rows, 32>, 3>() == 3);
  CHECK(compare_cut<windows, cut<split::rows, tiling::rows>, 3>() == 6);
  CHECK(compare_cut<ends_depthwise, cut<split::rows, tiling::rows>, 2>() == 2);
  CHECK(compare_cut<begins_elementwise, cut<split::rows, tiling::rows>, 3>() == 3);
  CHECK(compare_cut<strided_block, cut<split::rows, tiling::rows>, 2>() == 2);
  CHECK(compare_cut<strided_block, cut<split::rows, tiling::channels_rows, 32>, 3>() == 3);
}

TEST_CASE("pipelines by channels of whole images are not divided if chunks are added up") {
  CHECK(compare_cut<residual_block, cut<split::rows, tiling::channels, 32>, 2>() == 0);
  CHECK(compare_cut<residual_block, cut<split::channels, tiling::channels, 32>, 2>() == 0);
}

TEST_CASE("runs of pixels are not divided along rows") {
  using program = ago::program<products, cut<split::rows, tiling::pixels, 14>, options{.threads = {2}}>;
  CHECK(pipelines<program>(tiling::pixels) == 1);
  for (int k = 0; k < program::steps; ++k) CHECK(program::split_of(k).how != split::rows);
}

TEST_CASE("results have the same bits for any number of threads, for which the plans differ") {
  using one = program<mixed>;
  using two = program<mixed, untuned, options{.threads = {2}}>;
  using three = program<mixed, untuned, options{.threads = {3}}>;
  auto const expected = result_of<one, mixed>(differential::edge::end);
  CHECK(result_of<two, mixed>(differential::edge::end) == expected);
  CHECK(result_of<three, mixed>(differential::edge::end) == expected);
  CHECK((one::steps != two::steps || one::arena_bytes != two::arena_bytes));
}

TEST_CASE("nothing is divided for one thread") {
  using program = ago::program<residual_block, cut<split::channels>>;
  for (int k = 0; k < program::steps; ++k) CHECK(program::split_of(k) == ago::plan::step_split{});
}

TEST_CASE("a team also accepts spans of run-time size, if they fit") {
  using cut_model = model<products, cut<split::channels>, options{.threads = {2}}>;
  auto const weights = random_weights<products>(1);
  static cut_model net{std::span<float const, cut_model::parameter_count>(weights)};
  auto const image = random_floats(net.input_size(), 2);
  std::vector<float> alone(net.output_size()), together(alone.size()), own(alone.size());
  static cut_model::workspace space;
  counting_team workers;
  CHECK(net.try_run(std::span(image).first(5), together, workers) == status::wrong_input_size);
  CHECK(net.try_run_in(space, image, std::span(together).first(5), workers) == status::wrong_output_size);
  CHECK(workers.runs == 0);
  CHECK(net.try_run(image, alone) == status::ok);
  CHECK(net.try_run(image, together, workers) == status::ok);
  CHECK(workers.runs > 0);
  CHECK(net.try_run_in(space, image, own, workers) == status::ok);
  CHECK((together == alone && own == alone));
}
