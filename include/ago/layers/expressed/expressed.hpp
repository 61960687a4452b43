// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All layers that are index expressions, without kernels.
#pragma once

#include <ago/requirements.hpp>

#include <ago/layers/expressed/col2im.hpp>
#include <ago/layers/expressed/conv3d.hpp>
#include <ago/layers/expressed/gathers.hpp>
#include <ago/layers/expressed/grid_sample.hpp>
#include <ago/layers/expressed/places.hpp>
#include <ago/layers/expressed/pooling3d.hpp>
