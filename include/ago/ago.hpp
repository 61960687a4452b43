// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ago: neural networks as C++ expressions, compiled into fast code for one CPU.
#pragma once

#include <ago/graph/requirements.hpp>
#include <ago/simd/standard_functions.hpp>

#include <ago/graph/algebra.hpp>
#include <ago/graph/layers.hpp>
#include <ago/graph/network.hpp>
#include <ago/graph/parameters.hpp>
#include <ago/graph/parts.hpp>
#include <ago/model/model.hpp>
#include <ago/version.hpp>
