// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX models of random operators, and their results by plain loops over arrays with NumPy's broadcasting.
#pragma once

#include "onnx/network.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace ago_test {

/// Numbers in row-major order.
struct array {
  ints dims{};
  std::vector<double> numbers{};

  std::int64_t rank() const { return std::int64_t(dims.size()); }
};

inline std::int64_t count(ints const& dims) {
  std::int64_t r = 1;
  for (std::int64_t const d : dims) r *= d;
  return r;
}

/// The index, in a value with extents `dims` that is broadcast to `whole`, of element `i` of the latter.
inline std::size_t broadcast_index(std::size_t i, ints const& whole, ints const& dims) {
  std::size_t rest = i, index = 0, stride = 1;
  for (std::size_t back = 1; back <= dims.size(); ++back) {
    auto const extent = std::size_t(whole[whole.size() - back]), own = std::size_t(dims[dims.size() - back]);
    if (own > 1) index += rest % extent * stride;
    rest /= extent;
    stride *= own;
  }
  return index;
}

/// A model that grows by one operator at a time. Values are indices into `values`.
class random_model {
 public:
  explicit random_model(unsigned seed) : structure_(seed), random_(seed) {
    ints const dims = extents(pick(2, 4));
    int x = input(dims);
    if (dims.size() == 4 && pick(0, 3)) x = convolution(x, pick(1, 4));
    for (int i = pick(1, 3); i > 0; --i) x = segment(x);
    output(unary("Relu", x));
    if (pick(0, 3) == 0) output(pick(0, int(values.size()) - 1));
  }

  network net;
  std::vector<array> values;
  std::vector<int> inputs, outputs;

 private:
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(structure_); }
  std::string any(names const& list) { return list[std::size_t(pick(0, int(list.size()) - 1))]; }
  int width() { return 1 + int(random_() % 6); }
  floats numbers(ints const& dims) {
    floats r(static_cast<std::size_t>(count(dims)));
    for (float& x : r) x = std::uniform_real_distribution<float>(-1, 1)(random_);
    return r;
  }
  ints extents(int rank) {
    ints r;
    for (int i = 0; i < rank; ++i) r.push_back(i == 0 && rank > 2 ? pick(1, 2) : pick(1, 4));
    return r;
  }
  /// Random extents that can be broadcast to `whole`.
  ints fewer(ints const& whole) {
    ints r = whole;
    for (std::int64_t& d : r)
      if (pick(0, 1)) d = 1;
    r.erase(r.begin(), r.begin() + pick(0, int(r.size()) - 1));
    return r;
  }

  static std::string name_of(int v) { return "v" + std::to_string(v); }
  array const& at(int v) const { return values[std::size_t(v)]; }
  ints const& dims(int v) const { return at(v).dims; }

  int add(ints dims, std::vector<double> numbers) {
    values.push_back({std::move(dims), std::move(numbers)});
    return int(values.size()) - 1;
  }
  node apply(std::string const& type, std::vector<int> const& operands, array result) {
    names read;
    for (int const v : operands) read.push_back(name_of(v));
    values.push_back(std::move(result));
    return net.node(type, read, {name_of(int(values.size()) - 1)});
  }
  int last() const { return int(values.size()) - 1; }

  int input(ints const& dims) {
    floats const x = numbers(dims);
    inputs.push_back(add(dims, {x.begin(), x.end()}));
    net.input(name_of(last()), dims);
    return last();
  }
  int constant(ints const& dims) {
    floats const x = numbers(dims);
    add(dims, {x.begin(), x.end()});
    net.constant(name_of(last()), dims, x);
    return last();
  }
  void output(int v) {
    bool const is_known = std::none_of(inputs.begin(), inputs.end(), [&](int i) { return i == v; }) &&
                          std::any_of(net.graph().initializer().begin(), net.graph().initializer().end(),
                                      [&](auto const& t) { return t.name() == name_of(v); });
    if (is_known || std::find(outputs.begin(), outputs.end(), v) != outputs.end()) return;
    outputs.push_back(v);
    net.output(name_of(v));
  }

  int unary(std::string const& type, int x) {
    array r = at(x);
    for (double& y : r.numbers) {
      if (type == "Relu") y = std::max(y, 0.);
      else if (type == "Sigmoid") y = 1 / (1 + std::exp(-y));
      else if (type == "Tanh") y = std::tanh(y);
      else if (type == "Abs") y = std::fabs(y);
      else y = -y;
    }
    apply(type, {x}, std::move(r));
    return last();
  }

  int binary(std::string const& type, int a, int b) {
    array r;
    ints const &s = dims(a), &t = dims(b);
    r.dims.assign(std::max(s.size(), t.size()), 1);
    for (std::size_t back = 1; back <= r.dims.size(); ++back)
      for (ints const* own : {&s, &t})
        if (back <= own->size())
          r.dims[r.dims.size() - back] = std::max(r.dims[r.dims.size() - back], (*own)[own->size() - back]);
    for (std::size_t i = 0; i < std::size_t(count(r.dims)); ++i) {
      double const x = at(a).numbers[broadcast_index(i, r.dims, s)], y = at(b).numbers[broadcast_index(i, r.dims, t)];
      r.numbers.push_back(type == "Add"   ? x + y
                          : type == "Sub" ? x - y
                          : type == "Mul" ? x * y
                          : type == "Max" ? std::max(x, y)
                                          : std::min(x, y));
    }
    apply(type, {a, b}, std::move(r));
    return last();
  }

  /// A reduction along some axes, which keep an extent of 1.
  int reduce(std::string const& type, int x) {
    ints axes;
    array r{dims(x), {}};
    for (int a = 0; a < int(r.dims.size()); ++a)
      if (pick(0, 1)) axes.push_back(a), r.dims[std::size_t(a)] = 1;
    if (axes.empty()) axes.push_back(-1), r.dims.back() = 1;
    r.numbers.assign(std::size_t(count(r.dims)), type == "ReduceMax" ? -1e30 : 0);
    double const share = double(count(r.dims)) / double(count(dims(x)));
    for (std::size_t i = 0; i < at(x).numbers.size(); ++i) {
      double& sum = r.numbers[broadcast_index(i, dims(x), r.dims)];
      sum = type == "ReduceMax" ? std::max(sum, at(x).numbers[i]) : sum + share * at(x).numbers[i];
    }
    apply(type, {x}, std::move(r)).set("axes", axes);
    return last();
  }

  int pool(int x) {
    ints const d = dims(x);
    array r{{d[0], d[1], 1, 1}, std::vector<double>(std::size_t(d[0] * d[1]))};
    for (std::size_t i = 0; i < at(x).numbers.size(); ++i)
      r.numbers[i / std::size_t(d[2] * d[3])] += at(x).numbers[i] / double(d[2] * d[3]);
    apply("GlobalAveragePool", {x}, std::move(r));
    return last();
  }

  /// Of one pixel.
  int convolution(int x, int out) {
    ints const d = dims(x);
    int const w = constant({out, d[1], 1, 1}), b = constant({out});
    array r{{d[0], out, d[2], d[3]}, {}};
    std::int64_t const pixels = d[2] * d[3];
    for (std::int64_t n = 0; n < d[0]; ++n)
      for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t p = 0; p < pixels; ++p) {
          double sum = at(b).numbers[std::size_t(o)];
          for (std::int64_t c = 0; c < d[1]; ++c)
            sum += at(w).numbers[std::size_t(o * d[1] + c)] * at(x).numbers[std::size_t((n * d[1] + c) * pixels + p)];
          r.numbers.push_back(sum);
        }
    apply("Conv", {x, w, b}, std::move(r));
    return last();
  }

  /// Of the last axis.
  int product(int x, std::int64_t out) {
    std::int64_t const in = dims(x).back();
    int const w = constant({in, out});
    array r{dims(x), {}};
    r.dims.back() = out;
    for (std::int64_t row = 0; row < count(dims(x)) / in; ++row)
      for (std::int64_t o = 0; o < out; ++o) {
        double sum = 0;
        for (std::int64_t i = 0; i < in; ++i)
          sum += at(w).numbers[std::size_t(i * out + o)] * at(x).numbers[std::size_t(row * in + i)];
        r.numbers.push_back(sum);
      }
    apply("MatMul", {x, w}, std::move(r));
    return last();
  }

  int transposition(int x) {
    ints order;
    for (int a = 0; a < at(x).rank(); ++a) order.push_back(a);
    std::shuffle(order.begin(), order.end(), structure_);
    array r;
    for (std::int64_t const a : order) r.dims.push_back(dims(x)[std::size_t(a)]);
    for (std::int64_t i = 0; i < count(r.dims); ++i) {
      ints place(order.size());
      std::int64_t rest = i, index = 0;
      for (std::size_t a = order.size(); a-- > 0; rest /= r.dims[a]) place[std::size_t(order[a])] = rest % r.dims[a];
      for (std::size_t a = 0; a < order.size(); ++a) index = index * dims(x)[a] + place[a];
      r.numbers.push_back(at(x).numbers[std::size_t(index)]);
    }
    apply("Transpose", {x}, std::move(r)).set("perm", order);
    return last();
  }

  int concat(int a, int b, int axis) {
    array r{dims(a), {}};
    auto const k = std::size_t(axis);
    r.dims[k] += dims(b)[k];
    std::int64_t const rows = count({r.dims.begin(), r.dims.begin() + axis});
    for (std::int64_t row = 0; row < rows; ++row)
      for (int const v : {a, b}) {
        std::int64_t const run = count(dims(v)) / rows;
        auto const first = at(v).numbers.begin() + row * run;
        r.numbers.insert(r.numbers.end(), first, first + run);
      }
    apply("Concat", {a, b}, std::move(r)).set("axis", axis);
    return last();
  }

  /// A value that can be broadcast to x, or has its shape.
  int branch(int x) {
    int y = x;
    for (int i = pick(1, 3); i > 0; --i) {
      bool const is_image = at(y).rank() == 4;
      switch (pick(is_image ? 0 : 2, 6)) {
        case 0: y = convolution(y, pick(0, 1) ? int(dims(x)[1]) : 1); break;
        case 1:
          if (pick(0, 1)) y = pool(y);
          else y = convolution(unary("Relu", convolution(y, width())), int(dims(x)[1]));
          break;
        case 2: y = reduce(any({"ReduceMean", "ReduceMax"}), y); break;
        case 3: y = product(y, pick(0, 2) ? dims(x).back() : 1); break;
        case 4: y = binary(any({"Add", "Mul"}), y, constant(fewer(dims(y)))); break;
        default: y = unary(any({"Relu", "Sigmoid", "Tanh", "Abs", "Neg"}), y); break;
      }
    }
    return y;
  }
  int block(int x) {
    int const y = branch(x);
    int const z = pick(0, 2) ? x : branch(x);
    std::string const type = any({"Add", "Add", "Add", "Mul", "Sub", "Max"});
    return pick(0, 1) ? binary(type, z, y) : binary(type, y, z);
  }

  int segment(int x) {
    switch (pick(0, 7)) {
      case 0: return binary(any({"Add", "Sub", "Mul", "Min"}), x, constant(fewer(dims(x))));
      case 1: return binary(any({"Add", "Sub", "Mul", "Max"}), input(fewer(dims(x))), x);
      case 2: return transposition(x);
      case 3: return concat(x, unary("Tanh", x), pick(0, int(at(x).rank()) - 1));
      default: break;
    }
    // Blocks that are equal except for their weights and widths.
    std::mt19937 const structure = structure_;
    for (int i = pick(1, 4); i > 0; --i) {
      structure_ = structure;
      int const y = block(x);
      if (dims(y) != dims(x)) return y;
      x = unary("Tanh", y);
    }
    structure_.discard(1);
    return x;
  }

  std::mt19937 structure_, random_;
};

}  // namespace ago_test
