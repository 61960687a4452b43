// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two complex operators, each with batch norm and relu6, as a value and as an ago network.
#pragma once

#include <ago/network/network.hpp>

#include <string>

namespace bench {

/// pointwise (kernel 1) or depthwise.
struct pair_part {
  int out = 0;  ///< channels of a pointwise; 0: depthwise
  int kernel = 1, stride = 1;

  constexpr bool operator==(pair_part const&) const = default;
  constexpr bool is_pointwise() const { return out > 0; }
  constexpr ago::tensor operator()(ago::tensor x) const {
    ago::tensor const y = is_pointwise() ? x | ago::pointwise{out}
                                         : x | ago::depthwise{.kernel = kernel, .stride = stride, .pad = kernel / 2};
    return y | ago::batch_norm{} | ago::relu6{};
  }
};

constexpr pair_part to(int channels) { return {.out = channels}; }
constexpr pair_part window(int kernel, int stride) { return {.kernel = kernel, .stride = stride}; }

struct pair_shape {
  int size, channels;  ///< of the input image
  pair_part first, second;
  int images = 1;

  constexpr bool operator==(pair_shape const&) const = default;
};

/// The pair as the body of a network: one type for all pairs.
struct pair_body {
  pair_part first, second;
  constexpr ago::tensor operator()(ago::tensor x) const { return second(first(x)); }
};

template <pair_shape S>
inline constexpr auto pair_network =
    ago::input{.n = S.images, .h = S.size, .w = S.size, .c = S.channels} | pair_body{S.first, S.second};

inline std::string kind_of(pair_shape const& s) {
  auto const kind = [](pair_part const& p) { return p.is_pointwise() ? "pointwise" : "depthwise"; };
  return std::string(kind(s.first)) + '+' + kind(s.second);
}

/// Channels and windows in order: "24>144/k3s2".
inline std::string layers_of(pair_shape const& s) {
  std::string text = std::to_string(s.channels);
  for (pair_part const& p : {s.first, s.second})
    text += p.is_pointwise() ? '>' + std::to_string(p.out)
                             : "/k" + std::to_string(p.kernel) + 's' + std::to_string(p.stride);
  return text;
}

}  // namespace bench
