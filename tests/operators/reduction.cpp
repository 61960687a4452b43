// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes recorded for reductions.
#include "network/recorded.hpp"

#include <ago/layers/layers.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using graph_test::run_time_trace;

namespace {

/// The only node that a layer adds to a value of shape {2, 6, 8, 12}.
node recorded(layer auto const& l) { return graph_test::recorded_after({.n = 2, .h = 6, .w = 8, .c = 12}, l); }

}  // namespace

TEST_CASE("a reduction makes the extents of its axes 1, by default all but the images") {
  CHECK(recorded(reduce_sum{}).out == shape{2, 1, 1, 1});
  CHECK(recorded(reduce_mean{axis::channels}).out == shape{2, 6, 8, 1});
  CHECK(recorded(reduce_max{{axis::images, axis::rows}}).out == shape{1, 1, 8, 12});
  CHECK(recorded(reduce_min{axis::columns}).out == shape{2, 6, 1, 12});
  CHECK(recorded(reduce_product{{axis::images, axis::rows, axis::columns, axis::channels}}).out == shape{1, 1, 1, 1});
  CHECK(recorded(reduce_sum{{axis::rows, axis::columns}}).kind == op::reduce_sum);
  CHECK(recorded(reduce_min{axis::rows}).kind == op::reduce_min);
  CHECK(recorded(reduce_product{axis::rows}).kind == op::reduce_product);
}

TEST_CASE("means and maxima of whole images are global pooling") {
  CHECK(recorded(reduce_mean{{axis::rows, axis::columns}}).kind == op::global_avg_pool);
  CHECK(recorded(reduce_max{{axis::rows, axis::columns}}).kind == op::global_max_pool);
  CHECK(recorded(reduce_mean{{axis::rows, axis::columns, axis::channels}}).kind == op::reduce_mean);
  CHECK(recorded(reduce_max{axis::rows}).kind == op::reduce_max);
}

TEST_CASE("the index of the largest element is found along the channels; other axes are exchanged with them") {
  CHECK(recorded(arg_max{}).out == shape{2, 6, 8, 1});
  CHECK_FALSE(recorded(arg_max{}).last_of_equals);
  CHECK(recorded(arg_max{.last = true}).last_of_equals);
  run_time_trace t;
  tensor const x = t.add({.n = 2, .h = 6, .w = 8, .c = 12});
  CHECK((x | arg_max{axis::rows}).dims() == shape{2, 1, 8, 12});
  CHECK((x | arg_max{axis::images}).dims() == shape{1, 6, 8, 12});
  CHECK(t.recorder.nodes.size == 7);
  (void)(t.add({.w = (1 << 24) + 1}) | arg_max{axis::columns});
  CHECK(t.recorder.bad.what == fault::too_many_elements);
}
