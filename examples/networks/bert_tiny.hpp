// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BERT-tiny (Turc et al., 2019: 2 layers of 128 channels, 2 heads). Layers are named where PyTorch's modules declare
// their parameters in another order.
#pragma once

#include <ago/network/network.hpp>

namespace networks {

using namespace ago;

namespace bert {

inline constexpr layer_norm norm{.epsilon = 1e-12f};

/// Attention and a feed-forward network of two layers, each added to its input and normalised (Vaswani et al., 2017).
constexpr auto encoder(int heads, int wide) {
  return [=](tensor x) {
    int const channels = x.channels();
    tensor const q = x | linear{channels}, k = x | linear{channels}, v = x | linear{channels};
    x = (x + (attention{heads}(q, k, v) | linear{channels})) | norm;
    return (x + (x | linear{wide} | gelu{} | linear{channels})) | named("norm2", norm);
  };
}

inline constexpr auto encoders = named("encoders", repeat{2, encoder(2, 512)});

}  // namespace bert

/// Maps the summed embeddings of `Tokens` tokens to the last hidden state.
template <int Tokens>
inline constexpr auto bert_tiny = input{.w = Tokens, .c = 128} | bert::norm | bert::encoders;

/// Takes token numbers. The embeddings of words, positions and the first segment are summed.
template <int Tokens>
inline constexpr auto bert_tiny_ids = input{.w = Tokens} | embedding{.entries = 30522, .width = 128} | positions{} |
                                      named("segments.weight[0]", bias{}) | bert::norm | bert::encoders;

}  // namespace networks
