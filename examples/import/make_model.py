#!/usr/bin/env python3
"""Writes edges.onnx: how steep an image of 24 x 48 pixels is, by Sobel's filters. Needs Debian's python3-onnx."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

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
onnx.save(model, str(pathlib.Path(__file__).parent / "edges.onnx"))
