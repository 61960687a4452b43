#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports operators that the importer composes of others, in many variants, runs them, and compares with NumPy.

    composed_operators.py --tools BUILD

If NumPy is missing, the program says so and ends with 77.
"""
import itertools
import random
import sys

from einsum import numpy
from single_operators import Fixed, run_cases, windows


def likelihood_loss(logs, labels, weights, ignored, reduction):
    loss, counted = numpy.zeros(labels.shape), numpy.zeros(labels.shape)
    for place in numpy.ndindex(*labels.shape):
        label = int(labels[place])
        if label != ignored:
            counted[place] = 1 if weights is None else weights[label]
            loss[place] = -logs[place[:1] + (label,) + place[1:]] * counted[place]
    return loss if reduction == "none" else loss.sum() / (counted.sum() if reduction == "mean" else 1)


def log_softmax(x):
    e = numpy.exp(x.astype(numpy.float64) - x.max(1, keepdims=True))
    return numpy.log(e / e.sum(1, keepdims=True))


def roi_align(x, rois, images, mode, out, ratio, scale, half_pixel):
    _, channels, height, width = x.shape
    y = numpy.zeros((len(rois), channels) + out)

    def neighbours(at, extent):
        """Places and their shares; nothing beyond one pixel outside of the image."""
        if not -1 <= at <= extent:
            return []
        at = min(max(at, 0), extent - 1)
        low = int(at)
        return [(low, 1 - at + low), (min(low + 1, extent - 1), at - low)]

    for r, (roi, image) in enumerate(zip(rois.astype(numpy.float64), images)):
        left, top, right, bottom = roi * scale - (.5 if half_pixel else 0)
        w, h = right - left, bottom - top
        if not half_pixel:
            w, h = max(w, 1), max(h, 1)
        for i, k in itertools.product(range(out[0]), range(out[1])):
            found = []
            for a, b in itertools.product(range(ratio), range(ratio)):
                rows = neighbours(top + (i + (a + .5) / ratio) * h / out[0], height)
                columns = neighbours(left + (k + (b + .5) / ratio) * w / out[1], width)
                parts = [x[image, :, p, q] * s * t for (p, s), (q, t) in itertools.product(rows, columns)]
                parts = parts or [numpy.zeros(channels)]
                found.append(sum(parts) if mode == "avg" else numpy.max(parts, axis=0))
            y[r, :, i, k] = sum(found) / len(found) if mode == "avg" else numpy.max(found, axis=0)
    return y


def deform_conv(x, w, offset, bias, mask, strides, pads, dilations, group, groups):
    n, channels, height, width = x.shape
    outputs, each, kh, kw = w.shape
    oh, ow = offset.shape[2:]
    y = numpy.zeros((n, outputs, oh, ow)) + bias.reshape(1, -1, 1, 1)
    offset = offset.reshape(n, groups, kh, kw, 2, oh, ow)
    mask = mask.reshape(n, groups, kh, kw, oh, ow)
    for b, o, e, a, c, i, k in itertools.product(*map(range, (n, outputs, each, kh, kw, oh, ow))):
        channel = o // (outputs // group) * each + e
        own = channel // (channels // groups)
        row = i * strides[0] - pads[0] + a * dilations[0] + offset[b, own, a, c, 0, i, k]
        column = k * strides[1] - pads[1] + c * dilations[1] + offset[b, own, a, c, 1, i, k]
        value = sum(max(0, 1 - abs(row - p)) * max(0, 1 - abs(column - q)) * x[b, channel, p, q]
                    for p, q in itertools.product(range(height), range(width)))
        y[b, o, i, k] += w[o, e, a, c] * mask[b, own, a, c, i, k] * value
    return y


def max_pool(x, window):
    """Maxima of windows side by side, their numbers in x, and an x of zeros around them."""
    out = [e // k for e, k in zip(x.shape[2:], window)]
    y, at, alone = numpy.zeros(x.shape[:2] + tuple(out)), numpy.zeros(x.shape[:2] + tuple(out), numpy.int64), 0 * x
    for place in numpy.ndindex(*y.shape):
        spans = [range(p * k, p * k + k) for p, k in zip(place[2:], window)]
        best = max((place[:2] + s for s in itertools.product(*spans)), key=lambda s: x[s])
        y[place], at[place], alone[best] = x[best], numpy.ravel_multi_index(best, x.shape), x[best]
    return y, at, alone


def scattered(data, places, updates, reduction):
    y = data.astype(numpy.float64)
    with_other = {"none": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": max, "min": min}
    for place, x in zip(places, updates):
        y[place] = with_other[reduction](y[place], x)
    return y


def losses(draw, some):
    likelihood, entropy = "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"
    for kind, shape, reduction, weighted, ignored, known in (
            (likelihood, (4, 5), "mean", False, None, False), (entropy, (4, 5), "none", True, None, False),
            (likelihood, (3, 6, 7), "mean", True, 2, False), (entropy, (2, 3, 4, 5), "sum", False, -1, False),
            (entropy, (2, 5, 2, 1, 3), "mean", False, 255, False), (likelihood, (2, 7, 3), "none", True, 1, True),
            (likelihood, (1, 3, 40, 40), "sum", False, None, True)):
        x, classes = some(*shape), shape[1]
        labels = numpy.array([draw.randrange(classes) for _ in range(int(numpy.prod(shape)) // classes)])
        labels = labels.reshape(shape[:1] + shape[2:])
        if ignored is not None:
            labels.flat[::3] = ignored
        weights = abs(some(classes)) + .25 if weighted else None
        logs = x if kind == likelihood else log_softmax(x)
        attributes = {"reduction": reduction, **({} if ignored is None else {"ignore_index": ignored})}
        y = likelihood_loss(logs, labels, weights, ignored, reduction)
        more = [] if weights is None else [weights]
        yield kind, attributes, [x] if known else [x, labels], ([labels] if known else []) + more, y
    x, labels, weights = some(3, 4, 2), numpy.array([[0, 3], [2, 2], [1, 0]]), abs(some(4)) + 1
    yield likelihood, {}, [x, labels, weights], [], likelihood_loss(x, labels, weights, None, "mean")
    yield entropy, {}, [x, labels], [], log_softmax(x), 1


def regions(draw, some):
    for mode, place, ratio, known in (("avg", "half_pixel", 2, True), ("max", "output_half_pixel", 3, False)):
        x, images = some(3, 2, 7, 9), numpy.array([2, 0, 0, 1, 2])
        rois = numpy.array([[0, 0, 16, 12], [3.3, 2.1, 9.7, 11.9], [-9, -6, 8, 30], [5, 5, 5.2, 5.1], [14, 9, 40, 20]],
                           numpy.float32)
        yield ("RoiAlign", {"mode": mode, "coordinate_transformation_mode": place, "sampling_ratio": ratio,
                            "output_height": 3, "output_width": 2, "spatial_scale": .6},
               [x, rois] if known else [x, rois, images], [images] if known else [],
               roi_align(x, rois, images, mode, (3, 2), ratio, numpy.float32(.6), place == "half_pixel"))
    for strides, pads, dilations, group, groups, masked in (([1, 1], [0, 0, 0, 0], [1, 1], 1, 1, False),
                                                            ([2, 1], [1, 0, 2, 1], [1, 2], 2, 2, True)):
        x, w, bias = some(2, 4, 5, 6), some(6, 4 // group, 2, 3), some(6)
        out = [windows(x.shape[2 + i], w.shape[2 + i], strides[i], dilations[i], pads[i], pads[2 + i]) for i in (0, 1)]
        offset = some(2, groups * 12, *out) * numpy.float32(.7)
        mask = some(2, groups * 6, *out) if masked else numpy.ones((2, groups * 6, *out), numpy.float32)
        y = deform_conv(x, w, offset, bias if masked else 0 * bias, mask, strides, pads, dilations, group, groups)
        attributes = {"strides": strides, "pads": pads, "dilations": dilations, "group": group, "offset_group": groups}
        yield "DeformConv", attributes, [x, Fixed(w), offset] + ([Fixed(bias), mask] if masked else []), [], y
    for shape, window, more in (((2, 3, 4, 6), [2, 3], 0), ((1, 2, 9), [3], 1)):
        all_differ = some(*shape) + numpy.linspace(0, .01, numpy.prod(shape), dtype=numpy.float32).reshape(shape)
        x, at, y = max_pool(all_differ, window)
        pads = [(0, 0), (0, 0)] + [(0, more)] * len(window)
        y = numpy.pad(y, pads)
        yield ("MaxUnpool", {"kernel_shape": window, "strides": window}, [x.astype(numpy.float32), at],
               [numpy.array(y.shape)] if more else [], y)


def indices(draw, some):
    def whole(low, high, *shape):
        return numpy.array([draw.randint(low, high) for _ in range(int(numpy.prod(shape)))]).reshape(shape)

    for axis, known in ((-1, True), (1, False)):
        at, values = whole(-6, 6, 3, 4), some(2)
        y = numpy.where(numpy.expand_dims(numpy.where(at < 0, at + 5, at), axis) ==
                        numpy.arange(5).reshape([5 if i == axis % 3 else 1 for i in range(3)]), values[1], values[0])
        yield "OneHot", {"axis": axis}, [at, Fixed(numpy.array(5)), Fixed(values) if known else values], [], y
    x = some(3, 4, 5)
    for axis, condition in ((-1, [0, 1, 1, 0, 1]), (None, [0, 1, 0, 0, 1, 1])):
        attributes = {} if axis is None else {"axis": axis}
        yield "Compress", attributes, [x], [numpy.array(condition)], numpy.compress(condition, x, axis)
    for reduction, axis in (("none", 1), ("add", 0), ("min", -1)):
        updates = some(2, 3, 4)
        at = (numpy.argsort(some(2, 3, 4), axis) if reduction == "none" else whole(-2, 1, 2, 3, 4))
        places = [tuple(at[p] if i == axis % 3 else p[i] for i in range(3)) for p in numpy.ndindex(2, 3, 4)]
        yield ("ScatterElements", {"axis": axis, "reduction": reduction}, [x, Fixed(at), updates], [],
               scattered(x, places, updates.flat, reduction))
    for reduction in ("none", "mul", "max"):
        at, updates = numpy.array([[0, 1], [2, -1], [-3, 0]] + [[0, 1]] * 2 * (reduction != "none")), some(5, 5)
        updates = updates[:len(at)]
        places = [tuple(p) + (k,) for p in at for k in range(5)]
        yield ("ScatterND", {"reduction": reduction}, [x, Fixed(at), updates], [],
               scattered(x, places, updates.flat, reduction))
    for axis, mode, starts in ((-2, "linear", None), (1, "linear", [3, 0]), (-2, "circular", [5, 2])):
        cache = some(2, 6, 6, 3)
        update = some(*[2 if i == axis % 4 else e for i, e in enumerate(cache.shape)])
        y = cache.copy()
        for place in numpy.ndindex(*update.shape):
            to = list(place)
            to[axis] = (place[axis] + (starts[place[0]] if starts else 0)) % 6
            y[tuple(to)] = update[place]
        inputs = [cache, update] + ([numpy.array(starts)] if starts else [])
        yield "TensorScatter", {"axis": axis, "mode": mode}, inputs, [], y
    a = numpy.append(whole(-99, 99, 40), [4194303, -4194303, 49 * 83, 49 * 83 - 1, -49 * 83])
    b = numpy.append(whole(1, 9, 40) * numpy.where(whole(0, 1, 40), 1, -1), [49] * 5)
    for known in (False, True):
        inputs, more = ([a], [b]) if known else ([a, b], [])
        yield "Mod", {}, inputs, more, numpy.mod(a, b)
        yield "Mod", {"fmod": 1}, inputs, more, numpy.fmod(a, b)
        yield "Div", {}, inputs, more, numpy.trunc(a / b)


def elementwise(_, some):
    x = some(7, 9)
    unit = numpy.linspace(-1, 1, 41, dtype=numpy.float32)
    yield "Asin", {}, [unit], [], numpy.arcsin(unit.astype(numpy.float64))
    yield "Acos", {}, [unit], [], numpy.arccos(unit.astype(numpy.float64))
    yield "Atan", {}, [10 * x], [], numpy.arctan(10 * x.astype(numpy.float64))
    yield "Cast", {"to": 7}, [5 * x], [], numpy.trunc(5 * x)
    yield "CastLike", {}, [numpy.arange(6), some(1)], [], numpy.arange(6)
    x[1, 2], x[3, 4], x[5, 6] = numpy.inf, -numpy.inf, numpy.finfo(numpy.float32).max
    for negative, positive in ((1, 1), (0, 1), (1, 0)):
        yield ("IsInf", {"detect_negative": negative, "detect_positive": positive}, [x], [],
               (x == numpy.inf) * positive + (x == -numpy.inf) * negative)
    x[0, 0] = numpy.nan
    yield "IsNaN", {}, [x], [], numpy.isnan(x) * 1.
    for shape, p in (((2, 3, 4, 5), 2), ((2, 3, 6), 1), ((2, 3, 4, 5), 3)):
        x = some(*shape)
        axes = tuple(range(2, len(shape)))
        yield "GlobalLpPool", {"p": p}, [x], [], (abs(x)**p).sum(axes, keepdims=True)**(1 / p)
    for shape in ((3, 1, 1), (2, 2), (2, 3, 3, 3), (5, 4, 4)):
        x = some(*shape)
        yield "Det", {}, [x], [], numpy.linalg.det(x.astype(numpy.float64))


def cases(draw):
    def some(*shape):
        return numpy.array([draw.randint(-16, 16) / 8 for _ in range(int(numpy.prod(shape)))],
                           numpy.float32).reshape(shape)

    for kind in (losses, regions, indices, elementwise):
        yield from kind(draw, some)


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases))
