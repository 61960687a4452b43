// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileNet-V2 at the paper's three sizes: prints what is known at compile time and runs it on one image.
#include <ago/ago.hpp>

#include "networks/mobilenet_v2.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

namespace {

/// Initial weights as for training: He-scaled convolutions, batch norms near the identity.
template <auto const& Net>
std::vector<float> random_weights() {
  std::mt19937 random(1);
  std::vector<float> weights(ago::parameter_count<Net>);
  for (auto const& p : ago::parameters<Net>) {
    std::span<float> const values(weights.data() + p.offset, std::size_t(p.count()));
    std::normal_distribution<float> he(0, std::sqrt(2.f / float(p.count() / p.dims[0])));
    std::uniform_real_distribution<float> near_one(.9f, 1.1f), near_zero(-.1f, .1f);
    for (float& x : values) switch (p.role) {
        case ago::role::weight: x = he(random); break;
        case ago::role::gamma:
        case ago::role::variance: x = near_one(random); break;
        default: x = near_zero(random);
      }
  }
  return weights;
}

/// A generated image: a soft gradient with some texture.
std::vector<float> picture(std::size_t size) {
  std::vector<float> image(size);
  for (std::size_t i = 0; i < size; ++i) image[i] = std::sin(float(i) * .01f) + .2f * std::cos(float(i) * 1.7f);
  return image;
}

template <auto const& Net>
void classify() {
  using model = ago::model<Net>;
  static_assert(model::arena_bytes < 16 << 20);

  auto const weights = random_weights<Net>();
  static model net{std::span(weights).template first<model::parameter_count>()};
  auto const image = picture(model::input_size());
  std::vector<float> scores(model::output_size());
  if (auto const s = net.try_run(image, scores); s != ago::status::ok) return (void)std::puts(name_of(s));

  auto const best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  std::printf("%3d x %-3d  %zu parameters, arena %7zu bytes, %d subgraphs in %d steps on %s; class %d scores %.3f\n",
              Net.inputs[0].h, Net.inputs[0].w, model::parameter_count, model::arena_bytes, model::subgraphs,
              model::steps, ago::name_of(model::target), int(best), double(scores[std::size_t(best)]));
}

}  // namespace

int main() {
  classify<networks::mobilenet_v2<56>>();
  classify<networks::mobilenet_v2<112>>();
  classify<networks::mobilenet_v2<224>>();
}
