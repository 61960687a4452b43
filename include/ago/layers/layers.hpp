// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All layers: operators, and what is composed of them.
#pragma once

#include <ago/layers/attention.hpp>
#include <ago/layers/dropout.hpp>
#include <ago/layers/norms.hpp>
#include <ago/layers/pixels.hpp>
#include <ago/layers/transposed_convolution.hpp>
#include <ago/operators/operators.hpp>
