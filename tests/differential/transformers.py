# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random layers of transformers, as text: products of two values, attention, norms of pixels, tables."""
from arithmetic import Arithmetic


class Transformers(Arithmetic):
    # Layers

    def softmax(self, s):
        return self.layer("softmax", [], s)

    def layer_norm(self, s):
        return self.layer("layer_norm", [".epsilon = 1e-3f" if self.chance(50) else ""], s)

    def positions(self, s):
        return self.layer("positions", [], s)

    def over_channels(self, s):
        return self.pick((self.softmax, self.layer_norm, self.layer_norm, self.positions))(s)

    def embedding(self, s):
        """An embedding of an input's numbers, possibly moved; they are rows of the table, or just beyond it."""
        out = s._replace(c=self.pick((3, 8, 16, 17, 24)))
        return self.layer("embedding", [f".entries = {self.any(1, 40)}", f".width = {out.c}"], out)

    # Products of two values

    def matmul(self, s):
        """A product of a value and one computed from it."""
        kind = self.any(0, 3)
        rows, product = s.w, "x | " + self.keeping_shape(s, 1) if self.chance(50) else "x"
        if kind == 0 and s.n * s.h > 1:
            self.note("matmul with one for all")
            other = "x"
            if s.h > 1:
                other += f" | slice{{{self.any(0, s.h - 1)}, 1, axis::rows}}"
            if s.n > 1 and self.chance(60):
                other += f" | slice{{{self.any(0, s.n - 1)}, 1, axis::images}}"
        elif kind == 1:
            rows = self.any(1, 35)
            other = f"x | resize_nearest{{{s.h}, {rows}}}"
        else:
            other = "x"
        out = s._replace(c=rows)
        self.check(out, s.count() * rows)
        transposed = self.chance(60)
        if not transposed:
            other += " | permute{0, 1, 3, 2}"
        self.note("matmul (transposed)" if transposed else "matmul")
        last = ", true" if transposed else ""
        return f"[](tensor x) {{ return matmul({product}, {other}{last}); }}", out

    def attention_by_hand(self, s):
        self.check(s, 2 * s.count() * s.w)
        self.note("matmul (transposed)", "matmul", "softmax")
        between = self.pick(("softmax{}", "softmax{}", "map{soft_sign} | softmax{}", "softmax{} | relu{}"))
        return f"[](tensor x) {{ return matmul(matmul(x, x, true) | {between}, x); }}", s

    def attention(self, s):
        patch = self.patch(s) if self.chance(40) else (1, 1)
        tokens, places = s.h * s.w // (patch[0] * patch[1]), patch[0] * patch[1]
        heads = self.divisor(s.c) if self.chance(80) else 1
        fields = [f".heads = {heads}" if heads > 1 else "", self.patch_field(patch),
                  ".scale = .375f" if self.chance(25) else ""]
        layer = "attention{" + ", ".join(f for f in fields if f) + "}"
        make = self.pick((self.side_by_side, self.of_itself, self.of_itself, self.of_three, self.of_others,
                          self.of_others, self.with_shared_weights))
        text, others = make(s, layer, patch)
        self.check(s, 2 * s.n * places * tokens * (others or tokens) * s.c)
        self.note("attention", *(["attention of patches"] if places > 1 else []))
        if self.chance(40):
            text += f" | linear{{{s.c}}}"
        elif self.chance(40):
            text += " | " + self.activation(s)[0]
        return text, s

    def side_by_side(self, s, layer, _):
        return f"linear{{{3 * s.c}}} | {layer}", 0

    def of_itself(self, s, layer, _):
        return f"[](tensor x) {{ return {layer}(x, x, x){self.pick(('', ' + x'))}; }}", 0

    def of_three(self, s, layer, _):
        q, k, v = (f"x | {self.pick((f'linear{{{s.c}}}', 'identity{}', 'layer_norm{}'))}" for _ in range(3))
        return f"[](tensor x) {{ return {layer}({q}, {k}, {v}); }}", 0

    def of_others(self, s, layer, patch):
        """Attention whose keys and values are other tokens, more or fewer."""
        h, w = patch[0] * self.any(1, 5), patch[1] * self.any(1, 5)
        if s.h > patch[0] and self.chance(50):
            count = patch[0] * self.any(1, s.h // patch[0])
            h, w = count, s.w
            make = f"slice{{{self.any(0, s.h - count)}, {count}, axis::rows}}"
        else:
            make = f"{self.pick(('resize_nearest', 'resize_bilinear'))}{{{h}, {w}}}"
        values = self.pick(("m", "m", f"m | linear{{{s.c}}}"))
        self.note("cross attention")
        tokens = h * w // (patch[0] * patch[1])
        return f"[](tensor x) {{ auto const m = x | {make}; return {layer}(x, m, {values}); }}", tokens

    def with_shared_weights(self, s, layer, _):
        self.note("attentions with the same weights")
        return f"[](tensor x) {{ return {layer}(x, x, x) + {layer}(x, x, x | pointwise{{{s.c}}}); }}", 0

    def encoder(self, s):
        self.note("encoder", "layer_norm", "linear", "linear")
        self.check(s, 4 * s.count() * s.c)
        attention = self.attention(s)[0]
        wide = f"linear{{{2 * s.c}}} | {self.pick(('gelu{}', 'silu{}', 'relu{}'))} | linear{{{s.c}}}"
        return f"residual{{layer_norm{{}} | {attention}}} | residual{{layer_norm{{}} | {wide}}}", s
