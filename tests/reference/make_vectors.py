#!/usr/bin/env python3
"""Writes vectors.inc: what PyTorch makes of convolutions, pooling, batch norm and activations.

    python3 make_vectors.py > vectors.inc

Needs PyTorch (written with 1.13). Inputs and parameters follow a formula that the C++ test repeats, so that only
results are stored. They are computed in double precision, NHWC.
"""
import textwrap

import torch
import torch.nn.functional as F


def data(count, factor, modulus, divisor):
    i = torch.arange(count, dtype=torch.int64)
    return ((i * factor + 5) % modulus - modulus // 2).double() / divisor


def image(n, h, w, c):
    return data(n * h * w * c, 37, 27, 2).reshape(n, h, w, c).permute(0, 3, 1, 2)


def parameters(*extents):
    count = 1
    for e in extents:
        count *= e
    return data(count, 29, 17, 8).reshape(extents)


def window(kernel, stride=(1, 1), dilation=(1, 1), pads=(0, 0, 0, 0)):
    """pads: top, left, bottom, right"""
    return "{%s}" % ", ".join(str(v) for v in (*kernel, *stride, *dilation, *pads))


def shape(x):
    n, c, h, w = x.shape
    return "{%d, %d, %d, %d}" % (n, h, w, c)


def emit(kind, x, y, win="{}", groups=1, count_pads=False, alpha=0.0):
    values = y.permute(0, 2, 3, 1).reshape(-1).tolist()
    numbers = ", ".join("%.12g" % v for v in values)
    case = "{op::%s, %s, %s, %s, %d, %s, %g, {%s}}," % (
        kind, shape(x), shape(y), win, groups, str(count_pads).lower(), alpha, numbers)
    print(textwrap.fill(case, 119, subsequent_indent=" "))


def convolution(kind, extents, out, kernel, stride=(1, 1), dilation=(1, 1), pads=(0, 0, 0, 0), groups=1):
    x = image(*extents)
    weight = parameters(out, extents[3] // groups, *kernel)
    top, left, bottom, right = pads
    y = F.conv2d(F.pad(x, (left, right, top, bottom)), weight, stride=stride, dilation=dilation, groups=groups)
    emit(kind, x, y, window(kernel, stride, dilation, pads), 1 if kind == "depthwise" else groups)


def same(extents, out, kernel, dilation=(1, 1)):
    """PyTorch's padding='same': of an odd number of pads, the larger half goes below and to the right."""
    x = image(*extents)
    y = F.conv2d(x, parameters(out, extents[3], *kernel), padding="same", dilation=dilation)
    total = [(k - 1) * d for k, d in zip(kernel, dilation)]
    pads = (total[0] // 2, total[1] // 2, total[0] - total[0] // 2, total[1] - total[1] // 2)
    emit("conv2d", x, y, window(kernel, (1, 1), dilation, pads))


def pool(kind, extents, kernel, stride, pad=(0, 0), ceil=False, count=False, dilation=(1, 1)):
    x = image(*extents)
    if kind == "max_pool":
        y = F.max_pool2d(x, kernel, stride, pad, dilation, ceil_mode=ceil)
    else:
        y = F.avg_pool2d(x, kernel, stride, pad, ceil_mode=ceil, count_include_pad=count)
    emit(kind, x, y, window(kernel, stride, dilation, (*pad, *pad)), count_pads=count)


print("// Written by make_vectors.py with PyTorch %s." % torch.__version__.split("a")[0])
print("// op, input, output, window, groups, count_pads, alpha, expected")
convolution("conv2d", (1, 4, 5, 2), 3, (3, 3), pads=(1, 1, 1, 1))
convolution("conv2d", (2, 5, 4, 1), 2, (1, 3), stride=(2, 1), pads=(0, 1, 0, 1))
convolution("conv2d", (1, 7, 6, 2), 2, (3, 2), stride=(2, 3), dilation=(2, 1), pads=(2, 0, 1, 1))
convolution("conv2d", (1, 3, 4, 6), 4, (2, 3), pads=(1, 0, 0, 2), groups=2)
convolution("conv2d", (1, 3, 3, 3), 6, (3, 3), pads=(1, 1, 1, 1), groups=3)
convolution("conv2d", (1, 5, 5, 2), 2, (1, 1), stride=(2, 2))
convolution("depthwise", (1, 5, 4, 3), 3, (3, 3), stride=(2, 2), pads=(1, 1, 1, 1), groups=3)
convolution("depthwise", (1, 4, 6, 2), 2, (2, 5), dilation=(1, 1), pads=(0, 2, 1, 2), groups=2)
convolution("pointwise", (2, 2, 2, 3), 4, (1, 1))
same((1, 4, 4, 1), 2, (4, 3))
same((1, 5, 5, 1), 1, (2, 3), dilation=(3, 2))

pool("max_pool", (1, 5, 5, 2), (3, 3), (2, 2), (1, 1))
pool("max_pool", (1, 6, 5, 2), (3, 2), (2, 2), ceil=True)
pool("max_pool", (1, 5, 4, 1), (2, 2), (3, 3), (1, 1), ceil=True)
pool("max_pool", (1, 7, 6, 1), (2, 3), (1, 1), dilation=(3, 2))
for ceil in (False, True):
    for count in (False, True):
        pool("avg_pool", (1, 6, 5, 2), (3, 3), (2, 2), (1, 1), ceil, count)
        pool("avg_pool", (1, 4, 6, 1), (2, 3), (3, 2), (1, 0), ceil, count)
        pool("avg_pool", (2, 5, 3, 1), (4, 2), (3, 4), (2, 1), ceil, count)

x = image(2, 2, 3, 4)
p = parameters(4, 4)  # gamma, beta, mean, variance
p[3] = p[3].abs() + 0.25
emit("batch_norm", x, F.batch_norm(x, p[2], p[3], p[0], p[1], eps=1e-3), alpha=1e-3)
x = image(1, 3, 9, 1)
for kind, f, alpha in (("relu", F.relu, 0), ("relu6", F.relu6, 0),
                       ("leaky_relu", lambda v: F.leaky_relu(v, 0.125), 0.125),
                       ("hard_sigmoid", F.hardsigmoid, 0), ("hard_swish", F.hardswish, 0),
                       ("sigmoid", torch.sigmoid, 0), ("silu", F.silu, 0), ("gelu", F.gelu, 0),
                       ("gelu_tanh", lambda v: F.gelu(v, approximate="tanh"), 0), ("tanh", torch.tanh, 0)):
    emit(kind, x, f(x), alpha=alpha)
