// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All layers.
#pragma once

#include <ago/graph/activations.hpp>
#include <ago/graph/arithmetic.hpp>
#include <ago/graph/attention.hpp>
#include <ago/graph/convolutions.hpp>
#include <ago/graph/dropout.hpp>
#include <ago/graph/elementwise.hpp>
#include <ago/graph/movement.hpp>
#include <ago/graph/norms.hpp>
#include <ago/graph/padding.hpp>
#include <ago/graph/pixels.hpp>
#include <ago/graph/pooling.hpp>
#include <ago/graph/reductions.hpp>
#include <ago/graph/resizing.hpp>
#include <ago/graph/transposed_convolution.hpp>
