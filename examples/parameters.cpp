// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the layout of a network's weight blob, which tools/weights.py needs to write one.
#include <ago/network/write_parameters.hpp>

#include <iostream>

using namespace ago;

// [network]
/// A transformer layer. Its PyTorch module declares norm1, norm2, qkv, projection, up, down.
constexpr auto encoder = [](tensor x) {
  int const channels = x.channels();
  x = x + (x | named("norm1", layer_norm{}) | linear{3 * channels} | attention{.heads = 4} | linear{channels});
  return x + (x | named("norm2", layer_norm{}) | linear{4 * channels} | gelu{} | linear{channels});
};

inline constexpr auto network = input{.w = 16, .c = 1} | embedding{.entries = 1000, .width = 64} | positions{} |
                                named("encoders", repeat{2, encoder}) | layer_norm{} | linear{1000};
// [/network]

// [main]
int main() { ago::write_parameters<network>(std::cout, "network"); }
// [/main]
