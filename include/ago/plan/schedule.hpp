// How one step is computed: what the tuner searches, and what the analytic default answers without it.
#pragma once

namespace ago {

/// Free choices of one step. 0: the analytic default decides.
struct schedule {
  int pixels = 0;   ///< register tile: output pixels (pointwise, convolution), output columns (depthwise)
  int vectors = 0;  ///< register tile: vectors of output channels (pointwise, convolution), output rows (depthwise)
  int block = 0;    ///< cache tile, see step_data::block
  bool operator==(schedule const&) const = default;
};

}  // namespace ago
