// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of examples/ exported by PyTorch and imported again: the inspector gives the same results as for those
// written by hand.
#include "onnx/files.hpp"

#include <model_file.hpp>
#include <recorded.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <span>

namespace {

using namespace ago::tools;
namespace importer = ago::importer;
namespace fs = std::filesystem;

/// False if PyTorch is missing.
bool exported(std::string const& name, int size, fs::path const& file) {
  std::string const command = std::string(AGO_PYTHON) + " -B " + AGO_SOURCE_DIR + "/bench/peers/export_onnx.py " +
                              name + " " + std::to_string(size) + " - " + file.string();
  return std::system(command.c_str()) == 0;
}

void check_equal(inspection const& a, inspection const& b) {
  CHECK(a.operators() == b.operators());
  CHECK(a.steps.size() == b.steps.size());
  CHECK(a.arena_bytes == b.arena_bytes);
  CHECK(a.weight_bytes == b.weight_bytes);
  CHECK(a.cycles() == b.cycles());
  auto const &x = a.statistics, &y = b.statistics;
  CHECK(x.groups == y.groups);
  CHECK(x.trivial == y.trivial);
  CHECK(x.mean == y.mean);
  CHECK(x.median == y.median);
  CHECK(x.jain == y.jain);
  CHECK(x.most_complex == y.most_complex);
  CHECK((x.pairs == y.pairs && x.possible_pairs == y.possible_pairs));
  CHECK((x.triples == y.triples && x.possible_triples == y.possible_triples));
  CHECK((x.broken_epilogues == y.broken_epilogues && x.epilogues == y.epilogues));
  CHECK(x.bytes_removed == y.bytes_removed);
}

constexpr ago::layout channels_last[]{ago::layout::nhwc}, either[]{ago::layout::nhwc, ago::layout::nchw};

/// `layouts`: layouts of the network's input, checked one after another.
template <auto const& Net>
void check_network(char const* name, int size, std::span<ago::layout const> layouts) {
  CAPTURE(name);
  ago_test::temporary_folder const folder;
  fs::path const file = folder.path() / "model.onnx";
  if (!exported(name, size, file)) {
    MESSAGE("skipped: PyTorch could not write " << name);
    return;
  }
  for (ago::layout const memory : layouts) {
    auto by_hand = Net;
    by_hand.inputs[0].layout = memory;
    auto const g = trace_now<Net>(by_hand);
    importer::model_words const model{.file = file, .channels_last = memory == ago::layout::nhwc};
    for (ago::policy const p : {ago::policy::ago, ago::policy::fuse_ops}) {
      CAPTURE(name_of(p));
      check_equal(inspect_model(model, {{.policy = p}}).front(), inspect(g->value, {.policy = p}));
    }
  }
}

}  // namespace

TEST_CASE("exported networks are partitioned like those written by hand") {
  check_network<networks::mobilenet_v2<224>>("mobilenet_v2", 224, either);
  check_network<networks::mnasnet<224>>("mnasnet", 224, either);
  check_network<networks::squeezenet<224>>("squeezenet", 224, either);
  check_network<networks::mobilevit_s<256>>("mobilevit_s", 256, either);
  check_network<networks::bert_tiny<128>>("bert_tiny", 128, channels_last);
  check_network<networks::shufflenet_v2<224>>("shufflenet_v2", 224, either);
}
