// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peer.hpp"

#include <algorithm>
#include <numeric>

namespace bench {

#if AGO_BENCH_XNNPACK
std::unique_ptr<peer> load_xnnpack(layer_list const&, peer_memory, int threads);
#endif
#if AGO_BENCH_ONEDNN
std::unique_ptr<peer> load_onednn_blocked(layer_list const&, peer_memory, int threads);
std::unique_ptr<peer> load_onednn_nhwc(layer_list const&, peer_memory, int threads);
std::unique_ptr<peer> load_onednn_any(layer_list const&, peer_memory, int threads);
#endif
#if AGO_BENCH_NCNN
std::unique_ptr<peer> load_ncnn(layer_list const&, peer_memory, int threads);
std::unique_ptr<peer> load_ncnn_little(layer_list const&, peer_memory, int threads);
#endif

std::vector<peer_option> peer_options() {
  return {
#if AGO_BENCH_XNNPACK
      {"xnnpack", "nhwc", load_xnnpack},
#endif
#if AGO_BENCH_ONEDNN
      {"onednn", "blocked", load_onednn_blocked},
      {"onednn", "nhwc", load_onednn_nhwc},
      {"onednn", "any", load_onednn_any},
#endif
#if AGO_BENCH_NCNN
      {"ncnn", "", load_ncnn},
#if defined(__aarch64__)
      {"ncnn", "little", load_ncnn_little},
#endif
#endif
  };
}

placement place(std::span<lifetime const> pieces) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return pieces[a].bytes != pieces[b].bytes ? pieces[a].bytes > pieces[b].bytes : a < b;
  });
  placement result{.offsets = std::vector<std::size_t>(pieces.size())};
  std::vector<std::size_t> placed;  // by offset
  for (std::size_t const i : order) {
    std::size_t const bytes = (pieces[i].bytes + 63) / 64 * 64;
    std::size_t offset = 0;
    for (std::size_t const j : placed) {
      if (pieces[j].last < pieces[i].first || pieces[i].last < pieces[j].first) continue;
      if (offset + bytes <= result.offsets[j]) break;
      offset = std::max(offset, result.offsets[j] + (pieces[j].bytes + 63) / 64 * 64);
    }
    result.offsets[i] = offset;
    result.bytes = std::max(result.bytes, offset + bytes);
    auto const by_offset = [&](std::size_t a, std::size_t b) { return result.offsets[a] < result.offsets[b]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i, by_offset), i);
  }
  return result;
}

}  // namespace bench
