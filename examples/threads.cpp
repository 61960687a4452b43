// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network on two threads: divided into work items at compile time, computed by a team.
#include <ago/ago.hpp>
#include <ago/runtime/bind_threads.hpp>
#include <ago/runtime/team.hpp>

#include "networks/bert_tiny.hpp"
#include "networks/mobilevit.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

// [model]
using bert = ago::model<networks::bert_tiny<128>, ago::untuned, ago::threads{2}>;
static_assert(bert::arena_bytes <= 576 << 10);  // known when it is compiled, as for one thread

void classify(bert& net, float const (&tokens)[bert::input_size()], float (&result)[bert::output_size()]) {
  static ago::team workers(2);  // this thread and one more, which waits for the next run
  net(tokens, result, workers);
}
// [/model]

// [bind]
bool use_big_cores(ago::team& workers) {
  constexpr int processors[] = {4, 5};  // numbered as by Linux, one for each thread
  return ago::bind_threads(workers, processors);
}
// [/bind]

// [plan]
using compiled =
    ago::planned<networks::bert_tiny<128>, ago::untuned, ago::options{.target = ago::isa::avx2, .threads = {2}}>;
static_assert(compiled::split_of(4).how == ago::split::channels);  // step 4 is an attention: its heads
static_assert(compiled::split_of(4).pieces == 2);
static_assert(compiled::waits_of(2) == ago::waits::own);  // keys: needs nothing of the queries, step 1
static_assert(compiled::waits_of(4) == ago::waits::all);  // needs both halves of the tokens
// [/plan]

// Larger networks are within compilers' default limits, too.
using mobilevit =
    ago::planned<networks::mobilevit_s<224>, ago::untuned, ago::options{.target = ago::isa::avx512, .threads = {2}}>;
static_assert(mobilevit::arena_bytes < 4 << 20);

int main() {
  static float weights[bert::parameter_count], tokens[bert::input_size()];
  static float alone[bert::output_size()], shared[bert::output_size()];
  for (std::size_t i = 0; i < bert::parameter_count; ++i) weights[i] = float(i % 31) / 160 - .09f;
  for (std::size_t i = 0; i < bert::input_size(); ++i) tokens[i] = float(i % 7);
  static bert net{weights};
  net(tokens, alone);  // without a team: the same work items one after another
  classify(net, tokens, shared);
  bool const equal = std::equal(std::begin(alone), std::end(alone), std::begin(shared));
  std::printf("%d steps, %zu bytes of arena, %s\n", net.steps, net.arena_bytes,
              equal ? "equal to the bit" : "different");
  return equal ? EXIT_SUCCESS : EXIT_FAILURE;
}
