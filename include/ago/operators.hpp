// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that are index expressions, such as convolutions of volumes, and the kernels that compute them.
#pragma once

#include <ago/requirements.hpp>

#include <ago/expressions.hpp>
#include <ago/layers/expressed/expressed.hpp>
