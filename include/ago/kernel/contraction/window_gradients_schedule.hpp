// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which two sums of products are the gradients of one convolution with a window for each channel, of its input and of
// its weights: they read the same elements of the result's gradient at each pixel of the input, so that one pass can
// compute both, and fold the first one while it is in registers.
#pragma once

#include <ago/kernel/contraction/choice.hpp>
#include <ago/kernel/nest/choice.hpp>

#include <limits>

namespace ago::kernel {

/// One weight of the window, and the pixels at which it counts: those of a phase of the stride.
struct window_tap {
  int phase_row{}, phase_column{};
  int row{}, column{};   ///< of the result's gradient, relative to the block of the pixel
  long weight{}, sum{};  ///< the places of channel 0 in the weights, and in their gradient
  constexpr bool reads_as(window_tap const& x) const {
    return phase_row == x.phase_row && phase_column == x.phase_column && row == x.row && column == x.column;
  }
};

/// The indices that taps have in a dimension.
struct window_span {
  int first = std::numeric_limits<int>::max(), last = std::numeric_limits<int>::min();
  constexpr int count() const { return last - first + 1; }
  constexpr void add(int i) {
    first = i < first ? i : first;
    last = i > last ? i : last;
  }
};

/// The gradients of a convolution of images of height x width blocks of stride_h x stride_w pixels of so many channels,
/// whose result has rows x columns pixels.
struct window_gradients {
  /// Sums, and these and the elements of the window: 32 registers have room for them.
  static constexpr int most_taps = 9, most_values = 21;

  int count = 0;  ///< of taps; 0: it is something else
  window_tap taps[most_taps]{};
  int images = 1, height{}, width{}, channels{}, stride_h = 1, stride_w = 1;
  int rows{}, columns{};
  int result_operand{}, weights_operand{};      ///< of the gradient of the input
  int input_operand{}, other_result_operand{};  ///< of the gradient of the weights
  long weight_step{}, sum_step{};               ///< between channels
  window_span of_rows{}, of_columns{};          ///< of the result's gradient

  constexpr bool are_there() const { return count > 0; }

  // Scratch: a row of zeros, which stands for rows outside of the result; the weights, with channels as neighbours; the
  // sums of their gradients.
  constexpr long padded_channels(isa target) const { return padded(channels, target); }
  constexpr long weights_at(isa target) const { return (columns * long(channels) + 2 * lanes(target) + 15) / 16 * 16; }
  constexpr long sums_at(isa target) const { return weights_at(target) + weight_step * padded_channels(target); }
  constexpr long scratch_floats(isa target) const { return sums_at(target) + sum_step * padded_channels(target); }
};

/// Finds them.
class window_gradients_finder {
  using loop = expression::matrix_loop;
  using loops = expression::matrix_loops;
  using expressions = expression::index_expression;

 public:
  /// `image`, `weights`: what may be the gradients of the input and of the weights.
  constexpr window_gradients_finder(expressions const& image, contraction_layout const& of_image,
                                    expressions const& weights, contraction_layout const& of_weights)
      : image_(image), weights_(weights), f_(of_image.form), g_(of_weights.form) {
    if (f_.scale == 1 && g_.scale == 1 && pads_with_zeros(image) && pads_with_zeros(weights) && finds_operands() &&
        has_pixels() && finds_taps() && matches_sums())
      found_.count = count_;
  }
  constexpr window_gradients const& found() const { return found_; }

 private:
  /// A factor, and its part of the loops.
  struct factor {
    expression::matrix_operand const* operand;
    loops const* own;  ///< in which the other factor does not move
    long loop::* step;
  };
  static constexpr factor factor_of(expression::matrix_form const& f, bool b) {
    return b ? factor{&f.b, &f.n, &loop::b} : factor{&f.a, &f.m, &loop::a};
  }
  static constexpr bool pads_with_zeros(expressions const& e) {
    bool r = true;
    for (int a = 0; a < e.body.access_count; ++a)
      r = r && (!e.body.accesses[a].padded || e.body.accesses[a].pad() == 0);
    return r;
  }
  /// The only loop of several iterations; null: there are several, or none.
  static constexpr loop const* only(loops const& l) {
    loop const* r = nullptr;
    for (int i = 0; i < l.count; ++i)
      if (l.all[i].extent > 1) {
        if (r) return nullptr;
        r = &l.all[i];
      }
    return r;
  }
  /// Do loops go through the same elements as these, whose steps in the factors x and y are `a` and `b`? Some may have
  /// been joined.
  static constexpr bool are(loops const& l, factor const& x, factor const* y, loops const& wanted) {
    loops steps = l;
    for (int i = 0; i < l.count; ++i)
      steps.all[i] = {l.all[i].extent, l.all[i].*x.step, y ? l.all[i].*y->step : 0, l.all[i].c};
    loops const a = joined_loops(steps), b = joined_loops(wanted);
    bool same = a.count == b.count;
    for (int i = 0; i < a.count; ++i) {
      bool any = false;
      for (int k = 0; k < b.count; ++k) any = any || a.all[i] == b.all[k];
      same = same && any;
    }
    return same;
  }

  constexpr bool finds_operands() {
    loop const *const a = only(f_.batch), *const b = only(g_.batch);
    if (!a || !b || a->c != 1 || a->extent != b->extent) return false;
    expression::extents const& input = image_.result;
    if (input.rank != 4 || input.of[3] != a->extent) return false;
    for (int k = 0; k < 2; ++k) {
      factor const r = factor_of(f_, k), w = factor_of(f_, !k);
      for (int i = 0; i < 2; ++i) {
        factor const q = factor_of(g_, i), x = factor_of(g_, !i);
        if (a->*r.step != 1 || b->*q.step != 1 || b->*x.step != 1 || q.own->extent() > 1) continue;
        expression::extents const& result = weights_.operands[q.operand->operand];
        if (result.rank != 4 || q.operand->is_padded(result) || !(image_.operands[r.operand->operand] == result) ||
            !(weights_.operands[x.operand->operand] == input))
          continue;
        result_ = r, kernel_ = w, other_result_ = q, input_ = x;
        found_.channels = a->extent;
        found_.sum_step = b->c;
        found_.images = input.of[0];
        found_.rows = result.of[1];
        found_.columns = result.of[2];
        found_.result_operand = r.operand->operand;
        found_.weights_operand = w.operand->operand;
        found_.other_result_operand = q.operand->operand;
        found_.input_operand = x.operand->operand;
        return true;
      }
    }
    return false;
  }

  /// Do the loops go through all pixels of the images, and of the result?
  constexpr bool has_pixels() {
    window_gradients& r = found_;
    expression::extents const &input = image_.result, &result = weights_.operands[other_result_.operand->operand];
    expression::extents const &padded = input_.operand->padded, &padded_result = result_.operand->padded;
    if (r.rows == 1 || r.columns == 1 || input.of[0] != result.of[0] || padded.of[0] != input.of[0] ||
        padded_result.of[0] != input.of[0] || padded.of[3] != r.channels || padded_result.of[3] != r.channels)
      return false;
    for (int i = 0; i < g_.k.count; ++i) {
      loop const& l = g_.k.all[i];
      if (l.*other_result_.step == result.stride(1)) r.stride_h = int(l.*input_.step / padded.stride(1));
      if (l.*other_result_.step == result.stride(2)) r.stride_w = int(l.*input_.step / padded.stride(2));
    }
    if (r.stride_h < 1 || r.stride_w < 1 || input.of[1] % r.stride_h != 0 || input.of[2] % r.stride_w != 0)
      return false;
    loops const sums{{{input.of[0], padded.stride(0), result.stride(0), 0},
                      {r.rows, r.stride_h * padded.stride(1), result.stride(1), 0},
                      {r.columns, r.stride_w * padded.stride(2), result.stride(2), 0}},
                     3};
    r.height = input.of[1] / r.stride_h;
    r.width = input.of[2] / r.stride_w;
    loops const pixels{{{input.of[0], padded_result.stride(0), 0, input.stride(0)},
                        {r.height, padded_result.stride(1), 0, r.stride_h * input.stride(1)},
                        {r.width, padded_result.stride(2), 0, r.stride_w * input.stride(2)}},
                       3};
    return are(g_.k, input_, &other_result_, sums) && are(*result_.own, result_, nullptr, pixels);
  }

  /// The row, or the column, of a place in a padded operand, without the padding.
  static constexpr int index(expression::matrix_operand const& o, long place, int d) {
    return int(place / o.padded.stride(d) % o.padded.of[d]) - o.before[d];
  }

  /// Those of the gradient of the input.
  constexpr bool finds_taps() {
    expression::extents const &input = image_.result, &kernel = image_.operands[kernel_.operand->operand];
    long const phases = kernel_.own->extent(), steps = f_.k.extent();
    if (phases * steps > 64) return false;
    for (int j = 0; j < phases; ++j)
      for (int k = 0; k < steps; ++k) {
        long const at = kernel_.operand->start + kernel_.own->offset(j, kernel_.step) + f_.k.offset(k, kernel_.step),
                   weight = source_of(kernel, *kernel_.operand, at), pixel = kernel_.own->offset(j, &loop::c),
                   place = result_.operand->start + f_.k.offset(k, result_.step);
        if (weight < 0) continue;
        if (count_ == window_gradients::most_taps || place < 0 || index(*result_.operand, place, 0) != 0) return false;
        window_tap& t = found_.taps[count_++];
        t = {int(pixel / input.stride(1)),
             int(pixel % input.stride(1) / input.stride(2)),
             index(*result_.operand, place, 1),
             index(*result_.operand, place, 2),
             weight,
             -1};
        found_.weight_step = source_of(kernel, *kernel_.operand, at + only(f_.batch)->*kernel_.step) - weight;
        found_.of_rows.add(t.row);
        found_.of_columns.add(t.column);
        if (t.phase_row >= found_.stride_h || t.phase_column >= found_.stride_w || weight >= found_.weight_step)
          return false;
      }
    return count_ > 1;
  }

  /// Do those of the gradient of the weights read the same?
  constexpr bool matches_sums() {
    long const taps = input_.own->extent();
    if (taps != count_) return false;
    for (int j = 0; j < taps; ++j) {
      long const place = input_.operand->start + input_.own->offset(j, input_.step);
      int const row = index(*input_.operand, place, 1), column = index(*input_.operand, place, 2);
      int const p = phase(row, found_.stride_h), q = phase(column, found_.stride_w);
      window_tap const wanted{p, q, (p - row) / found_.stride_h, (q - column) / found_.stride_w};
      int t = 0;
      while (t < count_ && (found_.taps[t].sum >= 0 || !found_.taps[t].reads_as(wanted))) ++t;
      if (t == count_ || index(*input_.operand, place, 0) != 0) return false;
      found_.taps[t].sum = input_.own->offset(j, &loop::c);
      if (found_.taps[t].sum >= found_.sum_step) return false;
    }
    return true;
  }
  static constexpr int phase(int i, int stride) { return (i % stride + stride) % stride; }

  expressions const &image_, &weights_;
  expression::matrix_form const &f_, &g_;
  factor result_{}, kernel_{}, other_result_{}, input_{};
  window_gradients found_{};
  int count_ = 0;
};

/// Two steps that one pass may compute, as far as its kernel depends on them: not on their register tiles.
struct one_pass_key {
  kernel_key image, fold, sums;  ///< what may be the gradient of the input, its fold, and the gradient of the weights
  epilogue made{};               ///< computes the input, if sums.made_operand >= 0
  bool operator==(one_pass_key const&) const = default;
};

/// Its kernels' keys, of those of two steps.
constexpr one_pass_key one_pass_key_of(fused_key const& first, fused_key const& second) {
  auto const part = [](kernel_key const& k) {
    kernel_key r{.what = k.what, .target = k.target, .in_order = k.in_order, .described = k.described};
    r.weight_operand = k.weight_operand;
    r.made_operand = k.made_operand;
    r.folded_operand = k.folded_operand;
    r.factors = k.factors;
    return r;
  };
  one_pass_key r{part(first.part[0]), part(first.part[1]), part(second.part[second.parts - 1])};
  if (second.parts > 1) r.made = second.part[0].after;
  return r;
}

/// The gradients that `k.image`, whose result `k.fold` folds, and `k.sums` compute, if one pass is to compute them: all
/// sums and a window must fit in registers. (With 16 registers, some of both are in L1, and it still takes 0.6 to 0.9
/// of the time of two products, strided ones 0.2.)
constexpr window_gradients gradients_in_one_pass(one_pass_key const& k) {
  isa const target = k.image.target;
  if (lanes(target) == 1 || k.image.what != structure::contraction || k.fold.what != structure::nest ||
      k.sums.what != structure::contraction || !expression::has_windows_of_channels(*k.image.described) ||
      k.image.weight_operand >= 0 || k.sums.weight_operand >= 0 ||
      !folds_registers(layout_of_nest(*k.fold.described, target, true), *k.fold.described, k.fold.folded_operand))
    return {};
  window_gradients const r = window_gradients_finder(*k.image.described, layout_of_contraction(k.image),
                                                     *k.sums.described, layout_of_contraction(k.sums))
                                 .found();
  if (!r.are_there()) return {};
  bool const is_made = k.sums.made_operand < 0 || k.sums.made_operand == r.input_operand;
  bool const fits = r.count + r.of_rows.count() * r.of_columns.count() <= window_gradients::most_values;
  return is_made && fits ? r : window_gradients{};
}

}  // namespace ago::kernel
