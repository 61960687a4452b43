// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A curve in the terminal and as SVG; a bar of progress.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace plot {

/// The means of `columns` equal parts of a curve.
inline std::vector<double> thinned(std::vector<float> const& y, std::size_t columns) {
  std::vector<double> r;
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t const first = c * y.size() / columns, last = std::max(first + 1, (c + 1) * y.size() / columns);
    double sum = 0;
    for (std::size_t i = first; i < last && i < y.size(); ++i) sum += double(y[i]);
    r.push_back(sum / double(last - first));
  }
  return r;
}

/// Eight lines of blocks; the highest value is at the top, 0 at the bottom.
inline void print(std::vector<float> const& y, char const* title) {
  constexpr int rows = 8;
  auto const curve = thinned(y, std::min<std::size_t>(64, y.size()));
  double const top = *std::max_element(curve.begin(), curve.end());
  char const* const eighths[] = {" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  std::printf("%s\n", title);
  for (int row = rows; row-- > 0;) {
    std::string line;
    for (double const v : curve) line += eighths[std::clamp(int(std::lround(v / top * rows * 8)) - row * 8, 0, 8)];
    std::printf("%6.3f %s\n", top * (row + 1) / rows, line.c_str());
  }
}

/// Writes an SVG of one curve. False if the file cannot be written.
inline bool write_svg(char const* path, std::vector<float> const& y, char const* title) {
  std::FILE* const out = std::fopen(path, "w");
  if (!out) return false;
  double const top = double(*std::max_element(y.begin(), y.end()));
  std::fprintf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 320\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n<rect width=\"640\" height=\"320\" fill=\"white\"/>"
               "<text x=\"320\" y=\"20\" text-anchor=\"middle\">%s</text>\n",
               title);
  for (int i = 0; i <= 4; ++i)
    std::fprintf(out,
                 "<line x1=\"50\" x2=\"630\" y1=\"%g\" y2=\"%g\" stroke=\"#ddd\"/>"
                 "<text x=\"44\" y=\"%g\" text-anchor=\"end\">%.2f</text>\n",
                 290 - 65. * i, 290 - 65. * i, 294 - 65. * i, top * i / 4);
  std::fprintf(out, "<text x=\"340\" y=\"312\" text-anchor=\"middle\">step (of %zu)</text>\n", y.size());
  std::fprintf(out, "<polyline fill=\"none\" stroke=\"#1f77b4\" points=\"");
  for (std::size_t i = 0; i < y.size(); ++i)
    std::fprintf(out, "%.1f,%.1f ", 50 + 580. * double(i) / double(y.size() - 1), 290 - 260 * double(y[i]) / top);
  std::fprintf(out, "\"/>\n</svg>\n");
  return std::fclose(out) == 0;
}

/// Draws a bar over the one before, on the standard error stream.
inline void progress(int done, int of, int epoch, float loss) {
  std::string bar(40, ' ');
  bar.replace(0, std::size_t(40 * done / of), std::size_t(40 * done / of), '#');
  std::fprintf(stderr, "\r[%s] epoch %d, loss %.4f%s", bar.c_str(), epoch, double(loss), done == of ? "\n" : "");
}

}  // namespace plot
