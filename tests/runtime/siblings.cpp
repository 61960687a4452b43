// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks with merged siblings compared with unmerged ones: bit-identical if sums are added in the same order.
#include "fusion.hpp"

#include <doctest/doctest.h>

using namespace model_test;

namespace {

constexpr options with(options const& o, horizontal_fusion h) {
  options r = o;
  r.horizontal_fusion = h;
  return r;
}
inline constexpr options always{.horizontal_fusion = horizontal_fusion::always},
    off{.horizontal_fusion = horizontal_fusion::off};

/// The operators with weights that others were merged into, plus these others.
template <class Program>
constexpr int families() {
  int n = 0;
  for (ago::ir::node const& v : Program::graph.nodes) n += has_weights(v.kind) && v.is_merged();
  return n;
}
template <class Program>
constexpr int merged_away() {
  int n = 0;
  for (ago::ir::node const& v : Program::graph.nodes)
    for (ago::ir::sibling const& s : v.siblings) n += has_weights(v.kind) && s.channels > 0;
  return n;
}
template <class Program>
constexpr int copies() {
  int n = 0;
  for (auto const& s : Program::plan.steps) n += s.key.what == ago::plan::structure::copy || s.nodes.gathers;
  return n;
}
/// Outputs that are slices of a merged operator's result, which are copied.
template <class Program>
constexpr int copied_outputs() {
  int n = 0;
  for (int const v : Program::graph.outputs) n += Program::graph.nodes[v].kind == op::slice;
  return n;
}
/// Whether registers hold two steps of K, which depends on the number of channels.
template <class Program>
constexpr int deepest_pairs() {
  int n = 0;
  for (auto const& s : Program::plan.steps)
    if (s.key.paired && s.data.in.c > n) n = s.data.in.c;
  return n;
}

/// `reordered`: K of the sum if merging changes its order; 0 if it does not.
template <auto const& Net, int Families, int Merged, options O = options{}, auto const& Schedules = untuned>
void check_merged(char const* name, int reordered = 0) {
  using merged = program<Net, Schedules, with(O, horizontal_fusion::always)>;
  using unmerged = program<Net, Schedules, with(O, horizontal_fusion::off)>;
  static_assert(families<merged>() == Families && merged_away<merged>() == Merged);
  static_assert(families<unmerged>() == 0);
  static_assert(merged::parameter_count == unmerged::parameter_count);
  CAPTURE(std::string(name));
  CAPTURE(std::string(name_of(O.target)));
  CHECK(merged::steps - copies<merged>() <= unmerged::steps - copies<unmerged>() - Merged);
  CHECK(copies<merged>() <= copies<unmerged>() + copied_outputs<merged>());
  reordered = std::max({reordered, deepest_pairs<merged>(), deepest_pairs<unmerged>()});
  auto const expected = result_of<unmerged, Net>(differential::edge::end);
  for (auto const edge : {differential::edge::begin, differential::edge::end})
    CHECK(agree(result_of<merged, Net>(edge), expected, reordered));
}

inline constexpr auto attending = input{.w = 19, .c = 32} | [](tensor x) {
  tensor const n = x | layer_norm{}, q = n | linear{32}, k = n | linear{32}, v = n | linear{32};
  return x + (attention{4}(q, k, v) | linear{32});
};

/// Members of A, B and C channels, read by a concatenation and by readers of all kinds.
template <int A, int B, int C>
inline constexpr auto joined_members = input{.h = 5, .w = 7, .c = 9} | relu{} | [](tensor x) {
  auto const member = [](int out) { return linear{out} | batch_norm{} | relu6{}; };
  return concat(x | member(A), x | member(B), x | member(C)) | conv2d{.out = 3, .kernel = 3, .stride = 2};
};
template <int A, int B, int C>
inline constexpr auto sliced_members = input{.h = 5, .w = 7, .c = 9} | relu{} | [](tensor x) {
  auto const member = [](int out) { return pointwise{out} | hard_swish{}; };
  tensor const a = x | member(A), b = x | member(B), c = x | member(C);
  return (a | global_max_pool{} | linear{4}) + (b | softmax{} | global_avg_pool{} | linear{4}) +
         (c | conv2d{.out = 6, .kernel = {2, 3}} | global_avg_pool{} | linear{4});
};

inline constexpr auto convolutions = input{.n = 2, .h = 9, .w = 8, .c = 5} | sigmoid{} | [](tensor x) {
  auto const member = [](int out) { return conv2d{.out = out, .kernel = 3, .pad = 1, .bias = true} | batch_norm{}; };
  return concat(x | member(7), x | member(18)) | batch_norm{} | silu{} | global_avg_pool{} | linear{4};
};
inline constexpr auto strided = input{.h = 9, .w = 8, .c = 5} | sigmoid{} | [](tensor x) {
  auto const member = [](int out) {
    return conv2d{.out = out, .kernel = {3, 2}, .stride = 2, .pad = pads{0, 1, 2, 0}};
  };
  tensor const a = x | member(17), b = x | member(3), c = x | member(16), d = x | member(1), e = x | member(2);
  return concat(concat(a, b, c, d) | bias{}, e) | softmax{};
};

/// With parameters in the epilogue.
template <int A, int B, int C>
inline constexpr auto sloped_members = input{.h = 5, .w = 7, .c = 9} | relu{} | [](tensor x) {
  auto const member = [](int out) { return pointwise{out} | bias{} | scale{} | prelu{}; };
  return concat(x | member(A), x | member(B), x | member(C)) | scale{} | softmax{};
};

/// Joined with other values, before, between and after them.
template <int A, int B, int C>
inline constexpr auto joined_between = input{.h = 5, .w = 7, .c = 9} | relu{} | [](tensor x) {
  auto const member = [](int out) { return pointwise{out} | bias{} | relu6{}; };
  tensor const a = x | member(A), b = x | member(B), c = x | member(C);
  return concat(x | max_pool{.kernel = 3, .stride = 1, .pad = 1}, b, a, x | sigmoid{}, c) |
         conv2d{.out = 3, .kernel = 3, .stride = 2};
};
/// Outputs, one of which is also read.
template <int A, int B, int C>
inline constexpr auto given_out = input{.h = 5, .w = 7, .c = 9} | relu{} | [](tensor x) {
  auto const member = [](int out) { return linear{out} | batch_norm{} | relu6{}; };
  tensor const a = x | member(A), b = x | member(B), c = x | member(C);
  return outputs(a, b | softmax{}, x | global_avg_pool{}, c, a | global_max_pool{} | linear{4});
};

inline constexpr plan::uniform_schedule direct{{.winograd = -1}}, copied{{.winograd = 1}}, winograd_4{{.winograd = 4}};

template <isa I, int A, int B, int C>
void check_members() {
  check_merged<joined_members<A, B, C>, 1, 2, options{.target = I}>("joined");
  check_merged<sliced_members<A, B, C>, 1, 2, options{.target = I}>("sliced");
  check_merged<sloped_members<A, B, C>, 1, 2, options{.target = I}>("sloped");
  check_merged<joined_between<A, B, C>, 1, 1, options{.target = I}>("joined with others");
  check_merged<given_out<A, B, C>, 1, 2, options{.target = I}>("outputs");
}
template <isa I>
void check_target() {
  constexpr int lane = lanes(I);
  check_members<I, lane, lane, lane>();
  check_members<I, 1, lane + 1, 3 * lane>();
  check_members<I, 2 * lane + 3, lane + 2, 3>();
  check_merged<attending, 1, 2, options{.target = I}>("attention");
  check_merged<convolutions, 1, 1, options{.target = I}, direct>("convolutions");
  check_merged<strided, 1, 3, options{.target = I}, direct>("strided, one bias behind all", 30);
  check_merged<convolutions, 1, 1, options{.target = I}, copied>("convolutions, im2col");
  check_merged<convolutions, 1, 1, options{.target = I}, winograd_4>("convolutions, Winograd");
}

}  // namespace

TEST_CASE("merged siblings give the same results, whatever their channels and their kernels") {
  check_target<native_isa>();
#ifdef AGO_TEST_FULL
  if constexpr (native_isa == isa::avx512)
    check_members<isa::avx2, 2 * lanes(isa::avx2) + 3, lanes(isa::avx2) + 2, 3>();
#endif
  check_target<isa::scalar>();
}

TEST_CASE("the parts of an attention are slices of one product, without a copy") {
  using merged = program<attending, untuned, always>;
  static_assert(copies<merged>() == 0);
  static_assert(merged::plan.steps[1].data.out.c == 96);
  static_assert(merged::weight_bytes == program<attending, untuned, off>::weight_bytes);
}

TEST_CASE("siblings are merged if it pays and if merging is enabled") {
  using narrow = program<joined_members<3, 4, 5>, untuned, options{.target = isa::avx2}>;
  using full = program<joined_members<16, 16, 16>, untuned, options{.target = isa::avx2}>;
  static_assert(families<narrow>() == 1 && families<full>() == 0);
  static_assert(families<program<joined_members<3, 4, 5>, untuned, off>>() == 0);
}

TEST_CASE("other policies partition the network as it is") {
  constexpr auto fused = []<class Policy>(Policy) { return merging_of<Policy>(always).siblings; };
  static_assert(fused(partition::ago_policy()) == horizontal_fusion::always);
  static_assert(fused(partition::ago_ni_policy()) == horizontal_fusion::always);
  static_assert(fused(partition::paper_policy()) == horizontal_fusion::off &&
                fused(partition::apollo_policy()) == horizontal_fusion::off);
  static_assert(fused(partition::fuse_ops_policy()) == horizontal_fusion::off);
  static_assert(
      families<program<attending, untuned,
                       options{.policy = policy::apollo, .horizontal_fusion = horizontal_fusion::always}>>() == 0);
}
