// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of matrix products and attention.
#include "rules.hpp"

namespace ago::onnx::shapes {
namespace {

[[noreturn]] void do_not_fit(site const& s) {
  throw fault{"", "the shapes " + text_of(s.dims(0)) + " and " + text_of(s.dims(1)) + " do not fit together"};
}

/// Queries, keys and values as [batch, heads, length, width], from either of the two forms.
extents heads_of(site const& s, std::size_t i, char const* attribute) {
  extents const& d = s.dims(i);
  if (d.size() == 4) return d;
  if (d.size() != 3) throw fault{"", "its input " + std::to_string(i) + " has the shape " + text_of(d)};
  std::int64_t const heads = s.integer(attribute, 0);
  if (heads < 1 || d[2] % heads != 0) {
    throw fault{attribute, std::to_string(heads) + " heads for " + std::to_string(d[2]) + " channels"};
  }
  return {d[0], heads, d[1], d[2] / heads};
}

}  // namespace

void matmul(site& s) {
  extents a = s.dims(0), b = s.dims(1);
  bool const row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.size() < 2 || b.size() < 2) throw fault{"", "an operand is a scalar"};
  if (a.back() != b[b.size() - 2]) do_not_fit(s);
  extents dims = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b.back());
  s.set(0, dims);
}

void gemm(site& s) {
  if (s.rank(0) != 2 || s.rank(1) != 2) do_not_fit(s);
  bool const ta = s.flag("transA", false), tb = s.flag("transB", false);
  if (s.dims(0)[ta ? 0 : 1] != s.dims(1)[tb ? 1 : 0]) do_not_fit(s);
  extents const dims{s.dims(0)[ta ? 1 : 0], s.dims(1)[tb ? 0 : 1]};
  bool const exactly = s.opset() < 7 && !s.flag("broadcast", false);
  if (s.has_input(2) && (exactly ? s.dims(2) : broadcast(dims, s.dims(2))) != dims) {
    throw fault{"C", "the shape " + text_of(s.dims(2)) + " does not fit " + text_of(dims)};
  }
  s.set(0, dims);
}

void attention(site& s) {
  extents const q = heads_of(s, 0, "q_num_heads"), k = heads_of(s, 1, "kv_num_heads");
  extents const v = heads_of(s, 2, "kv_num_heads");
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || k[2] != v[2] || q[3] != k[3] || k[1] == 0 || q[1] % k[1] != 0) {
    throw fault{"", "queries of " + text_of(q) + ", keys of " + text_of(k) + " and values of " + text_of(v) +
                        " (batch, heads, length, width) do not fit together"};
  }
  std::int64_t past = 0;
  if (s.has_input(4) != s.has_input(5)) throw fault{"past_key", "past_key and past_value come together"};
  if (s.has_input(4)) {
    if (s.rank(4) != 4 || s.rank(5) != 4 || s.dims(4)[2] != s.dims(5)[2]) {
      throw fault{"past_key", "shapes of " + text_of(s.dims(4)) + " and " + text_of(s.dims(5))};
    }
    past = s.dims(4)[2];
  }
  if (s.rank(0) == 4) {
    s.set(0, {q[0], q[1], q[2], v[3]});
  } else {
    check_dims({q[1], v[3]});
    s.set(0, {q[0], q[2], q[1] * v[3]});
  }
  s.set(1, {k[0], k[1], past + k[2], k[3]});
  s.set(2, {v[0], v[1], past + v[2], v[3]});
  s.set(3, {q[0], q[1], q[2], past + k[2]});
}

void rotary_embedding(site& s) {
  extents const x = heads_of(s, 0, "num_heads");
  if (x[3] % 2 != 0) throw fault{"", "its heads have an odd width of " + std::to_string(x[3])};
  s.set(0, s.dims(0));
}

}  // namespace ago::onnx::shapes
