// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All operators of graphs.
#pragma once

#include <ago/operators/activations.hpp>
#include <ago/operators/attention_products.hpp>
#include <ago/operators/binary.hpp>
#include <ago/operators/concat.hpp>
#include <ago/operators/convolution.hpp>
#include <ago/operators/expand.hpp>
#include <ago/operators/linear.hpp>
#include <ago/operators/map.hpp>
#include <ago/operators/matmul.hpp>
#include <ago/operators/norm.hpp>
#include <ago/operators/pad.hpp>
#include <ago/operators/patch.hpp>
#include <ago/operators/per_channel.hpp>
#include <ago/operators/permute.hpp>
#include <ago/operators/pooling.hpp>
#include <ago/operators/reduction.hpp>
#include <ago/operators/reshape.hpp>
#include <ago/operators/resize.hpp>
#include <ago/operators/slice.hpp>
#include <ago/operators/tables.hpp>
#include <ago/operators/unary.hpp>
