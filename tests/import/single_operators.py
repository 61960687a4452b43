#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports operators that ago computes by index expressions, in many variants, runs them, and compares with NumPy.

    single_operators.py --tools BUILD

If NumPy is missing, the program says so and ends with 77.
"""
import itertools
import random
import sys

import einsum as support
from einsum import numpy


def windows(extent, kernel, stride, dilation, before, after):
    return (extent + before + after - (kernel - 1) * dilation - 1) // stride + 1


def hardmax(x, axis):
    y = numpy.zeros_like(x)
    numpy.put_along_axis(y, numpy.expand_dims(x.argmax(axis), axis), 1, axis)
    return y


def gather_nd(x, at, batch_dims):
    y = []
    for place in itertools.product(*(range(n) for n in at.shape[:-1])):
        y.append(x[place[:batch_dims] + tuple(int(i) for i in at[place])])
    return numpy.array(y).reshape(at.shape[:-1] + x.shape[batch_dims + at.shape[-1]:])


def reverse_sequence(x, lengths, batch, time):
    y = x.copy()
    for b, length in enumerate(lengths):
        place = [slice(None)] * x.ndim
        place[batch] = b
        part = numpy.take(x, b, batch)
        along = time - (batch < time)
        turned = numpy.flip(numpy.take(part, range(int(length)), along), along)
        place[time] = slice(0, int(length))
        y[tuple(place)] = turned
    return y


def col2im(x, image, block, strides, pads, dilations):
    """Windows are numbered row by row, elements of a block likewise."""
    n, _, _ = x.shape
    rank = len(image)
    count = [windows(image[i], block[i], strides[i], dilations[i], pads[i], pads[rank + i]) for i in range(rank)]
    x = x.reshape([n, -1] + block + count)
    y = numpy.zeros([n, x.shape[1]] + image)
    for k in itertools.product(*(range(b) for b in block)):
        for w in itertools.product(*(range(c) for c in count)):
            at = [w[i] * strides[i] + k[i] * dilations[i] - pads[i] for i in range(rank)]
            if all(0 <= a < e for a, e in zip(at, image)):
                y[(slice(None), slice(None)) + tuple(at)] += x[(slice(None), slice(None)) + k + w]
    return y


def grid_sample(x, grid, mode, outside, corners):
    n, c, h, w = x.shape
    y = numpy.zeros((n, c) + grid.shape[1:3])
    low = 0 if corners else -.5

    def mirrored(at, extent):
        while not low <= at <= extent - 1 - low:
            at = 2 * (low if at < low else extent - 1 - low) - at
        return at

    def place(at, extent):
        r = (at + 1) / 2 * (extent - 1) if corners else ((at + 1) * extent - 1) / 2
        r = float(numpy.rint(r)) if mode == "nearest" else r
        if low <= r <= extent - 1 - low or outside == "zeros":
            return r
        return min(max(r, 0), extent - 1) if outside == "border" else mirrored(r, extent)

    def share(distance):
        d = abs(distance)
        if mode == "nearest":
            return float(d < .5)
        if mode == "linear":
            return max(0, 1 - d)
        return 1.25 * d**3 - 2.25 * d**2 + 1 if d <= 1 else -.75 * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0

    def index(i, extent):
        return i if outside == "zeros" else min(max(i, 0), extent - 1) if outside == "border" else int(mirrored(i, extent))

    for b, i, j in itertools.product(range(n), range(y.shape[2]), range(y.shape[3])):
        row, column = place(float(grid[b, i, j, 1]), h), place(float(grid[b, i, j, 0]), w)
        for k, m in itertools.product(range(-4, h + 4), range(-4, w + 4)):
            p, q = index(k, h), index(m, w)
            if 0 <= p < h and 0 <= q < w:
                y[b, :, i, j] += share(row - k) * share(column - m) * x[b, :, p, q]
    return y


def max_places(x, kernel, strides, column_major):
    """The second output of MaxPool, without pads."""
    out = [windows(e, k, s, 1, 0, 0) for e, k, s in zip(x.shape[2:], kernel, strides)]
    y = numpy.zeros(list(x.shape[:2]) + out)
    for place in numpy.ndindex(*y.shape):
        spans = [range(p * s, p * s + k) for p, s, k in zip(place[2:], strides, kernel)]

        def index(at):
            own = numpy.ravel_multi_index(at, x.shape[2:], order="F" if column_major else "C")
            return int(own) + (place[0] * x.shape[1] + place[1]) * int(numpy.prod(x.shape[2:]))

        largest = max(x[place[:2] + at] for at in itertools.product(*spans))
        y[place] = min(index(at) for at in itertools.product(*spans) if x[place[:2] + at] == largest)
    return y


def conv(x, w, bias, strides, pads, dilations, group):
    rank = x.ndim - 2
    x = numpy.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)])
    out = [windows(x.shape[2 + i], w.shape[2 + i], strides[i], dilations[i], 0, 0) for i in range(rank)]
    y = numpy.zeros([x.shape[0], w.shape[0]] + out)
    each = w.shape[0] // group
    for k in range(w.shape[0]):
        own = x[:, k // each * w.shape[1]:(k // each + 1) * w.shape[1]]
        for tap in itertools.product(*(range(e) for e in w.shape[2:])):
            part = own[(slice(None), slice(None)) + tuple(
                slice(tap[i] * dilations[i], tap[i] * dilations[i] + (out[i] - 1) * strides[i] + 1, strides[i])
                for i in range(rank))]
            y[:, k] += numpy.tensordot(part, w[(k, slice(None)) + tap], (1, 0))
        y[:, k] += bias[k]
    return y


def cases(draw):
    """Type, attributes, inputs that stay open, constants, the result, and which output it is if not the first."""

    def some(*shape):
        return numpy.array([draw.randint(-16, 16) / 8 for _ in range(int(numpy.prod(shape)))],
                           numpy.float32).reshape(shape)

    for axis in (0, 1, 2, -1):
        x = some(3, 4, 5)
        yield "Hardmax", {"axis": axis}, [x], [], hardmax(x, axis)
    for k, upper in itertools.product((-7, -1, 0, 2, 9), (0, 1)):
        x = some(2, 3, 4, 5)
        x[0, 0, 0, 0] = numpy.inf
        yield "Trilu", {"upper": upper}, [x], [numpy.array(k)], (numpy.triu if upper else numpy.tril)(x, k)
    for batch, depth, rank in ((0, 1, 2), (0, 2, 3), (1, 1, 3), (1, 2, 4), (2, 1, 4), (0, 3, 4), (0, 4, 4)):
        x = some(*[2, 3, 4, 5][:rank])
        if batch == 2:
            at_shape = (2, 3, 4, depth)
        elif batch == 1:
            at_shape = (2, 4, depth)
        else:
            at_shape = (3, 2, depth)
        at = numpy.zeros(at_shape, numpy.int64)
        for place in numpy.ndindex(at_shape):
            extent = x.shape[batch + place[-1]]
            at[place] = draw.randint(-extent, extent - 1)
        yield "GatherND", {"batch_dims": batch}, [x, at], [], gather_nd(x, at, batch)
    for axis in (0, 1, 2, -1):
        x = some(3, 4, 5)
        shape = list(x.shape)
        shape[axis] = 6
        at = numpy.array([draw.randint(-x.shape[axis], x.shape[axis] - 1) for _ in range(int(numpy.prod(shape)))],
                         numpy.int64).reshape(shape)
        yield "GatherElements", {"axis": axis}, [x, at], [], numpy.take_along_axis(x, at, axis)
    for batch, time in ((1, 0), (0, 1), (2, 0), (0, 3), (3, 1)):
        x = some(3, 4, 5, 6)
        lengths = numpy.array([draw.randint(1, x.shape[time]) for _ in range(x.shape[batch])], numpy.int64)
        yield ("ReverseSequence", {"batch_axis": batch, "time_axis": time}, [x, lengths], [],
               reverse_sequence(x, lengths, batch, time))
    for image, block, strides, pads, dilations in (
            ([6], [3], [1], [0, 0], [1]), ([5, 6], [2, 3], [1, 1], [0, 0, 0, 0], [1, 1]),
            ([5, 6], [2, 3], [2, 1], [1, 0, 0, 2], [1, 2]), ([7, 4], [3, 1], [3, 2], [1, 1, 1, 1], [1, 1])):
        rank = len(image)
        count = [windows(image[i], block[i], strides[i], dilations[i], pads[i], pads[rank + i]) for i in range(rank)]
        x = some(2, 3 * int(numpy.prod(block)), int(numpy.prod(count)))
        yield ("Col2Im", {"strides": strides, "pads": pads, "dilations": dilations}, [x],
               [numpy.array(image), numpy.array(block)], col2im(x, image, block, strides, pads, dilations))
    for mode, outside, corners in itertools.product(("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
        x, grid = some(2, 3, 4, 5), some(2, 3, 2, 2) * .57 + .013
        grid = grid.astype(numpy.float32)
        yield ("GridSample", {"mode": mode, "padding_mode": outside, "align_corners": corners}, [x, grid], [],
               grid_sample(x, grid, mode, outside, corners))
    for image, kernel, strides, order in (((9,), [3], [2], 0), ((5, 6), [2, 3], [2, 1], 1),
                                          ((4, 5, 6), [2, 2, 3], [1, 2, 3], 0)):
        x = some(2, 3, *image)
        yield ("MaxPool", {"kernel_shape": kernel, "strides": strides, "storage_order": order}, [x], [],
               max_places(x, kernel, strides, order), 1)
    for group, strides, pads, dilations in ((1, [1, 1, 1], [0] * 6, [1, 1, 1]),
                                            (2, [2, 1, 1], [1, 0, 2, 0, 1, 1], [1, 2, 1]),
                                            (4, [1, 2, 2], [1] * 6, [2, 1, 1])):
        x, w, bias = some(2, 4, 5, 6, 7), some(8, 4 // group, 2, 3, 2), some(8)
        yield ("Conv", {"strides": strides, "pads": pads, "dilations": dilations, "group": group}, [x], [w, bias],
               conv(x, w, bias, strides, pads, dilations, group))


class Fixed:
    """An input that is a constant, among others that stay open."""

    def __init__(self, x):
        self.x = x


def run_cases(description, cases):
    """Runs the cases that `cases` yields for a source of random numbers."""
    arguments = support.parsed(description)
    if numpy is None:
        print("skipped: NumPy is missing (python3-numpy)")
        return 77
    all_cases = list(cases(random.Random(arguments.seed)))
    arguments.count = len(all_cases)

    def network(first, count):
        nodes, data = [], []
        for op, attributes, inputs, constants, y, *output in all_cases[first:first + count]:
            names = []
            for x in inputs:
                names.append(x.x if isinstance(x, Fixed) else f"x{len(data)}")
                data += [] if isinstance(x, Fixed) else [x]
            nodes.append(support.Node(op, f"{op} {attributes}", attributes, names, constants, y, *output))
        return nodes, data

    return support.run_all(arguments, network, "operators equal NumPy")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases))
