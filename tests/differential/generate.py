#!/usr/bin/env python3
"""Writes random small networks in the layer algebra, as C++, for the differential test.

    generate.py --networks 240 --files 6 --seed 1 --out <folder>

Writes <folder>/networks_<k>.cpp and networks.hpp, and prints how often each layer occurs. The same arguments give the same files: only
random() is used, whose sequence Python guarantees.
"""
import argparse
import collections
import math
import pathlib
import random

CHANNELS = (1, 3, 5, 8, 15, 16, 17, 24, 33, 58, 116)
EXTENTS = (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13)
ACTIVATIONS = ("relu{}", "relu6{}", "leaky_relu{.slope = .125f}", "leaky_relu{}", "clip{.lo = -.5f, .hi = .75f}", "clip{}",
               "hard_tanh{}", "hard_sigmoid{}", "hard_swish{}", "sigmoid{}", "silu{}", "gelu{}", "gelu{.approximate = true}",
               "hyperbolic_tangent{}", "map{soft_sign}", "map{bent}", "map{gaussian}", "identity{}")
MAX_MULTIPLICATIONS = 600_000  # of one layer
MAX_VALUES = 30_000            # floats of one value


class Shape(collections.namedtuple("Shape", "n h w c")):
    def count(self):
        return self.n * self.h * self.w * self.c


class Misfit(Exception):
    """This layer cannot follow here; try another."""


class Generator:
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
        """Often those of before, so that sums and kernels recur."""
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
        """Text of a pad, and (top, left, bottom, right)."""
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
            more = 2 if self.chance(10) else -1  # now and then windows that see nothing but padding
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

    def layer(self, name, fields, out, multiplications=0):
        if out.count() > MAX_VALUES or multiplications > MAX_MULTIPLICATIONS:
            raise Misfit
        self.note(name)
        return name + "{" + ", ".join(f for f in fields if f) + "}", out

    def bias_field(self, default):
        if self.chance(50):
            return ""
        return ".bias = false" if default else ".bias = true"

    # Layers: each returns its text and the shape behind it.

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
        """Convolution, norm, activation: the order that epilogues are for."""
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
        d = 2 if name == "max_pool" and self.chance(15) else 1
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
        return self.layer(self.pick(("global_avg_pool", "global_avg_pool", "global_max_pool")), [], s._replace(h=1, w=1))

    # Combinators

    def simple(self, s, changes_extent=True):
        """One layer."""
        choices = [self.pointwise, self.linear, self.batch_norm, self.bias, self.activation, self.activation]
        if changes_extent:
            choices += [self.conv2d, self.conv2d, self.depthwise, self.pool] + [self.convolution_block] * 3
        return self.pick(choices)(s)

    def keeping_extent(self, s):
        """One layer whose result has as many rows and columns."""
        if self.chance(40):
            k = self.pick((1, 3, 3, 5))
            pad = self.pick((f".pad = {k // 2}", ".pad = same"))
            self.note("same" if "same" in pad else "pad")
            if self.chance(50):
                return self.layer("depthwise", [f".kernel = {k}", pad], s, s.count() * k * k)
            out = s._replace(c=self.channels(s))
            return self.layer("conv2d", [f".out = {out.c}", f".kernel = {k}", pad], out, out.count() * k * k * s.c)
        return self.simple(s, changes_extent=False)

    def chain(self, s, length, grow):
        texts = []
        while len(texts) < length:
            try:
                text, s = grow(s)
                texts.append(text)
            except Misfit:
                pass
        return texts, s

    def keeping_shape(self, s, length):
        """A chain whose result has the shape of its operand."""
        while True:
            try:
                texts, t = self.chain(s, length, self.keeping_extent)
                if t != s or self.chance(30):
                    texts.append(self.pointwise(t, s.c)[0])
                return " | ".join(texts)
            except Misfit:
                pass

    def residual(self, s):
        self.note("residual")
        return "residual{" + self.keeping_shape(s, self.any(1, 3)) + "}", s

    def repeat(self, s):
        self.note("repeat")
        return "repeat{%d, %s}" % (self.any(2, 3), self.keeping_shape(s, self.any(1, 2))), s

    def concat(self, s):
        parts, channels = [], 0
        for _ in range(self.any(2, 3)):
            if self.chance(15):
                parts.append("identity{}")
                channels += s.c
                continue
            texts, t = self.chain(s, self.any(1, 2), self.keeping_extent)
            parts.append(" | ".join(texts))
            channels += t.c
        self.note("concat")
        return "concat(" + ", ".join(parts) + ")", s._replace(c=channels)

    def squeeze_excitation(self, s):
        """A gate broadcast over the image, on either side of the operator."""
        inner = self.pick((4, 8, 16))
        gate = ["global_avg_pool{}", f"linear{{{inner}}}", self.pick(("relu{}", "silu{}")), f"linear{{{s.c}}}",
                self.pick(("sigmoid{}", "hard_sigmoid{}"))]
        operator = self.pick("**+")
        self.note("broadcast mul" if operator == "*" else "broadcast add", "global_avg_pool", "linear", "linear")
        gate = "(x | " + " | ".join(gate) + ")"
        a, b = ("x", gate) if self.chance(60) else (gate, "x")
        return f"[](tensor x) {{ return {a} {operator} {b}; }}", s

    def shared(self, s):
        """One value with several readers."""
        self.note("lambda")
        f, t = self.chain(s, 1, self.keeping_extent)
        g, h = self.keeping_shape(t, 1), self.keeping_shape(t, 1)
        body = self.pick(("y + (y | {g}) * (y | {h})", "concat(y | {g}, y, y | {h})", "(y | {g}) + y + y",
                          "concat(y, y) | {p}", "y * y + (y | {g})"))
        out = t._replace(c=3 * t.c if body.startswith("concat(y |") else t.c)
        if "{p}" in body:
            p, out = self.pointwise(t._replace(c=2 * t.c))
            body = body.replace("{p}", p)
        for key, layer in (("{g}", g), ("{h}", h)):
            body = body.replace(key, layer)
        return f"[](tensor x) {{ auto y = x | {f[0]}; return {body}; }}", out

    def block(self, s):
        if self.chance(4):
            self.note("named")
            text, s = self.block(s)
            return f'named("n", {text})', s
        if s.c > 120:
            return self.pointwise(s, 16)
        kind = self.any(0, 99)
        for limit, make in ((10, self.residual), (16, self.repeat), (24, self.concat), (31, self.squeeze_excitation),
                            (39, self.shared), (44, self.global_pool), (52, self.pool)):
            if kind < limit and (make != self.global_pool or s.h * s.w > 1):
                return make(s)
        return self.simple(s)

    # Networks

    def input_shape(self):
        while True:
            s = Shape(2 if self.chance(25) else 1, self.pick(EXTENTS), self.pick(EXTENTS), self.pick(CHANNELS))
            if s.count() <= 6000:
                return s

    def input(self, s, channel_first):
        if channel_first:
            self.note("channel-first input")
        n = f".n = {s.n}, " if s.n > 1 else ""
        layout = ", .layout = layout::nchw" if channel_first else ""
        return f"input{{{n}.h = {s.h}, .w = {s.w}, .c = {s.c}{layout}}}"

    def chain_network(self):
        s = self.input_shape()
        text = self.input(s, self.chance(15))
        layers, t = self.chain(s, self.any(2, 7), self.block)
        if self.chance(15):
            self.note("channel-first output")
            layers.append("to_nchw{}")
        return "\n    | ".join([text] + layers)

    def traced_network(self):
        """Several inputs, several outputs, values that are both output and operand."""
        s = self.input_shape()
        inputs = [s]
        if self.chance(60):
            inputs.append(self.pick((s, Shape(s.n, 1, 1, s.c), s._replace(c=self.pick(CHANNELS)))))
        first = [self.chance(10) for _ in inputs]
        names = "abc"[: len(inputs)]
        body, values = [], list(zip(names, inputs))
        joined = len(inputs) == 1 or self.chance(10)
        if joined and len(inputs) > 1:
            self.note("unread input")
            values.pop()
        for _ in range(self.any(2, 5)):
            name, t = values[-1] if self.chance(60) else self.pick(values)
            new = f"v{len(body)}"
            if not joined:
                name, t = values[0]
                text, t = self.join(name, t, names[1], inputs[1])
                joined = True
            else:
                layers, t = self.chain(t, self.any(1, 2), self.block)
                text = " | ".join([name] + layers)
                for other, u in values:
                    if u == t and self.chance(40):
                        operator = self.pick("+*")
                        self.note({"+": "add", "*": "mul"}[operator])
                        text = f"({text}) {operator} {other}"
                        break
            body.append(f"  [[maybe_unused]] auto {new} = {text};")
            values.append((new, t))
        return self.finish_trace(body, values, names, inputs, first)

    def join(self, a, s, b, t):
        if t.h == s.h and t.w == s.w and t.n == s.n and (t.c != s.c or self.chance(30)):
            self.note("concat")
            return f"concat({a}, {b})", s._replace(c=s.c + t.c)
        operator = self.pick("+*")
        self.note({"+": "add", "*": "mul"}[operator] if s == t else {"+": "broadcast add", "*": "broadcast mul"}[operator])
        return f"{a} {operator} {b}", s

    def finish_trace(self, body, values, names, inputs, first):
        results = [values[-1][0]]
        for name, _ in values[:-1]:
            if self.chance(5 if name in names else 40) and len(results) < 3:
                results.append(name)
        if self.chance(5):
            results.append(results[0])
        if len(results) > 1:
            self.note("several outputs")
        if len(inputs) > 1:
            self.note("several inputs")
        if self.chance(15):
            self.note("channel-first output")
            results[-1] += " | to_nchw{}"
        last = results[0] if len(results) == 1 else "outputs(" + ", ".join(results) + ")"
        body.append(f"  return {last};")
        parameters = ", ".join(f"[[maybe_unused]] tensor {n}" for n in names)
        declared = ",\n    ".join(self.input(s, f) for s, f in zip(inputs, first))
        return "trace([](%s) {\n%s\n}, %s)" % (parameters, "\n".join(body), declared)

    def network(self):
        while True:
            self.used = collections.Counter()
            try:
                text = self.chain_network() if self.chance(65) else self.traced_network()
            except Misfit:
                continue
            self.coverage.update(self.used)
            return text


def extent(size, before, after, kernel, stride, ceil):
    """Output extent of a window, as in PyTorch."""
    if not ceil:
        return (size + before + after - kernel) // stride + 1
    count = -(-(size + before + after - kernel) // stride) + 1
    return count - 1 if (count - 1) * stride >= size + before else count


def write(path, text):
    """Leaves a file alone that is as it should be, so that it is not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", type=int, default=240)
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    coverage = collections.Counter()
    for file in range(options.files):
        numbers = range(file * options.networks // options.files, (file + 1) * options.networks // options.files)
        lines = ["// Written by generate.py.", "#include <differential/subject.hpp>", "", "namespace differential {",
                 "namespace {", "", "using namespace ago;", ""]
        for k in numbers:
            lines += [f"constexpr auto net_{k} = {Generator(options.seed * 100_000 + k, coverage).network()};", ""]
        lines += ["}  // namespace", "", f"void add_networks_{file}(std::vector<subject>& list) {{"]
        lines += [f"  list.push_back(make_subject<net_{k}, {k}>());" for k in numbers]
        lines += ["}", "", "}  // namespace differential", ""]
        write(options.out / f"networks_{file}.cpp", "\n".join(lines))
    declarations = "".join(f"void add_networks_{f}(std::vector<subject>&);\n" for f in range(options.files))
    calls = "".join(f"  add_networks_{f}(all);\n" for f in range(options.files))
    write(options.out / "networks.hpp",
          "// Written by generate.py.\n#pragma once\n\n#include <differential/subject.hpp>\n\nnamespace differential {\n\n"
          + declarations + "\ninline std::vector<subject> all_networks() {\n  std::vector<subject> all;\n" + calls
          + "  return all;\n}\n\n}  // namespace differential\n")
    print(f"{options.networks} networks in {options.files} files, seed {options.seed}:")
    for name, count in sorted(coverage.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main()
