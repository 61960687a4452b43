// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All layers.
#pragma once

#include <ago/layers/activations.hpp>
#include <ago/layers/arithmetic.hpp>
#include <ago/layers/attention.hpp>
#include <ago/layers/convolutions.hpp>
#include <ago/layers/dropout.hpp>
#include <ago/layers/elementwise.hpp>
#include <ago/layers/movement.hpp>
#include <ago/layers/norms.hpp>
#include <ago/layers/padding.hpp>
#include <ago/layers/pixels.hpp>
#include <ago/layers/pooling.hpp>
#include <ago/layers/reductions.hpp>
#include <ago/layers/resizing.hpp>
#include <ago/layers/transposed_convolution.hpp>
