// The operator Attention, as products of matrices with a softmax between them.
#include "arithmetic.hpp"
#include "movement.hpp"

#include <cmath>
#include <limits>

namespace ago::importer {

namespace {

enum input_of_attention { q_input, k_input, v_input, mask_input, past_key, past_value, lengths };

/// {n, tokens, heads * depth} as {n, heads, tokens, depth}.
view by_heads(context& c, view x, std::int64_t heads) {
  if (x.how.rank() == 4) return x;
  extents const d = x.how.dims;
  return transposed(with_dims(c, x, {d[0], d[1], heads, d[2] / heads}), {0, 2, 1, 3});
}

/// Each head of keys or values serves several heads of queries.
view repeated_heads(context& c, view x, std::int64_t heads) {
  extents const d = x.how.dims;
  if (d[1] == heads) return x;
  x = expanded(c, with_dims(c, x, {d[0], d[1], 1, d[2], d[3]}), {d[0], d[1], heads / d[1], d[2], d[3]});
  return with_dims(c, x, {d[0], heads, d[2], d[3]});
}

view with_past(node_reader const& n, view x, int past, int present) {
  if (n.has(past)) x = joined(n.c, {n.x(past), x}, 2);
  if (present < int(n.op.outputs.size()) && n.op.outputs[std::size_t(present)] >= 0) n.define(x, present);
  return x;
}

/// What is added to scores: 0 where a query may look, minus infinity where it may not.
view causal(node_reader const& n, view scores, std::int64_t past) {
  extents const d = scores.how.dims;
  bool const by_length = n.has(lengths);
  bool const looks_back = n.integer("is_causal", 0) != 0;
  std::vector<std::int64_t> lengths_of(1, d[3]);
  if (by_length) lengths_of = n.integers(lengths, "nonpad_kv_seqlen");
  if (!looks_back && !by_length) return scores;
  std::vector<float> mask;
  for (std::int64_t length : lengths_of)
    for (std::int64_t i = 0; i < d[2]; ++i)
      for (std::int64_t k = 0; k < d[3]; ++k) {
        std::int64_t const offset = by_length ? length - d[2] : past;
        bool const hidden = (looks_back && k > i + offset) || (by_length && k >= length);
        mask.push_back(hidden ? -std::numeric_limits<float>::infinity() : 0.f);
      }
  return combined(n.c, arithmetic::add, scores, {std::int64_t(lengths_of.size()), 1, d[2], d[3]}, mask);
}

view masked(node_reader const& n, view scores) {
  if (!n.has(mask_input)) return scores;
  constexpr float far = -1e30f;
  bool const truth = n.c.model.values[std::size_t(n.input(mask_input))].type == onnx::element::integer;
  extents dims = n.dims(mask_input);
  std::int64_t const missing = scores.how.dims[3] - dims.back();
  if (n.known(mask_input)) {
    auto mask = n.reals(mask_input, "");
    if (missing > 0) throw unsupported("a constant mask that is shorter than the keys");
    if (truth)
      for (float& m : mask) m = m != 0 ? 0 : far;
    return combined(n.c, arithmetic::add, scores, dims, mask);
  }
  view mask = n.x(mask_input);
  if (truth) mask = mapped(n.c, mask, "(x - 1.f) * 1e30f");
  if (missing > 0) mask = padded(n.c, mask, mask.how.rank() - 1, 0, missing, far);
  return combined(n.c, arithmetic::add, scores, mask);
}

void attention_rule(node_reader const& n) {
  context& c = n.c;
  bool const flat = n.dims(q_input).size() == 3;
  std::int64_t const heads = flat ? n.integer("q_num_heads", 1) : n.dims(q_input)[1];
  std::int64_t const kv_heads = flat ? n.integer("kv_num_heads", 1) : n.dims(k_input)[1];
  view const q = by_heads(c, n.x(q_input), heads);
  view const k = repeated_heads(c, with_past(n, by_heads(c, n.x(k_input), kv_heads), past_key, 1), heads);
  view const v = repeated_heads(c, with_past(n, by_heads(c, n.x(v_input), kv_heads), past_value, 2), heads);

  float const scale = n.real("scale", 1 / std::sqrt(float(q.how.dims[3]))), cap = n.real("softcap", 0);
  view scores = matrix_product(c, unary(c, q, affine{scale, 0}), transposed(k, {0, 1, 3, 2}));
  std::int64_t const shown = n.op.outputs.size() > 3 && n.op.outputs[3] >= 0 ? n.integer("qk_matmul_output_mode", 0) : -1;
  if (shown == 0) n.define(scores, 3);
  if (cap > 0) scores = mapped(c, scores, "math::tanh(x * " + literal(1 / cap) + ") * " + literal(cap));
  if (shown == 1) n.define(scores, 3);
  scores = masked(n, causal(n, scores, n.has(past_key) ? n.dims(past_key)[2] : 0));
  if (shown == 2) n.define(scores, 3);
  scores = softmax_over(c, scores, {3});
  if (shown == 3) n.define(scores, 3);
  view const y = matrix_product(c, scores, v);
  n.define(flat ? with_dims(c, transposed(y, {0, 2, 1, 3}), n.out_dims()) : y);
}

/// ago's own, of queries, keys and values {n, tokens, channels}.
void multi_head_attention(node_reader const& n) {
  auto const tokens = [&](int i) { return placed(n.c.net, n.x(i), {{0}, {}, {1}, {2}}).value; };
  int const q = tokens(0), k = tokens(1), v = tokens(2), heads = int(n.integer("heads", 1));
  float scale = n.real("scale", 1);
  if (std::fabs(scale * std::sqrt(float(n.dims()[2] / heads)) - 1) < 1e-6f) scale = 0;  // what it is by default
  n.define({n.c.net.apply(attention{.heads = heads, .scale = scale}, {q, k, v}), row_major(n.out_dims())});
}

}  // namespace

void add_attention_rules(rule_table& t) {
  t["Attention"] = attention_rule;
  t["MultiHeadAttention"] = multi_head_attention;
}

}  // namespace ago::importer
