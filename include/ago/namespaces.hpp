// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folders as namespaces, and whose names each may use: those of the namespaces given here, and what these may use.
// Users write names of `ago`; a header of a folder adds those of its own in its last lines.
#pragma once

namespace ago {

/// Operators, nodes and graphs.
namespace ir {}
/// Recording of layers while a network is traced: the folders tracing/ and layers/, and what operators/ records.
/// (Layers are names of `ago`. A namespace `layers` or `network` would hide what users call so.)
namespace tracing {
using namespace ir;
}
/// The index expressions of operators: the folder operators/.
namespace described {
using namespace tracing;
}
/// Networks as they are written, and their graphs: the folder network/.
namespace lowering {
using namespace tracing;
}
/// What the graph is rewritten by.
namespace passes {
using namespace lowering;
}
/// Which operators compute an index expression, and the recording of a user's own.
namespace recognition {
using namespace tracing;
}
/// Subgraphs and chains, devices, prices, policies.
namespace partition {
using namespace passes;
}
/// Registers of every instruction set.
namespace simd {
using namespace ir;
}
/// Families of kernels.
namespace kernel {}
/// Steps and their memory, schedules, options. What it needs of kernels are their units, layouts and schedules.
namespace plan {
using namespace partition;
using namespace kernel;
}  // namespace plan
namespace kernel {
using namespace plan;
using namespace simd;
}  // namespace kernel
/// Programs, models and teams of threads.
namespace runtime {
using namespace kernel;
}
/// Gradients, losses and optimizers.
namespace learning {
using namespace recognition;
using namespace runtime;
}  // namespace learning
/// The search for faster schedules.
namespace tuner {
using namespace runtime;
}
/// Dynamic mode.
namespace live {
using namespace learning;
using namespace tuner;
}  // namespace live

}  // namespace ago
