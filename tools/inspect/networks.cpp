// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "networks.hpp"

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <algorithm>

// The headers.
#define AGO_HEADER(name) extern "C" unsigned char const network_##name[], network_##name##_end[];
AGO_HEADER(bert_tiny)
AGO_HEADER(mnasnet)
AGO_HEADER(mobilenet_v2)
AGO_HEADER(mobilevit)
AGO_HEADER(shufflenet_v2)
AGO_HEADER(squeezenet)
#undef AGO_HEADER

namespace ago::tools {
namespace {

std::string_view text_of(unsigned char const* begin, unsigned char const* end) {
  return {reinterpret_cast<char const*>(begin), std::size_t(end - begin)};
}
#define AGO_HEADER(name) text_of(network_##name, network_##name##_end)

/// Derives a network for square images of any size from one for images of 224 x 224 pixels.
template <auto const& Net>
known_network of_images(char const* name, std::string_view header) {
  return {name, "pixels a side", 224, std::string("networks::") + name, header, [](int size) {
            auto sized = Net;
            sized.inputs[0].h = sized.inputs[0].w = size;
            return trace_now<Net>(sized);
          }};
}

template <auto const& Net>
known_network of_tokens(char const* name, std::string_view header) {
  return {name, "tokens", 128, std::string("networks::") + name, header, [](int size) {
            auto sized = Net;
            sized.inputs[0].w = size;
            return trace_now<Net>(sized);
          }};
}

}  // namespace

std::vector<known_network> const& known_networks() {
  static std::vector<known_network> const all{
      of_images<networks::mobilenet_v2<224>>("mobilenet_v2", AGO_HEADER(mobilenet_v2)),
      of_images<networks::mnasnet<224>>("mnasnet", AGO_HEADER(mnasnet)),
      of_images<networks::squeezenet<224>>("squeezenet", AGO_HEADER(squeezenet)),
      of_images<networks::shufflenet_v2<224>>("shufflenet_v2", AGO_HEADER(shufflenet_v2)),
      of_images<networks::mobilevit_s<224>>("mobilevit_s", AGO_HEADER(mobilevit)),
      of_tokens<networks::bert_tiny<128>>("bert_tiny", AGO_HEADER(bert_tiny)),
  };
  return all;
}
#undef AGO_HEADER

known_network const* find_network(std::string_view name) {
  auto const& all = known_networks();
  auto const found = std::find_if(all.begin(), all.end(), [&](known_network const& n) { return n.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace ago::tools
