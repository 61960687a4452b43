// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ago: neural networks as C++ expressions, compiled into fast code for one CPU.
#pragma once

#include <ago/requirements.hpp>
#include <ago/simd/standard_functions.hpp>

#include <ago/layers/algebra.hpp>
#include <ago/layers/layers.hpp>
#include <ago/network/network.hpp>
#include <ago/network/parameters.hpp>
#include <ago/network/parts.hpp>
#include <ago/runtime/model.hpp>
#include <ago/version.hpp>
