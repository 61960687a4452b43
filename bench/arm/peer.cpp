// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one network with another engine, without the changes of layout at its edges.
//
// usage: PROGRAM RESULTS ENGINE [CHOICE]    exit code 77: the engine is not there, or refuses the network
#include "../peers/peer.hpp"
#include "mark.hpp"
#include "program.hpp"

int main(int count, char** words) {
  if (count < 3) return 2;
  std::string const engine = words[2], choice = count > 3 ? words[3] : "";
  for (bench::peer_option const& option : bench::peer_options()) {
    if (option.engine != engine || option.choice != choice) continue;
    ruler::problem const p;
    float* const in = p.in.data();
    float* const out = p.out.data();
    try {
      bench::layer_list const layers = bench::fuse_layers(p.graph, p.parameters);
      std::unique_ptr<bench::peer> const peer = option.load(layers, {{&in, 1}, {&out, 1}}, 1);
      peer->run();
      ruler::warm_up();
      for (int k = 0; k < ruler::warm_runs; ++k) peer->run_layer();
      ruler::begin_step(0);
      peer->run_layer();
      ruler::end_of_steps();
    } catch (bench::unsupported const& why) {
      std::fprintf(stderr, "%s\n", why.what());
      return 77;
    }
    p.save_results(words[1]);
    return EXIT_SUCCESS;
  }
  std::fprintf(stderr, "no %s %s was found when this program was built\n", engine.c_str(), choice.c_str());
  return 77;
}
