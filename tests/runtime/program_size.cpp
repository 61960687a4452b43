// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileNet-V2 with packed weights, of which this program contains only the first: its size is that of code and tables.
#include <ago/ago.hpp>

#include <networks/mobilenet_v2.hpp>

using network = ago::model<networks::mobilenet_v2<224>, ago::untuned, ago::packed>;

alignas(64) static unsigned char const no_weights[sizeof(ago::runtime::packed_header)]{};
static float image[network::input_size()], scores[network::output_size()];

// Must not be run: the weights are missing.
int main() {
  static network net{ago::packed_weights<network::program::signature()>{no_weights}};
  net(image, scores);
  return scores[0] > 0;
}
