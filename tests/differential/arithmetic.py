# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operators on two values of different extents, and layers that repeat values, as text."""
from layers import MAX_VALUES, Misfit
from movements import AXES, FIELDS, Movements

OPERATORS = ("{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} - {b}", "{a} / ({b} | sigmoid{{}})", "maximum({a}, {b})",
             "minimum({a}, {b})", "less({a}, {b})", "power({a} | sigmoid{{}}, {b} | sigmoid{{}})")


class Arithmetic(Movements):
    def parametric(self, s):
        """A layer with one number per channel."""
        name = self.pick(("bias", "scale", "prelu"))
        return self.layer(name, [".shared = true"] if name == "prelu" and self.chance(30) else [], s)

    def norm(self, s):
        """Normalisation by statistics of the value itself."""
        groups = self.pick([g for g in range(1, s.c + 1) if s.c % g == 0])
        text = self.pick((f"group_norm{{.groups = {groups}, .epsilon = .125f}}", "instance_norm{.epsilon = .125f}",
                          "rms_norm{.epsilon = .125f}", "l2_normalize{.least = 1.f}",
                          f"local_response_norm{{.size = {self.any(1, 5)}, .alpha = .5f}}"))
        if text.startswith("local") and s.count() > 3000:
            raise Misfit
        self.note(text.split("{")[0])
        self.check(s, 10 * s.count())
        return text, s

    def part(self, s):
        """A value computed from x, some of whose extents are 1."""
        kind = self.any(0, 5)
        if kind == 0:
            return self.pick(("global_avg_pool{}", "global_max_pool{}"))
        axes = ((3,), (0,), (1, 2, 3), (self.any(1, 2),), (self.any(0, 1), 3))[kind - 1]
        names = ("axis::images", "axis::rows", "axis::columns", "axis::channels")
        return " | ".join(f"slice{{{self.any(0, s[k] - 1)}, 1, {names[k]}}}" for k in axes)

    def combined(self, s):
        """An operator on x and a part of it, in either order, possibly after further layers."""
        a = "(x | " + self.keeping_shape(s, 1) + ")" if self.chance(60) else "x"
        b = "(x | " + self.part(s) + (" | " + self.activation(s)[0] if self.chance(40) else "") + ")"
        if self.chance(40):
            a, b = b, a
        self.note("operators on different extents")
        return f"[](tensor x) {{ return {self.pick(OPERATORS).format(a=a, b=b)}; }}", s

    def with_constant(self, s):
        """An operator on x and a trained value, some of whose extents are 1."""
        extents = [1 if self.chance(40) else e for e in s]
        b = "(x | constant{%d, %d, %d, %d})" % tuple(extents)
        self.note("constant")
        if s.c > 1 and self.chance(20):
            self.note("concat")
            self.check(s._replace(c=s.c + 2))
            return "[](tensor x) { return concat(x, x | constant{%d, %d, %d, 2}); }" % s[:3], s._replace(c=s.c + 2)
        a, b = ("x", b) if self.chance(50) else (b, "x")
        return f"[](tensor x) {{ return {self.pick(OPERATORS).format(a=a, b=b)}; }}", s

    def outer(self, s):
        """An image from a row and a column."""
        self.note("outer operators")
        row, column = "(x | slice{0, 1, axis::rows})", "(x | slice{0, 1, axis::columns})"
        return f"[](tensor x) {{ return {self.pick(OPERATORS).format(a=row, b=column)}; }}", s

    def repeated(self, s):
        """Repetition of elements: expanding extents of 1, or tiling."""
        name = self.pick(("expand", "tile"))
        times = [self.any(1, 3) if name == "tile" or e == 1 else 1 for e in s]
        out = s._replace(**{f: e * t for f, e, t in zip(FIELDS, s, times)})
        if out.count() > MAX_VALUES // 4 or out.c > 116 or out == s:
            raise Misfit
        return self.moved(name, [str(t if name == "tile" else e) for t, e in zip(times, out)], out)

    def reduction(self, s):
        """A reduction along some axes, often combined with the value itself, as in norms."""
        if self.chance(15):
            axis = self.any(0, 3)
            last = ", .last = true" if self.chance(50) else ""
            text = f"arg_max{{.along = axis::{AXES[axis]}{last}}}"
            self.note("arg_max")
            return text, s._replace(**{FIELDS[axis]: 1})
        name = self.pick(("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_product", "reduce_product"))
        axes = [k for k in range(4) if self.chance(25 if k == 0 else 50)] or [3]
        out = s._replace(**{FIELDS[k]: 1 for k in axes})
        if name == "reduce_product" and s.count() > 30 * out.count():
            raise Misfit
        self.note(name)
        text = ("sigmoid{} | " if name == "reduce_product" else "")  # large products would exceed float32
        text += name + "{{" + ", ".join(f"axis::{AXES[k]}" for k in axes) + "}}"
        if self.chance(60):
            return f"[](tensor x) {{ return {self.pick(OPERATORS).format(a='x', b=f'(x | {text})')}; }}", s
        return text, out
