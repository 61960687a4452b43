#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the chart in README.md from figures kept by bench/report.py, for light pages and for dark pages.

usage: bench/chart.py bench/results/zen5.json docs/images           writes speed-light.svg and speed-dark.svg
       bench/chart.py bench/results/zen5.json docs/images --check   checks that they are up to date
"""
import json
import pathlib
import sys
from xml.sax.saxutils import escape

# Every network at its published size, the largest one measured.
NETWORKS = [("mobilenet_v2", 224, "MobileNet-V2"), ("mnasnet", 224, "MnasNet-1.0"), ("squeezenet", 224, "SqueezeNet-1.1"),
            ("shufflenet_v2", 224, "ShuffleNet-V2 x1.0"), ("mobilevit_s", 256, "MobileViT-S"), ("bert_tiny", 128, "BERT-tiny")]
ENGINES = ["onednn", "xnnpack", "onnxruntime"]
# One colour for ago and grey for the others; names are written at the bars, so that no one has to tell hues apart.
THEMES = {"light": {"text": "#1f2328", "faint": "#59636e", "ago": "#0969da", "other": "#b6bfc9", "line": "#d1d9e0"},
          "dark": {"text": "#f0f6fc", "faint": "#9198a1", "ago": "#4493f8", "other": "#545d68", "line": "#3d444d"}}
WIDTH, LEFT, UNIT = 800, 170, 222  # in pixels; UNIT is the length of ago's time
BAR, PITCH, GAP, TOP = 15, 19, 15, 78


def bars_of(rows, network, size):
    """(name or engine, multiple of ago's time, label) of each bar, ago's first."""
    by = {r["variant"]: r for r in rows if (r["network"], r["size"]) == (network, size)}
    milliseconds = by["ago"]["median_ms"]
    yield "ago", 1., f"{milliseconds:.{2 if milliseconds >= 1 else 3}f} ms"
    for engine in ENGINES:
        if engine in by:
            yield engine, by[engine]["ratio"], f"{by[engine]['ratio']:.2f}×"


def text(x, y, words, color, size=13, more=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}"{more}>{escape(words)}</text>'


def chart(results, theme):
    color, names = THEMES[theme], {"ago": "ago", **results["engines"]}
    body, y = [], TOP
    for network, size, title in NETWORKS:
        bars = list(bars_of(results["rows"], network, size))
        middle = y + (len(bars) * PITCH - PITCH + BAR) // 2
        extent = f"{size} tokens" if network == "bert_tiny" else f"{size} × {size}"
        right = ' text-anchor="end"'
        body.append(text(LEFT - 12, middle - 2, title, color["text"], 13, right + ' font-weight="600"'))
        body.append(text(LEFT - 12, middle + 14, extent, color["faint"], 12, right))
        for engine, multiple, label in bars:
            own = engine == "ago"
            body.append(f'<rect x="{LEFT}" y="{y}" width="{multiple * UNIT:.1f}" height="{BAR}" rx="2" '
                        f'fill="{color["ago" if own else "other"]}"/>')
            body.append(f'<text x="{LEFT + multiple * UNIT + 8:.1f}" y="{y + 12}" font-size="12" fill="{color["faint"]}">'
                        f'<tspan fill="{color["text"]}" font-weight="600">{label}</tspan> {escape(names[engine])}</text>')
            y += PITCH
        y += GAP
    height = y + 18
    line = f'<path d="M{LEFT} {TOP - 6}V{y - GAP + 2}" stroke="{color["line"]}"/>'
    about = "Bars and ratios: time over ago’s on the same network, medians of 60 interleaved runs. No bar: the engine lacks layers."
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        'font-family="-apple-system, BlinkMacSystemFont, Segoe UI, Noto Sans, Helvetica, Arial, sans-serif">',
        f"<title>{escape(summary(results))}</title>",
        text(0, 20, "Inference time on one core, relative to ago: shorter is better", color["text"], 18, ' font-weight="600"'),
        text(0, 42, f"float32, batch 1, {results['machine']}, {results['compiler']}", color["faint"]),
        line, *body, text(0, height - 6, about, color["faint"], 12), "</svg>", ""])


def summary(results):
    """The chart as a sentence, for readers who cannot see it."""
    parts = []
    for network, size, title in NETWORKS:
        own, *others = bars_of(results["rows"], network, size)
        parts.append(f"{title} {own[2]}, " + ", ".join(f"{results['engines'][e]} {label}" for e, _, label in others))
    return f"Time of one inference on {results['machine']}: " + "; ".join(parts)


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    results = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    stale = []
    for theme in THEMES:
        path, drawn = pathlib.Path(sys.argv[2]) / f"speed-{theme}.svg", chart(results, theme)
        if not sys.argv[3:]:
            path.write_text(drawn, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
            stale.append(f"{path} is not what bench/chart.py draws from {sys.argv[1]}")
    sys.exit("\n".join(stale) if stale else 0)


if __name__ == "__main__":
    main()
