#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tutorial 3: writes detector.onnx, which finds bright rectangles. Needs Debian's python3-onnx.

Its weights are calculated, not trained. A convolution sums the brightness and its first and second moments in a window of 16 x 16
pixels, every 4 pixels. The layers after it compute mean and standard deviation: the centre and half the size of a rectangle.
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEIGHT, WIDTH, WINDOW, STRIDE = 48, 64, 16, 4
place = np.arange(WINDOW, dtype=np.float32) - (WINDOW - 1) / 2
y, x = np.meshgrid(place, place, indexing="ij")
filters = np.stack([np.ones_like(x), x, y, x * x, y * y])[:, None].astype(np.float32)  # [out][in][rows][columns]
pad = (WINDOW - STRIDE) // 2

constants = {"filters": filters, "one": np.float32(1e-6), "twelve": np.float32(12), "unit": np.float32(1),
             "sizes": np.array([1, 2, 2])}
nodes = [("Conv", ["image", "filters"], ["sums"], {"kernel_shape": [WINDOW] * 2, "strides": [STRIDE] * 2, "pads": [pad] * 4}),
         ("Split", ["sums", "sizes"], ["mass", "first", "second"], {"axis": 1}),
         ("Add", ["mass", "one"], ["divisor"], {}),
         ("Div", ["first", "divisor"], ["centre"], {}),
         ("Div", ["second", "divisor"], ["squares"], {}),
         ("Mul", ["centre", "centre"], ["centre2"], {}),
         ("Sub", ["squares", "centre2"], ["variance"], {}),
         ("Mul", ["variance", "twelve"], ["spread"], {}),  # of n equal pixels in a row: (n * n - 1) / 12
         ("Add", ["spread", "unit"], ["area"], {}),
         ("Relu", ["area"], ["positive"], {}),
         ("Sqrt", ["positive"], ["extent"], {}),
         ("Concat", ["mass", "centre", "extent"], ["cells"], {"axis": 1})]
graph = helper.make_graph(
    [helper.make_node(kind, inputs, outputs, outputs[0], **attributes) for kind, inputs, outputs, attributes in nodes], "detector",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, HEIGHT, WIDTH])],
    [helper.make_tensor_value_info("cells", TensorProto.FLOAT, [1, 5, HEIGHT // STRIDE, WIDTH // STRIDE])],
    [numpy_helper.from_array(np.asarray(values), name) for name, values in constants.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, str(pathlib.Path(__file__).parent / "detector.onnx"))
