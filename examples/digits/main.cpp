// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies the held-out digits, compares every answer with PyTorch's, and draws six of them.
#include "data.hpp"
#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

/// An image and the network's prediction.
struct verdict {
  digits::image const* pixels;
  int label, predicted;
  double confidence;

  bool right() const { return predicted == label; }
};

int largest(digits::scores const& logits) {
  return int(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// Softmax of the largest logit.
double confidence(digits::scores const& logits) {
  double sum = 0;
  for (float logit : logits) sum += std::exp(logit - logits[largest(logits)]);
  return 1 / sum;
}

/// The first correctly classified image of each of six digits. The network's first mistake, if any, comes last.
std::vector<verdict> choose_six(std::vector<verdict> const& all) {
  std::vector<verdict> six;
  for (auto const& v : all) {
    auto const same_digit = [&](verdict const& other) { return other.label == v.label; };
    if (v.right() && six.size() < 6 && std::ranges::none_of(six, same_digit)) six.push_back(v);
  }
  if (auto const mistake = std::ranges::find(all, false, &verdict::right); mistake != all.end()) {
    if (six.size() == 6) six.pop_back();
    six.push_back(*mistake);
  }
  return six;
}

/// Draws images side by side, with two columns per pixel to make pixels square.
void draw(std::vector<verdict> const& row) {
  constexpr char const* shades[] = {" ", "░", "▒", "▓", "█"};
  for (std::size_t y = 0; y < 8; ++y) {
    for (auto const& v : row) {
      for (std::size_t x = 0; x < 8; ++x) {
        auto const* shade = shades[std::min(((*v.pixels)[y * 8 + x] + 2) / 4, 4)];
        std::printf("%s%s", shade, shade);
      }
      std::printf("  ");
    }
    std::printf("\n");
  }
  for (auto const& v : row) std::printf("label %d           ", v.label);
  std::printf("\n");
  for (auto const& v : row)
    std::printf("ago %d  %5.1f %% %s  ", v.predicted, 100 * v.confidence, v.right() ? " " : "✗");
  std::printf("\n");
}

}  // namespace

int main() {
  static ago::model<digits::network> net{digits::weights<ago::model<digits::network>::parameter_count>()};
  static_assert(decltype(net)::arena_bytes < 64 * 1024);

  auto const set = digits::held_out();
  std::vector<verdict> verdicts;
  int right = 0, agreeing = 0;
  float difference = 0;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    std::array<float, 8 * 8> image;
    std::ranges::transform(set.images[i], image.begin(), [](int pixel) { return float(pixel) / 16; });
    digits::scores logits;
    net(image, logits);

    verdicts.push_back({&set.images[i], set.labels[i], largest(logits), confidence(logits)});
    right += verdicts.back().right();
    agreeing += verdicts.back().predicted == set.expected_classes[i];
    for (std::size_t k = 0; k < logits.size(); ++k)
      if (float const d = std::fabs(logits[k] - set.expected_logits[i][k]); !(d <= difference)) difference = d;
  }

  int const count = int(set.images.size());
  std::printf("at compile time: %d parameters, %d bytes of arena, %d steps, %s\n", int(net.parameter_count),
              int(net.arena_bytes), int(net.steps), ago::name_of(net.target));
  std::printf("right: %d of %d held-out images (%.2f %%)\n", right, count, 100.0 * right / count);
  std::printf("same class as PyTorch: %d of %d, largest difference of a logit %.1e\n\n", agreeing, count, difference);
  draw(choose_six(verdicts));
  return agreeing == count && difference < 1e-4f ? 0 : 1;  // rounding alone stays below 1e-5
}
