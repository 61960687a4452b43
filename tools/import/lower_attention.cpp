// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operator Attention, as matrix products with a softmax between them.
#include "arithmetic.hpp"
#include "movement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace ago::importer {

namespace {

enum input_of_attention { q_input, k_input, v_input, mask_input, past_key, past_value, lengths };

/// {n, tokens, heads * depth} as {n, heads, tokens, depth}.
view by_heads(context& c, view x, std::int64_t heads) {
  if (x.how.rank() == 4) return x;
  extents const d = x.how.dims;
  return transposed(with_dims(c, x, {d[0], d[1], heads, d[2] / heads}), {0, 2, 1, 3});
}

/// Repeats each head of keys or values for the queries' heads that share it.
view repeated_heads(context& c, view x, std::int64_t heads) {
  extents const d = x.how.dims;
  if (d[1] == heads) return x;
  x = expanded(c, with_dims(c, x, {d[0], d[1], 1, d[2], d[3]}), {d[0], d[1], heads / d[1], d[2], d[3]});
  return with_dims(c, x, {d[0], heads, d[2], d[3]});
}

view with_past(node_reader const& n, view x, int past, int present) {
  if (n.has(past)) x = joined(n.c, {n.x(past), x}, 2);
  n.define(x, present);
  return x;
}

constexpr float hidden = -std::numeric_limits<float>::infinity();

/// The known part of the mask that is added to scores; minus infinity where a query may not look.
struct known_mask {
  extents dims;
  std::vector<float> values;
};

bool is_truth(node_reader const& n) {
  return n.c.model.values[std::size_t(n.input(mask_input))].type == onnx::element::integer;
}

/// The mask input, with rows extended to the number of keys.
known_mask mask_of_input(node_reader const& n, std::int64_t keys) {
  known_mask r{n.dims(mask_input), {}};
  auto const values = n.reals(mask_input, "");
  std::int64_t const given = r.dims.back();
  n.c.net.afford({product(r.dims) / given, keys});
  for (std::size_t row = 0; row < values.size() / std::size_t(given); ++row)
    for (std::int64_t k = 0; k < keys; ++k) {
      float const v = k < given ? values[row * std::size_t(given) + std::size_t(k)] : hidden;
      r.values.push_back(k < given && is_truth(n) ? (v != 0 ? 0 : hidden) : v);
    }
  r.dims.back() = keys;
  return r;
}

/// Masks later keys, and those beyond each sequence's length.
known_mask mask_of_places(node_reader const& n, extents const& scores, std::int64_t past) {
  bool const looks_back = n.integer("is_causal", 0) != 0, by_length = n.has(lengths);
  std::int64_t const queries = scores[2], keys = scores[3];
  std::vector<std::int64_t> const length_of =
      by_length ? n.integers(lengths, "nonpad_kv_seqlen") : std::vector<std::int64_t>{keys};
  if (by_length && std::int64_t(length_of.size()) != scores[0])
    throw unsupported("nonpad_kv_seqlen must have a number for each sequence");
  for (std::int64_t length : length_of)
    if (length < 0 || length > keys) throw unsupported("nonpad_kv_seqlen has a number beyond the keys");
  n.c.net.afford({std::int64_t(length_of.size()), queries, keys});
  known_mask r{{std::int64_t(length_of.size()), 1, queries, keys}, {}};
  for (std::int64_t length : length_of)
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t k = 0; k < keys; ++k) {
        std::int64_t const last = i + (by_length ? length - queries : past);
        r.values.push_back((looks_back && k > last) || (by_length && k >= length) ? hidden : 0.f);
      }
  return r;
}

known_mask sum_of(context const& c, known_mask const& a, known_mask const& b) {
  known_mask r{broadcast(a.dims, b.dims), {}};
  auto const x = broadcast_values(c, a.dims, a.values, r.dims), y = broadcast_values(c, b.dims, b.values, r.dims);
  for (std::size_t i = 0; i < x.size(); ++i) r.values.push_back(x[i] + y[i]);
  return r;
}

/// The rows of the mask must not be longer than the number of keys; otherwise it must broadcast to the scores.
void check_mask(extents mask, extents const& scores) {
  bool const has_rows = !mask.empty() && mask.back() > 0 && mask.back() <= scores.back();
  if (has_rows) mask.back() = scores.back();
  if (!has_rows || broadcast(mask, scores) != scores) throw unsupported("its mask does not fit its scores");
}

/// The softmax of scores with all masks. Queries that may look nowhere get zeros instead of NaN.
view weights_of(node_reader const& n, view scores, std::int64_t past, view& masked) {
  std::int64_t const keys = scores.how.dims[3];
  if (n.has(mask_input)) check_mask(n.dims(mask_input), scores.how.dims);
  known_mask m = mask_of_places(n, scores.how.dims, past);
  bool const open_mask = n.has(mask_input) && !n.known(mask_input);
  if (n.known(mask_input)) m = sum_of(n.c, m, mask_of_input(n, keys));
  if (open_mask) {
    view mask = n.x(mask_input);
    if (is_truth(n)) mask = mapped(n.c, mask, "(x - 1.f) * 1e30f");
    std::int64_t const missing = keys - mask.how.dims.back();
    if (missing > 0) mask = padded(n.c, mask, mask.how.rank() - 1, 0, missing, -1e30f);
    scores = combined(n.c, arithmetic::add, scores, mask);
  }
  bool const masks = std::any_of(m.values.begin(), m.values.end(), [](float v) { return v != 0; });
  masked = masks ? combined(n.c, arithmetic::add, scores, m.dims, m.values) : scores;
  std::vector<float> sees;
  for (std::size_t row = 0; row < m.values.size(); row += std::size_t(keys)) {
    auto const begin = m.values.begin() + std::ptrdiff_t(row);
    sees.push_back(std::any_of(begin, begin + keys, [](float v) { return v != hidden; }) ? 1.f : 0.f);
  }
  if (std::find(sees.begin(), sees.end(), 0.f) == sees.end()) return softmax_over(n.c, masked, {3});
  // A row of minus infinities has no softmax: replace it by finite numbers, then multiply the result by zero.
  known_mask finite = m;
  for (std::size_t i = 0; i < finite.values.size(); ++i)
    if (sees[i / std::size_t(keys)] == 0) finite.values[i] = 0;
  view const safe = softmax_over(n.c, combined(n.c, arithmetic::add, scores, finite.dims, finite.values), {3});
  extents dims = m.dims;
  dims.back() = 1;
  return combined(n.c, arithmetic::multiply, safe, dims, sees);
}

void attention_rule(node_reader const& n) {
  context& c = n.c;
  bool const flat = n.dims(q_input).size() == 3;
  std::int64_t const heads = flat ? n.integer("q_num_heads", 1) : n.dims(q_input)[1];
  std::int64_t const kv_heads = n.dims(k_input).size() == 3 ? n.integer("kv_num_heads", 1) : n.dims(k_input)[1];
  view const q = by_heads(c, n.x(q_input), heads);
  view const k = repeated_heads(c, with_past(n, by_heads(c, n.x(k_input), kv_heads), past_key, 1), heads);
  view const v = repeated_heads(c, with_past(n, by_heads(c, n.x(v_input), kv_heads), past_value, 2), heads);

  float const scale = n.real("scale", 1 / std::sqrt(float(q.how.dims[3]))), cap = n.real("softcap", 0);
  view scores = matrix_product(c, unary(c, q, affine{scale, 0}), transposed(k, {0, 1, 3, 2}));
  std::int64_t const shown = n.wants(3) ? n.integer("qk_matmul_output_mode", 0) : -1;
  if (shown == 0) n.define(scores, 3);
  if (cap > 0) scores = mapped(c, scores, "math::tanh(x * " + literal(1 / cap) + ") * " + literal(cap));
  if (shown == 1) n.define(scores, 3);
  view masked;
  scores = weights_of(n, scores, n.has(past_key) ? n.dims(past_key)[2] : 0, masked);
  if (shown == 2) n.define(masked, 3);
  if (shown == 3) n.define(scores, 3);
  view const y = matrix_product(c, scores, v);
  if (n.wants(0)) n.define(flat ? with_dims(c, transposed(y, {0, 2, 1, 3}), n.out_dims()) : y);
}

/// The patch size of a tensor {places, patches, channels} that is an image in memory; attention is then among pixels at
/// the same place of all patches. Nothing if the layout is different.
std::optional<extent2> patch_of(builder const& net, view const& x) {
  layout const l = simplified(x.how);
  shape const s = net.dims(x.value);
  std::vector<int> axes;
  std::vector<std::int64_t> sizes;
  for (int atom : l.memory) {
    axes.push_back(l.axis[std::size_t(atom)]);
    sizes.push_back(l.atoms[std::size_t(atom)]);
  }
  if (s.n == 1) axes.insert(axes.begin(), 0), sizes.insert(sizes.begin(), 1);
  if (l.rank() != 3 || axes != std::vector<int>{0, 1, 0, 1, 0, 2}) return {};
  if (sizes[0] != s.n || sizes[1] * sizes[2] != s.h || sizes[3] * sizes[4] != s.w) return {};
  return extent2(int(sizes[2]), int(sizes[4]));
}

/// The value whose channels consist of the three `parts`, as computed by one linear layer. -1: there is none.
int whole_of(builder const& net, std::vector<int> const& parts) {
  int whole = -1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    call const& part = net.at(parts[i]);
    auto const* s = std::get_if<slice>(&part.what);
    if (!s || s->axis != ago::axis::channels || s->step != 1 || s->begin != int(i) * s->count) return -1;
    if (i > 0 && part.operands[0] != whole) return -1;
    whole = part.operands[0];
  }
  return net.dims(whole).c == 3 * net.dims(parts[0]).c ? whole : -1;
}

int attend(builder& net, attention const& layer, std::vector<int> const& parts) {
  int const whole = whole_of(net, parts);
  return net.apply(layer, whole >= 0 ? std::vector<int>{whole} : parts);
}

/// ago's own attention layer, of queries, keys and values {images, tokens, channels}, perhaps with other dims.
void multi_head_attention(node_reader const& n) {
  builder& net = n.c.net;
  attention layer{.heads = int(n.integer("heads", 1)), .scale = n.real("scale", 1)};
  std::int64_t const images = n.integer("images", 1), channels = n.integer("channels", 1);
  if (std::fabs(layer.scale * std::sqrt(float(channels / layer.heads)) - 1) < 1e-6f) layer.scale = 0;
  auto const tokens_of = [&](int i) {
    return with_dims(n.c, n.x(i), {images, product(n.dims(i)) / (images * channels), channels});
  };
  view const q = tokens_of(0), k = tokens_of(1), v = tokens_of(2);
  bool const alike = k.how == q.how && v.how == q.how;
  if (auto const patch = patch_of(net, q);
      patch && alike && net.dims(k.value) == net.dims(q.value) && net.dims(v.value) == net.dims(q.value)) {
    layer.patch = *patch;
    view const y{attend(net, layer, {q.value, k.value, v.value}), q.how};
    return n.define(with_dims(n.c, y, n.out_dims()));
  }
  std::vector<int> tokens;
  for (view const& x : {q, k, v}) tokens.push_back(placed(net, x, {{0}, {}, {1}, {2}}).value);
  n.define({attend(net, layer, tokens), row_major(n.out_dims())});
}

/// Rotates pairs of channels by the angles of their token: (a, b) becomes (a cos - b sin, a sin + b cos).
void rotary_embedding(node_reader const& n) {
  context& c = n.c;
  bool const flat = n.dims().size() == 3, interleaved = n.integer("interleaved", 0) != 0;
  view x = n.x();
  if (!flat) x = transposed(x, {0, 2, 1, 3});
  else {
    std::int64_t const heads = n.integer("num_heads", 0);
    if (heads < 1) throw unsupported("num_heads is missing");
    x = with_dims(c, x, {n.dims()[0], n.dims()[1], heads, n.dims()[2] / heads});
  }
  extents const d = x.how.dims;  // images, tokens, heads, depth
  std::int64_t const rotary = n.integer("rotary_embedding_dim", 0), turned = rotary > 0 ? rotary : d[3],
                     half = turned / 2;
  if (turned > d[3] || turned % 2 != 0) throw unsupported("rotary_embedding_dim does not fit its heads");
  auto const table = [&](int input) {
    auto const values = n.reals(input, "its table of angles");
    std::vector<float> r;
    if (!n.has(3)) return values;
    std::int64_t const rows = std::int64_t(values.size()) / half;
    auto const positions = n.integers(3, "position_ids");
    c.net.afford({std::int64_t(positions.size()), half});
    for (std::int64_t position : positions) {
      if (position < 0 || position >= rows) throw unsupported("position_ids has a number beyond its tables");
      auto const row = values.begin() + std::ptrdiff_t(position * half);
      r.insert(r.end(), row, row + std::ptrdiff_t(half));
    }
    return r;
  };
  auto const cosines = table(1), sines = table(2);
  extents const angles{std::int64_t(cosines.size()) / (d[1] * half), d[1], 1, half};
  if (product(angles) != std::int64_t(cosines.size()) || (angles[0] != 1 && angles[0] != d[0]) ||
      sines.size() != cosines.size())
    throw unsupported("its tables of angles do not fit its operand");
  std::int64_t const step = interleaved ? 2 : 1;
  view const a = sliced(c, x, 3, 0, half, step), b = sliced(c, x, 3, interleaved ? 1 : half, half, step);
  auto const times = [&](view const& v, std::vector<float> const& k) {
    return combined(c, arithmetic::multiply, v, angles, k);
  };
  view const first = combined(c, arithmetic::subtract, times(a, cosines), times(b, sines));
  view const second = combined(c, arithmetic::add, times(a, sines), times(b, cosines));
  view y = joined(c, {first, second}, 3);
  if (interleaved)
    y = with_dims(c, transposed(with_dims(c, y, {d[0], d[1], d[2], 2, half}), {0, 1, 2, 4, 3}),
                  {d[0], d[1], d[2], turned});
  if (turned < d[3]) y = joined(c, {y, sliced(c, x, 3, turned, d[3] - turned)}, 3);
  n.define(flat ? with_dims(c, y, n.out_dims()) : transposed(y, {0, 2, 1, 3}));
}

}  // namespace

void add_attention_rules(rule_table& t) {
  t["Attention"] = attention_rule;
  t["MultiHeadAttention"] = multi_head_attention;
  t["RotaryEmbedding"] = rotary_embedding;
}

}  // namespace ago::importer
