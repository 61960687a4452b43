# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random layers that move elements, as text: parts of values, other orders and extents, channels in segments."""
from layers import Layers, Misfit, Shape

AXES = ("images", "rows", "columns", "channels")
FIELDS = "nhwc"
MAX_CHANNELS = 300  # of a value whose extents are permuted


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


class Movements(Layers):
    def divisor(self, n):
        return self.pick(divisors(n))

    def moved(self, name, fields, s):
        if s.c > MAX_CHANNELS:
            raise Misfit
        return self.layer(name, fields, s)

    # Layers

    def slice(self, s, axis=None):
        if axis is None:
            axis = 3 if self.chance(50) else self.any(0, 2)
        begin, step = self.any(0, s[axis] - 1), self.pick((2, 3, -1, -2)) if self.chance(30) else 1
        count = self.any(1, (begin if step < 0 else s[axis] - 1 - begin) // abs(step) + 1)
        self.note("slice of " + AXES[axis])
        return self.layer("slice", [f".begin = {begin}", f".count = {count}",
                                    "" if axis == 3 else f".axis = axis::{AXES[axis]}",
                                    "" if step == 1 else f".step = {step}"], s._replace(**{FIELDS[axis]: count}))

    def channel_shuffle(self, s):
        return self.layer("channel_shuffle", [f".groups = {self.divisor(s.c)}"], s)

    def reshape(self, s):
        """Moves factors of extents to other extents."""
        extents = list(s)
        for _ in range(self.any(1, 3)):
            here, there = self.any(0, 3), self.any(0, 3)
            factor = self.divisor(extents[here])
            extents[here] //= factor
            extents[there] *= factor
        return self.moved("reshape", [f".{name} = {e}" for name, e in zip(FIELDS, extents)],
                          s._replace(**dict(zip(FIELDS, extents))))

    def permute(self, s):
        order = sorted(range(4), key=lambda _: self.random.random())
        return self.moved("permute", [str(k) for k in order], s._replace(**{f: s[k] for f, k in zip(FIELDS, order)}))

    def patch(self, s):
        return self.divisor(s.h), self.divisor(s.w)

    @staticmethod
    def patch_field(patch):
        h, w = patch
        return "" if h == w == 1 else f".patch = {h}" if h == w else f".patch = {{{h}, {w}}}"

    def unfold(self, s, patch=None):
        h, w = patch or self.patch(s)
        return self.layer("unfold", [f".patch = {{{h}, {w}}}"],
                          s._replace(n=s.n * h * w, h=1, w=s.h * s.w // (h * w)))

    def pad_layer(self, s):
        sides = [self.any(0, 3) for _ in range(4)]
        more = [self.any(0, 3), self.any(0, 3)] if self.chance(25) else [0, 0]
        mode = self.pick(("reflect", "edge", "wrap")) if self.chance(30) else ""
        if mode in ("reflect", "wrap"):
            most = [extent - (mode == "reflect") for extent in (s.h, s.w, s.h, s.w, s.c, s.c)]
            limited = [min(side, limit) for side, limit in zip(sides + more, most)]
            sides, more = limited[:4], limited[4:]
        value = self.pick(("", "", ".value = -1.5f"))
        self.note(*([mode] if mode else []))
        out = s._replace(h=s.h + sides[0] + sides[2], w=s.w + sides[1] + sides[3], c=s.c + sum(more))
        return self.layer("pad", [".sides = pads{%d, %d, %d, %d}" % tuple(sides), value,
                                  f".mode = pad_mode::{mode}" if mode else "",
                                  f".channels_before = {more[0]}" if more[0] else "",
                                  f".channels_after = {more[1]}" if more[1] else ""], out)

    def blocks(self, s):
        """Turns channels into pixels, or the reverse."""
        b = self.any(2, 3)
        if self.chance(50):
            out, names = Shape(s.n, s.h * b, s.w * b, s.c // (b * b)), ("depth_to_space", "pixel_shuffle")
        else:
            out, names = Shape(s.n, s.h // b, s.w // b, s.c * b * b), ("space_to_depth", "pixel_unshuffle")
        if out.count() != s.count() or out.c > 116:
            raise Misfit
        return self.moved(self.pick(names), [str(b)], out)

    def resize(self, s):
        out = s._replace(h=self.any(1, 13), w=self.any(1, 13))
        name, fields = self.pick(("resize_nearest", "resize_bilinear")), [f".height = {out.h}", f".width = {out.w}"]
        if self.chance(50):
            places = ("half_pixel", "asymmetric", "align_corners", "half_pixel_or_first")
            fields.append(".sampling = sampling::" + self.pick(places))
        if name == "resize_nearest" and self.chance(50):
            fields.append(".rounding = rounding::" + self.pick(("up", "nearest_or_down", "nearest_or_up")))
        return self.layer(name, fields, out)

    def movement(self, s):
        """One layer that may change every extent."""
        return self.pick((self.slice, self.slice, self.channel_shuffle, self.reshape, self.reshape, self.permute,
                          self.unfold, self.pad_layer, self.pad_layer, self.resize, self.resize, self.resize,
                          self.blocks))(s)

    # Combinations

    def round_trip(self, s):
        """Changes extents, adds a layer, and changes them back."""
        kind = self.any(0, 2)
        if kind == 0:
            there, t = self.reshape(s)
            back = "reshape{%d, %d, %d, %d}" % s
        elif kind == 1:
            there, t = self.permute(s)
            order = [int(k) for k in there[8:-1].split(", ")]
            back = "permute{%s}" % ", ".join(str(order.index(k)) for k in range(4))
        else:
            patch = self.patch(s)
            there, t = self.unfold(s, patch)
            back = "fold{%d, %d, {%d, %d}}" % (s.h, s.w, *patch)
            self.note("fold")
        return " | ".join([there, self.keeping_shape(t, 1), back]), s

    def stacked(self, s):
        """Concatenates values along an axis other than the channels."""
        axis = self.any(0, 2)
        parts, extent = [], 0
        for _ in range(self.any(2, 3)):
            text, t = "x", s
            if self.chance(50):
                text += " | " + self.keeping_shape(s, 1)
            if self.chance(40):
                layer, t = self.slice(s, axis)
                text += " | " + layer
            parts.append(text)
            extent += t[axis]
        out = s._replace(**{FIELDS[axis]: extent})
        self.note("concat of " + AXES[axis])
        self.check(out)
        return f"[](tensor x) {{ return concat(axis::{AXES[axis]}, {', '.join(parts)}); }}", out

    def gated(self, s):
        """One half of the channels times a function of the other."""
        if s.c % 2:
            raise Misfit
        self.note("gated")
        half = s._replace(c=s.c // 2)
        gate = self.pick((self.activation(half)[0], self.keeping_shape(half, 1)))
        return f"[](tensor x) {{ auto const [a, b] = chunk<2>(x); return a {self.pick('*+')} (b | {gate}); }}", half

    def modulated(self, s):
        """Scales and shifts each channel by numbers computed from the image: operands that are parts of a value."""
        self.note("modulated", "global_avg_pool", "linear")
        self.check(s, 2 * s.c * s.c)
        return (f"[](tensor x) {{ auto const [a, b] = chunk<2>(x | global_avg_pool{{}} | linear{{{2 * s.c}}}); "
                "return x * a + b; }"), s

    def branch(self, s):
        """The branch of a unit on a part of the channels; it keeps their number."""
        filter_ = f"depthwise{{.kernel = {self.pick((3, 3, 5))}, .pad = same}}"
        if self.chance(50):
            filter_ += " | " + self.batch_norm(s)[0]
        if self.chance(40):
            filter_ += " | " + self.activation(s)[0]
        mix = f"pointwise{{{s.c}}}" + (" | batch_norm{} | relu{}" if self.chance(50) else "")
        window = self.pick(("max_pool", "avg_pool")) + "{.kernel = 3, .stride = 1, .pad = 1}"
        self.check(s, s.count() * max(25, s.c))
        return self.pick((filter_, filter_, mix, f"{filter_} | {mix}", f"{mix} | {filter_} | pointwise{{{s.c}}}",
                          window, self.activation(s)[0], self.bias(s)[0]))

    def unit(self, s):
        """Parts of the channels, some through a branch, concatenated in another order and shuffled, as in ShuffleNet."""
        parts = [n for n in (2, 2, 2, 3, 4) if s.c % n == 0]
        if not parts:
            raise Misfit
        count = self.pick(parts)
        names = "abcd"[:count]
        values = [f"({x} | {self.branch(s._replace(c=s.c // count))})" if self.chance(55) else x for x in names]
        if self.chance(25):
            values.append(values.pop(0))
        shuffle = f" | channel_shuffle{{{self.divisor(s.c) if self.chance(40) else count}}}"
        if self.chance(20):
            shuffle = ""
        return "[](tensor x) { auto const [%s] = chunk<%d>(x); return concat(%s)%s; }" % (
            ", ".join(names), count, ", ".join(values), shuffle)

    def units(self, s):
        """Several units: values consist of more and more segments."""
        if self.chance(50):
            text = f"repeat{{{self.any(2, 6)}, {self.unit(s)}}}"
        else:
            text = " | ".join(self.unit(s) for _ in range(self.any(1, 3)))
        self.note("units of shuffled channels")
        if self.chance(40):
            text += " | " + self.branch(s)
        if self.chance(40):
            text += f" | {self.pointwise(s, s.c)[0]}"
        return text, s
