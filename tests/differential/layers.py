# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random single layers, as text, with the shapes of their results."""
import collections
import random

CHANNELS = (1, 3, 5, 8, 15, 16, 17, 24, 33, 58, 116)
EXTENTS = (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13)
ACTIVATIONS = ("relu{}", "relu6{}", "leaky_relu{.slope = .125f}", "leaky_relu{}", "clip{.lo = -.5f, .hi = .75f}",
               "clip{}", "hard_tanh{}", "hard_sigmoid{}", "hard_swish{}", "sigmoid{}", "silu{}", "gelu{}",
               "gelu{.approximate = true}", "hyperbolic_tangent{}", "map{soft_sign}", "map{bent}", "map{gaussian}",
               "elu{.5f}", "selu{}", "celu{.25f}", "softplus{}", "mish{}", "affine_sigmoid{.125f, .25f}", "identity{}")
MAX_MULTIPLICATIONS = 600_000  # of one layer
MAX_VALUES = 30_000            # floats of one value


class Shape(collections.namedtuple("Shape", "n h w c")):
    def count(self):
        return self.n * self.h * self.w * self.c


class Misfit(Exception):
    """This layer is not possible here; try another."""


def extent(size, before, after, kernel, stride, ceil):
    """Output extent of a window, as in PyTorch."""
    if not ceil:
        return (size + before + after - kernel) // stride + 1
    count = -(-(size + before + after - kernel) // stride) + 1
    return count - 1 if (count - 1) * stride >= size + before else count


class Layers:
    """Random layers for a given shape."""

    def __init__(self, seed, coverage):
        self.random = random.Random(seed)
        self.coverage = coverage
        self.used = collections.Counter()

    # Choices

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def any(self, first, last):
        return first + int(self.random.random() * (last - first + 1))

    def pick(self, values):
        return values[int(self.random.random() * len(values))]

    def channels(self, s):
        """Often earlier numbers, so that sums and kernels recur."""
        if self.chance(35):
            return s.c
        if s.h * s.w <= 4 and s.c <= 33 and self.chance(6):
            self.note("1001 channels")
            return 1001
        return self.pick(CHANNELS)

    def note(self, *names):
        for name in names:
            self.used[name] += 1

    # Windows

    def pads(self, most_h, most_w):
        """The text of a pad, and (top, left, bottom, right)."""
        kind = self.any(0, 4)
        if kind == 0 or max(most_h, most_w) == 0:
            return "", (0, 0, 0, 0)
        if kind <= 2 and min(most_h, most_w) > 0:
            p = self.any(1, min(most_h, most_w))
            self.note("pad")
            return f".pad = {p}", (p, p, p, p)
        if kind == 3:
            v, h = self.any(0, most_h), self.any(0, most_w)
            self.note("pad")
            return f".pad = {{{v}, {h}}}", (v, h, v, h)
        p = (self.any(0, most_h), self.any(0, most_w), self.any(0, most_h), self.any(0, most_w))
        self.note("uneven pads")
        return ".pad = pads{%d, %d, %d, %d}" % p, p

    def pair(self, name, a, b, default):
        if a == b:
            return "" if a == default else f".{name} = {a}"
        return f".{name} = {{{a}, {b}}}"

    def convolution_window(self, s, default_kernel):
        square = self.chance(65)
        kh = self.pick((1, 2, 3, 3, 3, 5))
        kw = kh if square else self.pick((1, 2, 3, 4, 7))
        sh = 2 if self.chance(25) else 1
        sw = sh if square else self.pick((1, 1, 2, 3))
        dh = self.pick((2, 3)) if self.chance(15) else 1
        dw = dh if square else self.pick((1, 1, 2))
        span_h, span_w = (kh - 1) * dh + 1, (kw - 1) * dw + 1
        if self.chance(30):
            pad, h, w = ".pad = same", -(-s.h // sh), -(-s.w // sw)
            self.note("same")
        else:
            more = 2 if self.chance(10) else -1  # sometimes windows entirely in the padding
            pad, (top, left, bottom, right) = self.pads(kh + more, kw + more)
            if s.h + top + bottom < span_h or s.w + left + right < span_w:
                raise Misfit
            h, w = (s.h + top + bottom - span_h) // sh + 1, (s.w + left + right - span_w) // sw + 1
        fields = [self.pair("kernel", kh, kw, default_kernel), self.pair("stride", sh, sw, 1), pad,
                  self.pair("dilation", dh, dw, 1)]
        if kh != kw:
            self.note("rectangular kernel")
        if (dh, dw) != (1, 1):
            self.note("dilation")
        if (sh, sw) != (1, 1):
            self.note("stride")
        return fields, h, w, kh * kw

    @staticmethod
    def check(out, multiplications=0):
        if out.count() > MAX_VALUES or multiplications > MAX_MULTIPLICATIONS:
            raise Misfit

    def layer(self, name, fields, out, multiplications=0):
        self.check(out, multiplications)
        self.note(name)
        return name + "{" + ", ".join(f for f in fields if f) + "}", out

    def bias_field(self, default):
        if self.chance(50):
            return ""
        return ".bias = false" if default else ".bias = true"

    # Layers: each returns its text and the shape of its result.

    def conv2d(self, s):
        out = self.channels(s)
        fields, h, w, taps = self.convolution_window(s, 1)
        divisors = [g for g in range(2, 59) if s.c % g == 0 and out % g == 0]
        groups = self.pick(divisors) if divisors and self.chance(35) else 1
        if groups > 1:
            self.note("groups")
        result = Shape(s.n, h, w, out)
        return self.layer("conv2d", [f".out = {out}"] + fields + [f".groups = {groups}" if groups > 1 else "",
                                                                   self.bias_field(False)],
                          result, result.count() * taps * s.c // groups)

    def depthwise(self, s):
        fields, h, w, taps = self.convolution_window(s, 3)
        multiplier = self.any(2, 3) if self.chance(20) else 1
        if multiplier > 1:
            self.note("multiplier")
            fields.append(f".multiplier = {multiplier}")
        result = Shape(s.n, h, w, s.c * multiplier)
        return self.layer("depthwise", fields + [self.bias_field(False)], result, result.count() * taps)

    def conv_transpose(self, s):
        out, kernel, stride = self.channels(s), self.any(1, 5), self.pick((1, 2, 2, 3))
        divisors = [g for g in range(2, 59) if s.c % g == 0 and out % g == 0]
        groups = self.pick(divisors) if divisors and self.chance(25) else 1
        dilation = self.any(2, 3) if self.chance(15) else 1
        span, pad, more = (kernel - 1) * dilation + 1, self.any(0, 2), self.any(0, 1)
        h, w = ((e - 1) * stride + span - 2 * pad + more for e in (s.h, s.w))
        if min(h, w) < 1:
            raise Misfit
        fields = [f".out = {out}", f".kernel = {kernel}", f".stride = {stride}", f".pad = {pad}",
                  ".output_pad = 1" if more else "", f".dilation = {dilation}" if dilation > 1 else "",
                  f".groups = {groups}" if groups > 1 else "", self.bias_field(False)]
        return self.layer("conv_transpose", fields, Shape(s.n, h, w, out), s.count() * kernel * kernel * out // groups)

    def pointwise(self, s, out=None):
        result = s._replace(c=out or self.channels(s))
        return self.layer("pointwise", [f".out = {result.c}", self.bias_field(False)], result, result.count() * s.c)

    def linear(self, s):
        result = s._replace(c=self.channels(s))
        return self.layer("linear", [f".out = {result.c}", self.bias_field(True)], result, result.count() * s.c)

    def batch_norm(self, s):
        return self.layer("batch_norm", [".epsilon = 1e-3f" if self.chance(40) else ""], s)

    def bias(self, s):
        return self.layer("bias", [], s)

    def activation(self, s):
        text = self.pick(ACTIVATIONS)
        self.note("gelu (tanh)" if "approximate" in text else text.split("{")[0])
        return text, s

    def convolution_block(self, s):
        """Convolution, norm, activation: the usual order for an epilogue."""
        text, s = self.pick((self.conv2d, self.depthwise, self.pointwise, self.linear))(s)
        if self.chance(80):
            text += " | " + self.batch_norm(s)[0]
        if self.chance(80):
            text += " | " + self.activation(s)[0]
        return text, s

    def pool(self, s):
        name = self.pick(("max_pool", "avg_pool"))
        kh = self.any(1, 3)
        kw = kh if self.chance(60) else self.any(1, 4)
        sh = self.any(1, 3)
        sw = sh if self.chance(60) else self.any(1, 3)
        d = 2 if self.chance(15) else 1
        span_h, span_w = (kh - 1) * d + 1, (kw - 1) * d + 1
        ceil = self.chance(45)
        if not ceil and d == 1 and self.chance(15):
            pad, h, w = ".pad = same", -(-s.h // sh), -(-s.w // sw)
            self.note("same")
        else:
            pad, (top, left, bottom, right) = self.pads(kh // 2, kw // 2)
            if s.h + top + bottom < span_h or s.w + left + right < span_w or (d > 1 and pad):
                raise Misfit
            h = extent(s.h, top, bottom, span_h, sh, ceil)
            w = extent(s.w, left, right, span_w, sw, ceil)
        count = name == "avg_pool" and self.chance(50)
        self.note(*(["ceil"] if ceil else []), *(["count_pads"] if count else []), *(["dilation"] if d > 1 else []))
        kernel = f".kernel = {kh}" if kh == kw else f".kernel = {{{kh}, {kw}}}"
        stride = "" if (sh, sw) == (kh, kw) else f".stride = {sh}" if sh == sw else f".stride = {{{sh}, {sw}}}"
        fields = [kernel, stride, pad, ".dilation = 2" if d > 1 else "", ".ceil = true" if ceil else "",
                  "" if name == "max_pool" or count else ".count_pads = false"]
        return self.layer(name, fields, s._replace(h=h, w=w))

    def global_pool(self, s):
        name = self.pick(("global_avg_pool", "global_max_pool"))
        return self.layer(name, [], s._replace(h=1, w=1))
