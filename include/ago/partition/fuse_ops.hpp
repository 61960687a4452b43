// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TVM's FuseOps: operators join their post-dominators, by patterns (Chen et al., OSDI 2018; the pass of that name in
// Relay).
#pragma once

#include <ago/partition/device.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/partition/pattern.hpp>
#include <ago/passes/opening.hpp>

namespace ago::partition {

struct fuse_ops_options {
  int level = 3;            ///< 0: nothing is fused; 1 to 4: equivalent in this pass
  int max_operators = 256;  ///< of a group
  int max_arguments = 0;    ///< values and constants that a group reads, network inputs once per reader;
                            ///< 0: any number
};

/// Immediate post-dominators: the nearest operator that every path from here passes through.
template <int V>
struct post_dominators {
  array_of<int, slots<V>> of{};  ///< -1: none
  array_of<int, slots<V>> depth{};
  array_of<pattern, slots<V>> way{};  ///< the most complex pattern on the way there
};

/// Groups that grow towards post-dominators. The representative of a group is its last operator.
template <int V, int E>
struct fuser {
  pattern_graph<V, E> const& g;
  array_of<int, slots<V>> outs{};
  array_of<int, slots<E>> out_next{}, to{};  // edges by operand
  post_dominators<V> post;
  array_of<int, slots<V>> up{}, size{};
  array_of<pattern, slots<V>> kind{};  // of the group whose last operator this is or was
  array_of<bool, slots<V>> anchored{};
  array_of<int, slots<V>> stack{}, mark{};
  int stamp{};

  constexpr explicit fuser(pattern_graph<V, E> const& graph) : g(graph) {
    dag<V, E> const& d = g.operators;
    for (int v = 0; v < d.count; ++v) {
      outs[v] = up[v] = -1;
      size[v] = 1;
      kind[v] = g.kind[v];
      anchored[v] = kind[v] == pattern::fusable_out;
      for (int e = d.first[v]; e < d.first[v + 1]; ++e) {
        to[e] = v;
        out_next[e] = outs[d.source[e]];
        outs[d.source[e]] = e;
      }
    }
    for (int v = d.count - 1; v >= 0; --v) dominate(v);
  }

  static constexpr pattern worse(pattern a, pattern b) { return a > b ? a : b; }
  constexpr int find(int v) const {
    while (up[v] >= 0) v = up[v];
    return v;
  }

  /// The last common ancestor of the readers. A network output has to be stored, so nothing post-dominates it.
  constexpr void dominate(int v) {
    int p = -1;
    pattern way = pattern::elementwise;
    if (!g.kept[v] && outs[v] >= 0) {
      p = to[outs[v]];
      ++stamp;  // marks what has been passed, so that no path is followed twice
      auto const pass = [&](int x) {
        mark[x] = stamp;
        way = worse(way, post.way[x]);
        return post.of[x];
      };
      for (int e = outs[v]; e >= 0; e = out_next[e]) {
        way = worse(way, g.edge[e]);
        for (int q = to[e]; p >= 0 && p != q && !(q >= 0 && mark[q] == stamp);) {
          int const lead = q < 0 ? 0 : post.depth[p] - post.depth[q];
          bool const from_p = q >= 0 && lead >= 0, from_q = q >= 0 && lead <= 0;
          if (from_p) p = pass(p);
          if (from_q) q = pass(q);
          if (!from_p && !from_q) p = -1;
        }
      }
    }
    post.of[v] = p;
    post.depth[v] = p < 0 ? 1 : post.depth[p] + 1;
    post.way[v] = p < 0 ? pattern::opaque : way;
  }

  /// If so, nothing lies between v and its post-dominator.
  constexpr bool has_one_reader(int v) const { return out_next[outs[v]] < 0; }

  /// Calls visit(x) for all operators between v and its post-dominator, once each, until it returns false.
  constexpr bool between(int v, auto const& visit) {
    int const sink = post.of[v];
    ++stamp;
    mark[v] = mark[sink] = stamp;
    int waiting = 0;
    stack[waiting++] = v;
    while (waiting > 0) {
      int const x = stack[--waiting];
      for (int e = outs[x]; e >= 0; e = out_next[e]) {
        if (mark[to[e]] == stamp) continue;
        mark[to[e]] = stamp;
        if (!visit(to[e])) return false;
        stack[waiting++] = to[e];
      }
    }
    return true;
  }

  /// Are all groups between v and its post-dominator at most `limit`? Without `tuples`, that is, before concatenations
  /// are fused, none of them may be a tuple.
  constexpr bool passes(int v, pattern limit, bool tuples) {
    return has_one_reader(v) || between(v, [&](int x) { return kind[find(x)] <= limit && (tuples || !g.tuple[x]); });
  }

  constexpr bool fits(int v, fuse_ops_options const& o) {
    int count = size[find(post.of[v])] + size[v];
    if (!has_one_reader(v))
      between(v, [&](int x) {
        count += size[x];
        return true;
      });
    return count <= o.max_operators && (o.max_arguments <= 0 || arguments(v) <= o.max_arguments);
  }

  /// The number of values and constants that the fused group would read.
  constexpr int arguments(int v) {
    dag<V, E> const& d = g.operators;
    array_of<bool, slots<V>> inside{}, read{};
    inside[find(post.of[v])] = true;
    inside[find(v)] = true;
    between(v, [&](int x) { return inside[find(x)] = true; });
    int n = 0;
    for (int x = 0; x < d.count; ++x) {
      if (!inside[find(x)]) continue;
      n += g.constants[x];
      for (int e = d.first[x]; e < d.first[x + 1]; ++e) {
        int const u = d.source[e];
        n += !inside[find(u)] && !read[u];
        read[u] = true;
      }
    }
    return n;
  }

  constexpr void join(int a, int b) {
    a = find(a), b = find(b);
    if (a == b) return;
    size[b] += size[a];
    up[a] = b;
    if (!anchored[a]) return;
    anchored[b] = true;
    kind[b] = worse(kind[a], kind[b]);
  }

  constexpr void fuse(int v, fuse_ops_options const& o) {
    if (!fits(v, o)) return;
    int const sink = post.of[v];
    join(v, sink);
    if (!has_one_reader(v))
      between(v, [&](int x) {
        join(x, sink);
        return true;
      });
  }

  /// Phase 0: elementwise operators, and operators that accept them afterwards; 1: injective ones; 2: operands of
  /// tuples.
  constexpr void run(int phase, fuse_ops_options const& o) {
    for (int v = 0; v < g.operators.count; ++v) {
      int const sink = post.of[v];
      if (sink < 0 || kind[v] == pattern::opaque) continue;
      bool const collected = g.tuple[sink];
      if (phase == 2) {
        if (collected && kind[v] <= pattern::injective && kind[find(sink)] <= pattern::injective &&
            passes(v, pattern::injective, true))
          fuse(v, o);
        continue;
      }
      if (collected || find(v) == find(sink)) continue;
      bool allowed = false;
      if (kind[v] == pattern::fusable_out)
        allowed = phase == 0 && post.way[v] == pattern::elementwise && kind[find(sink)] <= pattern::broadcast &&
                  passes(v, pattern::broadcast, false);
      else if (kind[v] <= pattern::broadcast)
        allowed = post.way[v] <= pattern::reduction && kind[find(sink)] != pattern::opaque &&
                  passes(v, pattern::injective, false);
      else if (kind[v] == pattern::injective)
        allowed = phase == 1 && kind[find(sink)] <= pattern::injective && passes(v, pattern::injective, false);
      if (allowed) fuse(v, o);
    }
  }
};

/// The groups of FuseOps. An operator joins its immediate post-dominator, with everything in between, if the patterns
/// on the way allow it; every path out of it leads there, so no cycle arises.
template <int V, int E>
constexpr grouping<V> fuse_ops(pattern_graph<V, E> const& g, fuse_ops_options const& o = {}) {
  partition::fuser<V, E> f(g);
  for (int phase = 0; phase < 3 && o.level > 0; ++phase) f.run(phase, o);
  array_of<int, slots<V>> rep{};
  for (int v = 0; v < g.operators.count; ++v) rep[v] = f.find(v);
  return grouping_by<V>(rep, g.operators.count);
}

/// FuseOps as a policy: its groups are both the subgraphs and the mini-subgraphs, and each is computed by itself.
template <int V, int E, int O>
constexpr partitions<V> fuse_ops_partition(graph<V, E, O> const& g, fuse_ops_options const& o = {}) {
  pattern_graph<V, E> const p = patterns_of(g, dag_of(g));
  grouping<V> const groups = fuse_ops(p, o);
  partitions<V> r = ordered(g, p.operators, groups, groups);
  for (int v = 0; v < g.node_count; ++v) r.chain_of[v] = r.minis.of[v];
  r.intensive = false;
  return r;
}

/// TVM's policy, on Relay's graphs, in which softmax is one operator.
struct fuse_ops_policy {
  static constexpr char const* name = "fuse-ops";
  static constexpr opening opens{.softmax = false};
  static constexpr auto partition(auto const& g, device const&) { return fuse_ops_partition(g); }
};

}  // namespace ago::partition
