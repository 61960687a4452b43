// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "networks.hpp"

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <algorithm>

namespace ago::tools {
namespace {

/// A network for square images of whatever size, made of one for images of 224 pixels a side.
template <class Network>
known_network of_images(char const* name, Network const& net) {
  return {name, "pixels a side", 224, [net](int size) {
            Network sized = net;
            sized.inputs[0].h = sized.inputs[0].w = size;
            return trace_now(sized);
          }};
}

template <class Network>
known_network of_tokens(char const* name, Network const& net) {
  return {name, "tokens", 128, [net](int size) {
            Network sized = net;
            sized.inputs[0].w = size;
            return trace_now(sized);
          }};
}

}  // namespace

std::vector<known_network> const& known_networks() {
  static std::vector<known_network> const all{
      of_images("mobilenet_v2", networks::mobilenet_v2<224>),
      of_images("mnasnet", networks::mnasnet<224>),
      of_images("squeezenet", networks::squeezenet<224>),
      of_images("shufflenet_v2", networks::shufflenet_v2<224>),
      of_images("mobilevit_s", networks::mobilevit_s<224>),
      of_tokens("bert_tiny", networks::bert_tiny<128>),
  };
  return all;
}

known_network const* find_network(std::string_view name) {
  auto const& all = known_networks();
  auto const found = std::find_if(all.begin(), all.end(), [&](known_network const& n) { return n.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace ago::tools
