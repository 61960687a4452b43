// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plots the progress of a search as SVG: the best time so far over the trials, and the time that each trial measured.
#pragma once

#include <ago/tuner/text.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace ago::tuner {

/// A point of the curve, in seconds.
struct trial_point {
  double measured = 0, best = 0;
};

class plot {
 public:
  plot(std::string title, std::vector<trial_point> points) : title_(std::move(title)), points_(std::move(points)) {
    if (points_.empty()) return;
    auto const [least, most] = std::ranges::minmax(points_, {}, &trial_point::best);
    // Contenders far above the rest would flatten the curve.
    double const reach = most.best - least.best + .1 * most.best;
    low_ = least.best, high_ = most.best;
    for (trial_point const& p : points_)
      if (p.measured < most.best + reach) low_ = std::min(low_, p.measured), high_ = std::max(high_, p.measured);
    double const margin = std::max(high_ - low_, 1e-3 * high_) * .06;
    low_ -= margin, high_ += margin;
  }

  std::string svg() const {
    std::string text = print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n",
        width, height, width, height);
    text += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    text += label(left, 24, "start", title_, "font-size=\"16\"");
    if (points_.empty()) return text + label(left, 60, "start", "no trials", "") + "</svg>\n";
    text += axes() + dots() + curve() + legend();
    return text + "</svg>\n";
  }

 private:
  static constexpr double width = 800, height = 450, left = 78, right = 20, top = 64, bottom = 52;

  double x(double trial) const {
    return left + (trial - 1) / std::max(1., double(points_.size()) - 1) * (width - left - right);
  }
  double y(double seconds) const { return top + (high_ - seconds) / (high_ - low_) * (height - top - bottom); }

  static std::string escaped(std::string const& text) {
    std::string result;
    for (char const c : text)
      if (c == '<') result += "&lt;";
      else if (c == '>') result += "&gt;";
      else if (c == '&') result += "&amp;";
      else if (static_cast<unsigned char>(c) < ' ') result += ' ';
      else result += c;
    return result;
  }
  static std::string label(double x, double y, char const* anchor, std::string const& text, char const* more) {
    return print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x, y, anchor, more,
                 escaped(text).c_str());
  }
  static std::string line(double x1, double y1, double x2, double y2, char const* color) {
    return print("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, color);
  }
  /// 1, 2 or 5 times a power of ten, such that about `count` steps cover `span`.
  static double nice_step(double span, int count) {
    double const rough = span / count, power = std::pow(10, std::floor(std::log10(rough)));
    for (double const f : {1., 2., 5.})
      if (rough <= f * power) return f * power;
    return 10 * power;
  }

  std::string axes() const {
    std::string text;
    bool const micro = high_ < 1e-3;
    double const unit = micro ? 1e-6 : 1e-3;
    double const step = nice_step((high_ - low_) / unit, 6);
    int const digits = std::max(0, int(-std::floor(std::log10(step) + 1e-9)));
    for (double v = std::ceil(low_ / unit / step) * step; v * unit <= high_; v += step) {
      text += line(left, y(v * unit), width - right, y(v * unit), "#e4e4e4");
      text += label(left - 8, y(v * unit) + 4, "end", print("%.*f", digits, v), "");
    }
    double const stride = std::max(1., nice_step(double(points_.size()), 8));
    for (double n = stride; n <= double(points_.size()); n += stride) {
      text += line(x(n), height - bottom, x(n), height - bottom + 5, "#606060");
      text += label(x(n), height - bottom + 20, "middle", print("%.0f", n), "");
    }
    text += line(left, height - bottom, width - right, height - bottom, "#606060");
    text += label((left + width - right) / 2, height - 12, "middle", "trial", "");
    return text +
           print("<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">whole network, %s</text>\n",
                 (top + height - bottom) / 2, micro ? "microseconds" : "milliseconds");
  }
  std::string dots() const {
    std::string text = "<g fill=\"#9db4c8\">\n";
    for (std::size_t i = 0; i < points_.size(); ++i)
      if (double const t = points_[i].measured; t >= low_ && t <= high_)
        text += print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>\n", x(double(i + 1)), y(t));
    return text + "</g>\n";
  }
  /// A step curve: each time holds until it is beaten.
  std::string curve() const {
    std::string path = print("M%.1f %.1f", x(1), y(points_[0].best));
    for (std::size_t i = 1; i < points_.size(); ++i) {
      path += print("H%.1f", x(double(i + 1)));
      if (points_[i].best != points_[i - 1].best) path += print("V%.1f", y(points_[i].best));
    }
    return "<path d=\"" + path + "\" fill=\"none\" stroke=\"#b3301c\" stroke-width=\"2\"/>\n";
  }
  std::string legend() const {
    std::string text = print("<circle cx=\"%.1f\" cy=\"43\" r=\"2.2\" fill=\"#9db4c8\"/>\n", left + 6);
    text += label(left + 16, 47, "start", "a contender", "");
    text += print("<path d=\"M%.1f 43h18\" stroke=\"#b3301c\" stroke-width=\"2\"/>\n", left + 110);
    return text + label(left + 134, 47, "start", "best so far: " + duration(points_.back().best), "");
  }

  std::string title_;
  std::vector<trial_point> points_;
  double low_ = 0, high_ = 1;
};

}  // namespace ago::tuner
