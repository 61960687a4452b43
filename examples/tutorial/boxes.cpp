// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorial 3: an imported detector finds the rectangles in a picture; boxes.ppm shows them framed.
// [program]
#include <ago/ago.hpp>
#include <detector.hpp>  // written by ago_import()

#include <algorithm>
#include <cmath>
#include <cstdio>

constexpr int height = 48, width = 64, stride = 4, rows = height / stride, columns = width / stride;

using network = ago::model<detector::network>;
extern "C" float const detector_weights[network::parameter_count];

struct box {
  int x, y, w, h;
};

/// Each cell of the output describes the pixels around it. The cell next to a rectangle's centre reports it.
int find_boxes(float const* cells, box* found, int most) {
  int count = 0;
  for (int i = 0; i < rows * columns && count < most; ++i) {
    auto const value = [&](int channel) { return cells[channel * rows * columns + i]; };
    float const brightness = value(0), dx = value(1), dy = value(2), w = value(3), h = value(4);
    bool const next = dx >= -2 && dx < 2 && dy >= -2 && dy < 2;
    if (brightness < 4 || !next) continue;
    float const x = float(i % columns) * stride + 2 + dx - w / 2, y = float(i / columns) * stride + 2 + dy - h / 2;
    found[count++] = {int(std::lround(x)), int(std::lround(y)), int(std::lround(w)), int(std::lround(h))};
  }
  return count;
}

/// Writes a PPM file: grey pixels, with a red line around each box.
bool write_picture(char const* name, float const* image, box const* boxes, int count) {
  std::FILE* const file = std::fopen(name, "wb");
  if (!file) return false;
  std::fprintf(file, "P6 %d %d 255\n", width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      bool const framed = std::any_of(boxes, boxes + count, [&](box const& b) {
        bool const around = x >= b.x - 1 && x <= b.x + b.w && y >= b.y - 1 && y <= b.y + b.h;
        return around && (x == b.x - 1 || x == b.x + b.w || y == b.y - 1 || y == b.y + b.h);
      });
      int const grey = int(255 * image[y * width + x]);
      std::fputc(framed ? 255 : grey, file);  // red, green, blue
      std::fputc(framed ? 0 : grey, file);
      std::fputc(framed ? 0 : grey, file);
    }
  }
  return std::fclose(file) == 0;
}

int main() {
  static float image[height * width], cells[5 * rows * columns];
  constexpr box drawn[] = {{8, 5, 6, 4}, {40, 10, 9, 7}, {21, 30, 5, 10}};
  for (box const& b : drawn)
    for (int y = b.y; y < b.y + b.h; ++y) std::fill_n(image + y * width + b.x, b.w, 1.f);

  static network net{detector_weights};
  net(image, cells);

  box found[10];
  int const count = find_boxes(cells, found, 10);
  for (int k = 0; k < count; ++k)
    std::printf("box at (%d, %d), %d x %d pixels\n", found[k].x, found[k].y, found[k].w, found[k].h);
  return write_picture("boxes.ppm", image, found, count) ? 0 : 1;
}
// [/program]
