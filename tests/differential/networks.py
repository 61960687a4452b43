# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks of random layers: the algebra's combinators, lambdas, several inputs and outputs."""
import collections

from layers import CHANNELS, EXTENTS, Misfit, Shape
from transformers import Transformers


class Networks(Transformers):
    # Combinators

    def simple(self, s, changes_extent=True):
        """One layer."""
        choices = [self.pointwise, self.linear, self.batch_norm, self.parametric, self.activation, self.activation,
                   self.over_channels]
        if changes_extent:
            choices += [self.conv2d, self.conv2d, self.depthwise, self.conv_transpose, self.pool, self.movement,
                        self.pad_layer, self.pad_layer]
            choices += [self.convolution_block] * 3
        return self.pick(choices)(s)

    def keeping_extent(self, s):
        """One layer that keeps the number of rows and columns."""
        if self.chance(40):
            k = self.pick((1, 3, 3, 5))
            pad = self.pick((f".pad = {k // 2}", ".pad = same"))
            self.note("same" if "same" in pad else "pad")
            if self.chance(50):
                return self.layer("depthwise", [f".kernel = {k}", pad], s, s.count() * k * k)
            out = s._replace(c=self.channels(s))
            return self.layer("conv2d", [f".out = {out.c}", f".kernel = {k}", pad], out, out.count() * k * k * s.c)
        if self.chance(12):
            return self.pick((lambda t: self.slice(t, 3), self.channel_shuffle, self.round_trip, self.gated))(s)
        return self.simple(s, changes_extent=False)

    def chain(self, s, length, grow):
        texts = []
        while len(texts) < length:
            before = self.used.copy()
            try:
                text, s = grow(s)
                texts.append(text)
            except Misfit:
                self.used = before
        return texts, s

    def keeping_shape(self, s, length):
        """A chain whose result has the shape of its operand."""
        while True:
            before = self.used.copy()
            try:
                texts, t = self.chain(s, length, self.keeping_extent)
                if t != s or self.chance(30):
                    texts.append(self.pointwise(t, s.c)[0])
                return " | ".join(texts)
            except Misfit:
                self.used = before

    def convolutions(self, s):
        """A chain of convolutions with norms and activations, which intensive fusion computes in one pass."""
        texts = []
        for k in range(self.any(2, 4)):
            layers = (self.depthwise, self.depthwise, self.pointwise) + ((self.conv2d,) if k == 0 else ())
            text, s = self.pick(layers)(s)
            texts.append(text)
            if self.chance(60):
                texts.append(self.batch_norm(s)[0])
            if self.chance(60):
                texts.append(self.activation(s)[0])
        if self.chance(40):
            self.note("pool behind convolutions")
            text, s = self.pool(s)
            texts.append(text)
        self.note("chain of convolutions")
        return " | ".join(texts), s

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
        x = "(x | " + self.keeping_shape(s, 1) + ")" if self.chance(50) else "x"
        a, b = (x, gate) if self.chance(60) else (gate, x)
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
        kind = self.any(0, 165)
        for limit, make in ((10, self.residual), (16, self.repeat), (24, self.concat), (31, self.squeeze_excitation),
                            (39, self.shared), (46, self.global_pool), (54, self.pool), (68, self.convolutions),
                            (82, self.units), (85, self.gated), (87, self.modulated), (90, self.round_trip),
                            (95, self.stacked), (107, self.movement), (115, self.attention), (118, self.encoder),
                            (122, self.matmul),
                            (124, self.attention_by_hand), (131, self.combined), (133, self.outer),
                            (138, self.repeated),
                            (141, self.with_constant), (154, self.reduction), (158, self.norm)):
            if kind < limit and (make != self.global_pool or s.h * s.w > 1):
                return make(s)
        return self.simple(s)

    # Networks

    def input_shape(self):
        while True:
            s = Shape(2 if self.chance(40) else 1, self.pick(EXTENTS), self.pick(EXTENTS), self.pick(CHANNELS))
            if s.count() <= 6000:
                return s

    def input(self, s, channel_first):
        if channel_first:
            self.note("channel-first input")
        n = f".n = {s.n}, " if s.n > 1 else ""
        layout = ", .layout = layout::nchw" if channel_first else ""
        return f"input{{{n}.h = {s.h}, .w = {s.w}, .c = {s.c}{layout}}}"

    def tokens(self):
        """An input with row numbers of a table, and the embedding."""
        s = Shape(self.any(1, 3), self.pick((1, 1, 4)), self.any(1, 12), self.pick((1, 1, 3)))
        texts = [self.input(s, False)]
        if s.c > 1:
            text, s = self.layer("slice", [f".begin = {self.any(0, s.c - 1)}"], s._replace(c=1))
            texts.append(text)
        if self.chance(30):
            text, s = self.slice(s, self.any(0, 2))
            texts.append(text)
        if self.chance(20):
            self.note("reshape")
            s = Shape(1, s.n, s.h * s.w, 1)
            texts.append("reshape{%d, %d, %d, %d}" % s)
        text, s = self.embedding(s)
        texts.append(text)
        if self.chance(50):
            texts.append(self.positions(s)[0])
        return " | ".join(texts), s

    def chain_network(self):
        if self.chance(10):
            text, s = self.tokens()
        else:
            s = self.input_shape()
            text = self.input(s, self.chance(15))
        layers, t = self.chain(s, self.any(2, 7), self.block)
        if self.chance(15):
            self.note("channel-first output")
            layers.append("to_nchw{}")
        return "\n    | ".join([text] + layers)

    def traced_network(self):
        """Several inputs, several outputs, values that are both outputs and operands."""
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
        self.note(("" if s == t else "broadcast ") + {"+": "add", "*": "mul"}[operator])
        if self.chance(60):
            a = f"({a} | {self.keeping_shape(s, 1)})"
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
