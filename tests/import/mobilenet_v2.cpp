// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileNet-V2 as written by ago-import, in either layout of images, compared with that of examples/: bit-identical
// results and the same steps. Compiled by mobilenet_v2.py.
#include <networks/mobilenet_v2.hpp>

#include <ago/ago.hpp>

#include <channels_first.hpp>
#include <channels_last.hpp>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr int size = 224, pixels = size * size, classes = 1000;
using floats = std::vector<float>;

template <ago::layout Memory>
inline constexpr auto written_by_hand = [] {
  auto net = networks::mobilenet_v2<size>;
  net.inputs[0].layout = Memory;
  return net;
}();

/// Seeded random numbers from -1 to 1.
floats noise(std::size_t count) {
  floats values(count);
  unsigned state = 1;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    v = float(state >> 8) * 0x1p-23f - 1;
  }
  return values;
}

floats turned_image(floats const& image) {
  floats turned(image.size());
  for (std::size_t p = 0; p < pixels; ++p)
    for (std::size_t c = 0; c < 3; ++c) turned[p * 3 + c] = image[c * pixels + p];
  return turned;
}

floats read(char const* file, std::size_t count) {
  floats values(count + 1);
  std::FILE* const in = std::fopen(file, "rb");
  std::size_t const found = in ? std::fread(values.data(), sizeof(float), count + 1, in) : 0;
  if (in) std::fclose(in);
  if (found != count) std::printf("%s does not hold %zu floats\n", file, count);
  values.resize(count);
  return values;
}

template <auto const& Net>
floats answer(char const* weights, floats const& image) {
  using model = ago::model<Net>;
  constexpr std::size_t parameters = model::parameter_count, inputs = model::input_size();
  floats const trained = read(weights, parameters);
  auto const net = std::make_unique<model>(std::span<float const, parameters>(trained.data(), parameters));
  floats logits(classes);
  (*net)(std::span<float const, inputs>(image.data(), inputs), std::span<float, classes>(logits.data(), classes));
  return logits;
}

template <auto const& Imported, ago::layout Memory>
bool check(char const* name, char const* weights, char const* parameters, floats const& image) {
  floats const imported = answer<Imported>(weights, image);
  floats const by_hand = answer<written_by_hand<Memory>>(parameters, image);
  int const steps = ago::model<Imported>::steps, steps_by_hand = ago::model<written_by_hand<Memory>>::steps;
  bool const same = std::memcmp(imported.data(), by_hand.data(), sizeof(float) * classes) == 0;
  std::printf("%s: %s bits, %d steps and %d\n", name, same ? "the same" : "OTHER", steps, steps_by_hand);
  return same && steps == steps_by_hand && imported[0] == imported[0];
}

}  // namespace

/// Arguments: the weights of both, and PyTorch's parameters.
int main(int, char** arguments) {
  floats const image = noise(3 * pixels);
  bool good = check<channels_first::network, ago::layout::nchw>("channels first", arguments[1], arguments[3], image);
  good = check<channels_last::network, ago::layout::nhwc>("channels last", arguments[2], arguments[3],
                                                          turned_image(image)) &&
         good;
  return good ? 0 : 1;
}
