#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes vectors.inc: PyTorch's results for the operators.

    python3 make_vectors.py > vectors.inc

Needs PyTorch (written with 1.13). Inputs and parameters follow a formula that the C++ test repeats, so only results are
stored. They are computed in double precision, NHWC.
"""
import textwrap

import torch
import torch.nn.functional as F


def data(count, factor, modulus, divisor):
    i = torch.arange(count, dtype=torch.int64)
    return ((i * factor + 5) % modulus - modulus // 2).double() / divisor


def first(n, h, w, c):
    """The first operand, NHWC."""
    return data(n * h * w * c, 37, 27, 2).reshape(n, h, w, c)


def second(n, h, w, c):
    return data(n * h * w * c, 23, 19, 4).reshape(n, h, w, c)


def image(n, h, w, c):
    return first(n, h, w, c).permute(0, 3, 1, 2)


def parameters(*extents):
    count = 1
    for e in extents:
        count *= e
    return data(count, 29, 17, 8).reshape(extents)


def window(kernel, stride=(1, 1), dilation=(1, 1), pads=(0, 0, 0, 0)):
    """pads: top, left, bottom, right"""
    return "{%s}" % ", ".join(str(v) for v in (*kernel, *stride, *dilation, *pads))


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def emit_nhwc(kind, xs, y, **fields):
    """A node that computes y from the values xs, all NHWC; `fields` as in ago::ir::node."""
    extents = lambda v: "{%s}" % ", ".join(str(e) for e in v.shape)
    members = "".join(", .%s = %s" % f for f in fields.items())
    numbers = ", ".join("%.12g" % v for v in y.reshape(-1).tolist())
    case = "{{.kind = op::%s, .out = %s%s}, {%s}, {%s}}," % (
        kind, extents(y), members, ", ".join(extents(x) for x in xs), numbers)
    print(textwrap.fill(case, 119, subsequent_indent=" "))


def emit(kind, x, y, **fields):
    """Likewise for one value, both NCHW."""
    emit_nhwc(kind, [nhwc(x)], nhwc(y), **fields)


def convolution(kind, extents, out, kernel, stride=(1, 1), dilation=(1, 1), pads=(0, 0, 0, 0), groups=1):
    x = image(*extents)
    weight = parameters(out, extents[3] // groups, *kernel)
    top, left, bottom, right = pads
    y = F.conv2d(F.pad(x, (left, right, top, bottom)), weight, stride=stride, dilation=dilation, groups=groups)
    emit(kind, x, y, win=window(kernel, stride, dilation, pads), groups=1 if kind == "depthwise" else groups)


def same(extents, out, kernel, dilation=(1, 1)):
    """PyTorch's padding='same': if the number of pads is odd, the larger half is below and to the right."""
    x = image(*extents)
    y = F.conv2d(x, parameters(out, extents[3], *kernel), padding="same", dilation=dilation)
    total = [(k - 1) * d for k, d in zip(kernel, dilation)]
    pads = (total[0] // 2, total[1] // 2, total[0] - total[0] // 2, total[1] - total[1] // 2)
    emit("conv2d", x, y, win=window(kernel, (1, 1), dilation, pads))


def pool(kind, extents, kernel, stride, pad=(0, 0), ceil=False, count=False, dilation=(1, 1)):
    x = image(*extents)
    if kind == "max_pool":
        y = F.max_pool2d(x, kernel, stride, pad, dilation, ceil_mode=ceil)
    else:
        y = F.avg_pool2d(x, kernel, stride, pad, ceil_mode=ceil, count_include_pad=count)
    emit(kind, x, y, win=window(kernel, stride, dilation, (*pad, *pad)), count_pads=str(count).lower())


def matmul(a, b, transposed=False, alpha=1.0):
    a, b = first(*a), second(*b)
    y = alpha * torch.matmul(a, b.transpose(2, 3) if transposed else b)
    emit_nhwc("matmul", [a, b], y, transposed=str(transposed).lower(), alpha="%g" % alpha)


def sequences(x, patch):
    """Tokens of MobileViT: (n, h, w, c) to (n * ph * pw, tokens, c), with the authors' transpositions."""
    n, h, w, c = x.shape
    ph, pw = patch
    rows, columns = h // ph, w // pw
    x = x.permute(0, 3, 1, 2).reshape(n * c * rows, ph, columns, pw).transpose(1, 2)
    x = x.reshape(n, c, rows * columns, ph * pw).transpose(1, 3)
    return x.reshape(n * ph * pw, rows * columns, c)


def from_sequences(x, n, h, w, patch):
    ph, pw = patch
    rows, columns, c = h // ph, w // pw, x.shape[2]
    x = x.reshape(n, ph * pw, rows * columns, c).transpose(1, 3)
    x = x.reshape(n * c * rows, columns, ph, pw).transpose(1, 2)
    return x.reshape(n, c, h, w).permute(0, 2, 3, 1)


def heads_of(x, heads):
    """(sequences, tokens, c) to (sequences, heads, tokens, c / heads)"""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def attention(extents, keys, heads, patch=(1, 1), alpha=1.0):
    """Scores of queries and keys (NHWC shapes with equal channels), and values weighted by them."""
    q, k = first(*extents), second(*keys)
    a, b = (heads_of(sequences(x, patch), heads) for x in (q, k))
    scores = alpha * a @ b.transpose(2, 3)
    fields = dict(groups=heads, patch="{%d, %d}" % tuple(patch))
    emit_nhwc("attention_scores", [q, k], scores, **fields, alpha="%g" % alpha)
    p = first(*scores.shape)
    y = (p @ b).transpose(1, 2).reshape(p.shape[0], -1, extents[3])
    emit_nhwc("attention_values", [p, k], from_sequences(y, *extents[:3], patch), **fields)


def part(extents, axis, begin, end, step=1):
    x = first(*extents)
    index = [slice(None)] * 4
    index[axis] = slice(begin, end, step)
    emit_nhwc("slice", [x], x[tuple(index)], axis=axis, begin=begin, step=step)


def resize(kind, extents, h, w):
    x = image(*extents)
    emit("resize_" + kind, x, F.interpolate(x, (h, w), mode=kind))


print("// Written by make_vectors.py with PyTorch %s." % torch.__version__.split("a")[0])
print("// node, its operands, what comes out")
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
emit("batch_norm", x, F.batch_norm(x, p[2], p[3], p[0], p[1], eps=1e-3), alpha="1e-3f")
x = image(1, 3, 9, 1)
for kind, f, alpha in (("relu", F.relu, 0), ("relu6", F.relu6, 0),
                       ("leaky_relu", lambda v: F.leaky_relu(v, 0.125), 0.125),
                       ("hard_sigmoid", F.hardsigmoid, 0), ("hard_swish", F.hardswish, 0),
                       ("sigmoid", torch.sigmoid, 0), ("silu", F.silu, 0), ("gelu", F.gelu, 0),
                       ("gelu_tanh", lambda v: F.gelu(v, approximate="tanh"), 0), ("tanh", torch.tanh, 0)):
    emit(kind, x, f(x), alpha=alpha)

matmul((2, 3, 2, 5), (2, 3, 5, 3), alpha=0.5)
matmul((2, 2, 3, 4), (1, 2, 4, 2))
matmul((2, 2, 2, 3), (2, 1, 4, 3), transposed=True, alpha=2)
matmul((1, 1, 4, 3), (1, 1, 5, 3), transposed=True)
attention((1, 2, 3, 4), (1, 2, 3, 4), 1, alpha=0.5)
attention((2, 1, 3, 6), (2, 2, 1, 6), 3, alpha=0.25)
attention((1, 6, 6, 2), (1, 6, 6, 2), 1, (2, 3))
attention((2, 4, 2, 4), (2, 2, 4, 4), 2, (2, 1))
x = image(2, 2, 3, 4)
emit("softmax", x, F.softmax(x, 1))
x = first(1, 2, 2, 5)
p = parameters(2, 5)  # gamma, beta
emit_nhwc("layer_norm", [x], F.layer_norm(x, (5,), p[0], p[1], eps=1e-2), alpha="1e-2f")
x = first(2, 2, 3, 2)
emit_nhwc("positions", [x], x + parameters(2, 3, 2))
for axis, extents in enumerate(((2, 2, 2, 3), (1, 1, 2, 3), (1, 2, 1, 3), (1, 2, 2, 2))):
    x, y = first(1, 2, 2, 3), second(*extents)
    emit_nhwc("concat", [x, y], torch.cat((x, y), axis), axis=axis)
part((3, 1, 2, 2), 0, 1, 3)
part((1, 6, 2, 1), 1, 1, 6, 2)
part((2, 1, 5, 2), 2, 0, 5, 4)
part((1, 2, 2, 7), 3, 2, 7, 3)
x = image(1, 2, 2, 6)
emit("channel_shuffle", x, torch.channel_shuffle(x, 2), groups=2)
emit("channel_shuffle", x, torch.channel_shuffle(x, 3), groups=3)
x = first(2, 1, 3, 4)
emit_nhwc("reshape", [x], x.reshape(1, 4, 2, 3))
for order in ((0, 1, 3, 2), (3, 0, 1, 2), (2, 3, 0, 1)):
    x = first(2, 1, 3, 4)
    emit_nhwc("permute", [x], x.permute(order), order="{%d, %d, %d, %d}" % order)
for extents, patch in (((1, 4, 9, 2), (2, 3)), ((2, 2, 6, 1), (1, 2))):
    x = first(*extents)
    y = sequences(x, patch).unsqueeze(1)
    emit_nhwc("unfold", [x], y, patch="{%d, %d}" % patch)
    x = first(*y.shape)
    emit_nhwc("fold", [x], from_sequences(x.squeeze(1), *extents[:3], patch), patch="{%d, %d}" % patch)
x = image(1, 2, 3, 2)
emit("pad", x, F.pad(x, (2, 1, 0, 3), value=-1.5), win=window((1, 1), pads=(0, 2, 3, 1)), alpha=-1.5)
for kind in ("nearest", "bilinear"):
    resize(kind, (1, 2, 3, 2), 4, 6)
    resize(kind, (2, 3, 4, 1), 5, 3)
    resize(kind, (1, 1, 5, 1), 3, 12)
x = first(1, 2, 9, 1)
rows = F.embedding(x.trunc().clamp(0, 3).long().squeeze(3), parameters(4, 3))
emit_nhwc("embedding", [x], rows, entries=4)
