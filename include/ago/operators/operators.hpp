// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All layers of this folder, without kernels.
#pragma once

#include <ago/requirements.hpp>

#include <ago/operators/col2im.hpp>
#include <ago/operators/conv3d.hpp>
#include <ago/operators/gathers.hpp>
#include <ago/operators/grid_sample.hpp>
#include <ago/operators/places.hpp>
#include <ago/operators/pooling3d.hpp>
