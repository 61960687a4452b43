"""Random operators on two values of different extents, as text, and layers that repeat values."""
from layers import MAX_VALUES, Misfit
from movements import FIELDS, Movements

OPERATORS = ("{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} - {b}", "{a} / ({b} | sigmoid{{}})", "maximum({a}, {b})",
             "minimum({a}, {b})", "power({a} | sigmoid{{}}, {b} | sigmoid{{}})")


class Arithmetic(Movements):
    def parametric(self, s):
        """A layer with a number for each channel."""
        name = self.pick(("bias", "scale", "prelu"))
        return self.layer(name, [".shared = true"] if name == "prelu" and self.chance(30) else [], s)

    def part(self, s):
        """A value of which some extents are 1, made of x."""
        kind = self.any(0, 5)
        if kind == 0:
            return self.pick(("global_avg_pool{}", "global_max_pool{}"))
        axes = ((3,), (0,), (1, 2, 3), (self.any(1, 2),), (self.any(0, 1), 3))[kind - 1]
        names = ("axis::images", "axis::rows", "axis::columns", "axis::channels")
        return " | ".join(f"slice{{{self.any(0, s[k] - 1)}, 1, {names[k]}}}" for k in axes)

    def combined(self, s):
        """An operator on x and a part of it, in either order; both may be worked on."""
        a = "(x | " + self.keeping_shape(s, 1) + ")" if self.chance(60) else "x"
        b = "(x | " + self.part(s) + (" | " + self.activation(s)[0] if self.chance(40) else "") + ")"
        if self.chance(40):
            a, b = b, a
        self.note("operators on different extents")
        return f"[](tensor x) {{ return {self.pick(OPERATORS).format(a=a, b=b)}; }}", s

    def outer(self, s):
        """A row and a column make an image."""
        self.note("outer operators")
        return (f"[](tensor x) {{ return {self.pick(OPERATORS).format(a='(x | slice{0, 1, axis::rows})', b='(x | slice{0, 1, axis::columns})')}; }}",
                s)

    def repeated(self, s):
        """More elements: of extents that are 1, or of any."""
        name = self.pick(("expand", "tile"))
        times = [self.any(1, 3) if name == "tile" or e == 1 else 1 for e in s]
        out = s._replace(**{f: e * t for f, e, t in zip(FIELDS, s, times)})
        if out.count() > MAX_VALUES // 4 or out == s:
            raise Misfit
        return self.moved(name, [str(t if name == "tile" else e) for t, e in zip(times, out)], out)
