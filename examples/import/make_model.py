#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes edges.onnx, which computes the steepness of an image of 24 x 48 pixels with Sobel filters, and answers/, a
random image and the model's expected output. Needs Debian's python3-onnx."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
HEIGHT, WIDTH = 24, 48
across = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32) / 8
filters = np.stack([across, across.T])[:, None]  # [out][in][rows][columns]

graph = helper.make_graph(
    [helper.make_node("Conv", ["image", "filters"], ["slopes"], "slopes", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
     helper.make_node("Mul", ["slopes", "slopes"], ["squares"], "squares"),
     helper.make_node("ReduceSum", ["squares", "axes"], ["sums"], "sums"),
     helper.make_node("Sqrt", ["sums"], ["steepness"], "steepness")],
    "edges",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, HEIGHT, WIDTH])],
    [helper.make_tensor_value_info("steepness", TensorProto.FLOAT, [1, 1, HEIGHT, WIDTH])],
    [numpy_helper.from_array(filters, "filters"), numpy_helper.from_array(np.array([1]), "axes")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, str(HERE / "edges.onnx"))

image = np.random.default_rng(1).random((HEIGHT, WIDTH), np.float32)
surrounded = np.pad(image.astype(float), 1)
slopes = [sum(f[y, x] * surrounded[y:y + HEIGHT, x:x + WIDTH] for y in range(3) for x in range(3))
          for f in (across, across.T)]
(HERE / "answers").mkdir(exist_ok=True)
np.save(HERE / "answers" / "input_0.npy", image[None, None])
np.save(HERE / "answers" / "output_0.npy", np.hypot(*slopes).astype(np.float32)[None, None])
