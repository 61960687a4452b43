#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs bench/networks, imported, policies, limits, kernels and subgraphs and writes their figures as Markdown tables.
`losses` and `predictions` are made from the profiles of the networks.

With --update, the text of a page between `<!-- report: kernels -->` (or another report's name) and
`<!-- /report -->` is replaced. Without it, the tables are printed.

The figures of whole networks can be kept in a file (--save). --from makes their table from this file without
measuring again, and bench/chart.py draws the chart in the README from it.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

import predictions

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENGINES = {"onednn": "oneDNN", "xnnpack": "XNNPACK", "ncnn": "ncnn", "onnxruntime": "ONNX Runtime"}
KINDS = ["conv2d", "pointwise", "linear", "depthwise", "max_pool", "global_avg_pool"]
LOSERS = ["pipelines", "pointwise", "of 2 to 16 pixels", "of 1 pixel", "conv2d", "depthwise", "others"]  # pointwise: more pixels
TILINGS = ["rows", "channels", "channels-rows", "pixels"]
NO_SLOWER = 0.98  # policies that take less than this share of ago's time are listed
CALLED = 0.1  # ms; the call from JavaScript is a large part of shorter runs of ONNX Runtime
SLOWER = 0.95  # candidates that take less than this share of the default's time, by median and by minimum, are listed


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def spread(numbers, form, unit=""):
    """Geometric mean (least ... most), or an empty string."""
    if not numbers:
        return ""
    return f"{geometric_mean(numbers):{form}}{unit} ({min(numbers):{form}} ... {max(numbers):{form}})"


def table(head, rows):
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]]
    return "\n".join(line.replace("  ", " ") for line in lines)


def ratio(row, name):
    """By median (by minimum), or an empty string if the engine did not run."""
    return f"{row[name]:.2f} ({row[name + '_min']:.2f})" if name in row else ""


def engines_of(rows):
    return [name for name in ENGINES if any(name in row for row in rows)]


def kernel_summary(rows):
    engines = engines_of(rows)
    head = ["kind", "layers", "% of peak"]
    head += [f"{ENGINES[e]} / ago, {by}" for e in engines for by in ("median", "minimum")]
    lines = []
    for kind in KINDS:
        chosen = [r for r in rows if r["kernel"].split("/")[0] == kind]
        if not chosen:
            continue
        cells = [kind, str(len(chosen)), spread([r["percent_of_peak"] for r in chosen if "percent_of_peak" in r], ".0f")]
        for e in engines:
            for name in e, e + "_min":
                cells.append(spread([r[name] for r in chosen if name in r], ".2f"))
        lines.append(cells)
    return table(head, lines)


def kernel_rows(rows, network):
    engines = engines_of(rows)
    head = ["layer", "tile", "us (least)", "GFLOP/s", "% of peak"] + [f"{ENGINES[e]} / ago (by least)" for e in engines]
    lines = []
    for r in rows:
        if f"{network} " not in r["networks"]:
            continue
        rate = [f"{r['gflops']:.0f}", f"{r['percent_of_peak']:.0f}"] if "gflops" in r else ["", ""]
        lines.append([f"`{r['kernel']}`", r.get("tile", ""), f"{r['median_us']:.2f} ({r['min_us']:.2f})", *rate,
                      *(ratio(r, e) for e in engines)])
    return table(head, lines)


def slower_rows(rows):
    """The layers that another engine computes clearly faster."""
    lines = []
    for r in rows:
        for e in engines_of(rows):
            if e in r and max(r[e], r[e + "_min"]) < SLOWER:
                lines.append([f"`{r['kernel']}`", r.get("tile", ""), ENGINES[e], ratio(r, e)])
    return table(["layer", "tile", "engine", "its time / ago's (by least)"], sorted(lines, key=lambda l: l[3]))


def kernels_report(rows):
    slower = slower_rows(rows)
    return "\n\n".join([
        "Geometric mean (least ... most) over the distinct layers of the six networks:", kernel_summary(rows),
        "The layers of MobileNet-V2 at 224:", kernel_rows(rows, "mobilenet_v2 224"),
        f"Layers for which another engine takes less than {SLOWER} of ago's time, by median and by minimum:", slower])


def pairs_of(rows):
    """{(pair, size, layers): {images: {variant: row}}}, in row order."""
    found = {}
    for r in rows:
        key = (r["pair"], r["size"], r["layers"])
        found.setdefault(key, {}).setdefault(r["images"], {})[r["variant"]] = r
    return found


def speed_up(variants, name):
    """Speed-up over the unfused variant: by median (by minimum)."""
    if name not in variants:
        return ""
    plain, own = variants["ago-ni"], variants[name]
    return f"{plain['median_us'] / own['median_us']:.2f} ({plain['min_us'] / own['min_us']:.2f})"


def forced_of(rows):
    """The variants with a forced tiling."""
    found = {r["variant"] for r in rows}
    return [name for name in TILINGS if name in found]


def subgraph_summary(rows):
    lines = []
    groups = {}
    for (pair, _, _), batches in pairs_of(rows).items():
        for images, variants in batches.items():
            groups.setdefault((pair, images), []).append(variants)
    for (pair, images), all_variants in sorted(groups.items()):
        fused = [v for v in all_variants if v["ago"]["steps"] < v["ago-ni"]["steps"]]

        def gains(time, among):
            return spread([v["ago-ni"][time] / v["ago"][time] for v in among], ".2f")

        lines.append([pair, str(images), str(len(all_variants)), str(len(fused)), gains("median_us", fused),
                      gains("min_us", fused), f"{geometric_mean([v['ago']['percent_of_peak'] for v in all_variants]):.0f}"])
    return table(["pair", "batch", "shapes", "fused", "speed-up of these, median", "minimum", "% of peak"], lines)


def subgraph_rows(rows):
    forced = forced_of(rows)
    head = ["image", "layers", "batch", "unfused us (least)", "% of peak", "default", *forced, "arena KB", "unfused"]
    parts = []
    for kind in dict.fromkeys(r["pair"] for r in rows):
        lines = []
        for (pair, size, layers), batches in pairs_of(rows).items():
            if pair != kind:
                continue
            for images, v in sorted(batches.items()):
                plain, own = v["ago-ni"], v["ago"]
                default = f"{speed_up(v, 'ago')} {own['tiling']}" if own["steps"] < plain["steps"] else "not fused"
                lines.append([f"{size}", f"`{layers}`", str(images), f"{plain['median_us']:.1f} ({plain['min_us']:.1f})",
                              f"{own['percent_of_peak']:.0f}", default, *(speed_up(v, name) for name in forced),
                              f"{own['arena_bytes'] / 1024:.0f}", f"{plain['arena_bytes'] / 1024:.0f}"])
        parts += [f"{kind}:", table(head, lines)]
    return "\n\n".join(parts)


def missed_rows(rows):
    """The pairs that another variant computes clearly faster than the default."""
    lines = [[r["pair"], str(r["size"]), f"`{r['layers']}`", str(r["images"]), r["tiling"],
              f"{r['ratio']:.2f} ({r['ratio_min']:.2f})"]
             for r in rows if "ratio" in r and max(r["ratio"], r["ratio_min"]) < SLOWER]
    return table(["pair", "image", "layers", "batch", "tiling", "its time / the default's (by least)"],
                 sorted(lines, key=lambda l: l[-1]))


def subgraphs_report(rows):
    return "\n\n".join([
        "Speed-up by intensive fusion where the default fuses, geometric mean (least ... most):", subgraph_summary(rows),
        "Speed-up of each pair over the unfused kernels by median (by minimum), with the default and with the other\n"
        "tilings; arena with the default, and unfused:", subgraph_rows(rows),
        f"Pairs for which another tiling, or none, takes less than {SLOWER} of the default's time, by median and by minimum:",
        missed_rows(rows)])


def networks_report(rows, alone):
    """A row for each network and size: the others' times as multiples of ago's. `alone`: ago's rows from a run without
    the others."""
    found = {r["variant"] for r in rows}
    engines = [name for name in ENGINES if name in found]
    lines = []
    for network, size in dict.fromkeys((r["network"], r["size"]) for r in rows):
        by = {r["variant"]: r for r in rows if (r["network"], r["size"]) == (network, size)}
        own, plain = by["ago"], by["ago-ni"]
        warm = next(r for r in alone if (r["network"], r["size"]) == (network, size))

        def times(name):
            return f"{by[name]['ratio']:.2f} ({by[name]['ratio_min']:.2f})" if name in by else ""

        lines.append([network, str(size), f"{own['median_ms']:.3f} ({own['min_ms']:.3f})",
                      f"{own['percent_of_peak']:.0f}", f"{warm['median_ms']:.3f} ({warm['min_ms']:.3f})",
                      f"{warm['percent_of_peak']:.0f}", times("ago-ni"), *(times(e) for e in engines),
                      f"{own['arena_bytes'] / 1024:.0f}", f"{plain['arena_bytes'] / 1024:.0f}"])
    head = ["network", "size", "ago, ms (least)", "% of peak", "alone", "% of peak", "ago-ni / ago",
            *(f"{ENGINES[e]} / ago" for e in engines), "arena KB", "ago-ni's"]
    return "\n\n".join([table(head, lines), fastest(rows, engines)]) if engines else table(head, lines)


def fastest(rows, engines):
    """A sentence: how much longer the fastest of the other engines takes, over all networks and sizes."""
    others = {}
    for r in rows:
        if r["variant"] in engines:
            others.setdefault((r["network"], r["size"]), []).append((r["ratio"], r["ratio_min"]))
    best = [spread([min(of_one[k] for of_one in of_each) for of_each in others.values()], ".2f") for k in (0, 1)]
    return (f"The fastest other engine's time over ago's, geometric mean (least ... most) of {len(others)} rows: {best[0]} by"
            f"\nmedian, {best[1]} by minimum.")


def imported_report(rows):
    """A row for each network: ONNX Runtime's time as a multiple of ago's."""
    lines, ratios, faster = [], [], []
    for name in dict.fromkeys(r["network"] for r in rows):
        by = {r["variant"]: r for r in rows if r["network"] == name}
        own, other = by["ago"], by.get("onnxruntime")
        digits = 3 if own["median_ms"] >= 0.1 else 4
        theirs = [f"{other['percent_of_peak']:.0f}", ratio(other, "ratio"), f"{other['difference']:.0e}"] if other else [""] * 3
        lines.append([name, f"{own['multiply_adds'] / 1e6:.1f}", f"{own['median_ms']:.{digits}f} ({own['min_ms']:.{digits}f})",
                      f"{own['percent_of_peak']:.0f}", *theirs, str(own["steps"]), f"{own['arena_bytes'] / 1024:.0f}"])
        if other and other["median_ms"] >= CALLED:
            ratios.append((other["ratio"], other["ratio_min"]))
        if other and max(other["ratio"], other["ratio_min"]) < NO_SLOWER:
            faster.append(f"{name}: {ratio(other, 'ratio')}")
    head = ["network", "M multiply-adds", "ago, ms (least)", "% of peak", "ONNX Runtime's", "ONNX Runtime / ago", "difference",
            "steps", "arena KB"]
    if not ratios:
        return table(head, lines)
    medians, minima = (spread([r[k] for r in ratios], ".2f") for k in (0, 1))
    return (f"{table(head, lines)}\n\nONNX Runtime's time over ago's, geometric mean (least ... most) of the {len(ratios)} networks that take it at "
            f"least {CALLED} ms:\n{medians} by median, {minima} by minimum. Less than {NO_SLOWER}\nof ago's time, by median and by "
            f"minimum: {', '.join(faster) if faster else 'none'}.")


def policies_report(rows):
    """A row for each network and size, the policies' times as multiples of ago's; a last row with the gain over FuseOps."""
    policies = [name for name in dict.fromkeys(r["variant"] for r in rows) if name != "ago"]
    noise = [r["ratio"] for r in rows if "same" in r and r["variant"] != "ago"]
    for r in rows:
        if "same" in r and r["variant"] != "ago":
            r["ratio"] = r["ratio_min"] = 1.0
    runs = {}
    for r in rows:
        runs.setdefault((r["network"], r["size"]), {})[r["variant"]] = r
    lines, faster = [], []
    for (network, size), by in runs.items():
        lines.append([network, str(size), f"{by['ago']['median_ms']:.3f} ({by['ago']['min_ms']:.3f})",
                      *("same" if "same" in by[name] else ratio(by[name], "ratio") for name in policies)])
        faster += [f"{name} on {network} at {size}: {ratio(by[name], 'ratio')}" for name in policies
                   if max(by[name]["ratio"], by[name]["ratio_min"]) < NO_SLOWER]

    def mean(name, time):
        return geometric_mean([by["fuse-ops"][time] / by[name][time] for by in runs.values()])

    apart = f" Where a policy gives the same program as ago (same), the ratio of their times was {min(noise):.3f} ... {max(noise):.3f}." \
        if noise else ""

    if "fuse-ops" in policies:
        gains = (f"{mean(name, 'median_ms'):.2f} ({mean(name, 'min_ms'):.2f})" for name in ["ago", *policies])
        lines.append(["fuse-ops / each", "", *gains])
    head = ["network", "size", "ago, ms (least)", *(f"{name} / ago" for name in policies)]
    last = f"The last row is FuseOps' time over each policy's, geometric mean of {len(runs)} rows. "
    return (f"{table(head, lines)}\n\n{last if 'fuse-ops' in policies else ''}Less than {NO_SLOWER} of ago's time, by median\n"
            f"and by minimum: {', '.join(faster) if faster else 'none'}.{apart}")


def limits_report(rows):
    head = ["network", "size", "least ms", "% of peak", "multiply-adds", "lanes", "activations", "weights",
            "GB/s"]
    return table(head, [[r["network"], str(r["size"]), f"{r['floor_ms']:.3f}", f"{r['percent_of_peak']:.0f}",
                         *(f"{r[name + '_ms']:.3f}" for name in ("multiply_adds", "lanes", "activations", "weights")),
                         f"{r['weights_gb_per_s']:.0f}"] for r in rows])


def loser_of(step):
    """The column of the losses that a step belongs to."""
    kernel = step["kernel"]
    if ":" in kernel:
        return "pipelines"
    if kernel == "pointwise":
        height, width = step["layers"].split("x")[:2]
        pixels = int(height) * int(width)
        return "of 1 pixel" if pixels == 1 else "of 2 to 16 pixels" if pixels <= 16 else "pointwise"
    if kernel == "depthwise":
        return kernel
    return "conv2d" if kernel.startswith(("convolution", "im2col", "winograd")) else "others"


def losses_report(rows):
    """A row for each network and size: its time, and the share of it that steps take beyond their multiply-adds at the
    peak, by kind of step. Together with the share of the peak, they add up to 100 %."""
    runs = {}
    for r in rows:
        runs.setdefault((r["network"], r["size"]), []).append(r)
    lines = []
    for (network, size), steps in runs.items():
        whole = steps.pop()
        peak = whole["gflops"] / whole["percent_of_peak"]  # for one per cent
        lost = dict.fromkeys(LOSERS, 0.)
        for step in steps:
            busy = step["gflops"] / peak / 100 if "gflops" in step else 0
            lost[loser_of(step)] += step["median_us"] * (1 - busy)
        cells = [f"{100 * us / whole['median_us']:.1f}" if us else "" for us in lost.values()]
        again = whole["percent_of_peak"] * whole["median_us"] / whole["again_us"]
        lines.append([network, str(size), f"{whole['median_us'] / 1e3:.3f}", f"{whole['percent_of_peak']:.0f}", f"{again:.0f}",
                      *cells])
    return table(["network", "size", "ms", "% of peak", "again", *LOSERS], lines)


def networks_text(results):
    """The report `networks`, from the contents of a file in bench/results/."""
    return f"{results['circumstances']}.\n\n{networks_report(results['rows'], results['alone'])}"


def save(path, results):
    """Writes results, one row per line. Keeps the fields about the machine and the engines if the file exists."""
    results = {**(json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}), **results}

    def written(value):
        if not isinstance(value, list):
            return json.dumps(value)
        return "[\n" + ",\n".join("    " + json.dumps(row) for row in value) + "\n  ]"

    fields = ",\n".join(f'  "{name}": {written(value)}' for name, value in results.items())
    path.write_text("{\n" + fields + "\n}\n", encoding="utf-8")


def replace(page, name, text):
    """The page with its report `name` replaced by `text`."""
    place = re.compile(rf"(<!-- report: {name} -->\n).*?(<!-- /report -->)", re.DOTALL)
    if len(place.findall(page)) != 1:
        raise ValueError(f"the page needs exactly one place <!-- report: {name} --> ... <!-- /report -->")
    return place.sub(lambda found: found[1] + text + "\n" + found[2], page)


def measure(program, arguments, common):
    """(circumstances, rows); reports engines that did not run."""
    done = subprocess.run([program, *arguments, "--json", *common], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program} failed:\n{done.stderr}")
    for line in done.stderr.splitlines():
        if re.match(r"no \w+: |.*: no \w+", line):
            print(line, file=sys.stderr)
    first = done.stderr.splitlines()[0]
    pinned = [line for line in done.stderr.splitlines() if "pinned" in line]
    return ", ".join([first, *pinned]), [json.loads(line) for line in done.stdout.splitlines()]


def main():
    reports = {"networks": ("networks", ["--peers"], networks_report), "imported": ("imported", [], imported_report),
               "policies": ("policies", ["--placements", "24"], policies_report), "limits": ("limits", [], limits_report),
               "losses": ("networks", ["--profile"], losses_report),
               "predictions": ("networks", ["--profile"], lambda rows: table(*predictions.of(rows))), "kernels": ("kernels", ["--table"], kernels_report),
               "subgraphs": ("subgraphs", [], subgraphs_report)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="build folder of the programs")
    parser.add_argument("--only", choices=list(reports), help="one report")
    parser.add_argument("--repetitions", default="60")
    parser.add_argument("--core", help="pin to this core and request the real-time class")
    parser.add_argument("--onnxruntime", metavar="FOLDER", help="folder with node_modules, see bench/networks --help")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE", help="keep the figures of networks, in bench/results/")
    parser.add_argument("--from", type=pathlib.Path, metavar="FILE", dest="kept", help="use kept figures of networks")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="page to update, such as docs/benchmarks.md")
    a = parser.parse_args()
    common = ["--repetitions", a.repetitions] + (["--core", a.core] if a.core else [])
    runtime = ["--onnxruntime", a.onnxruntime] if a.onnxruntime else []
    for name in [a.only] if a.only else list(reports):
        program, words, report = reports[name]
        program = a.build / "bench" / program
        words = words + runtime if name in ("networks", "imported") else words
        if not a.only and not program.exists():
            print(f"no {name}: {program} is not built", file=sys.stderr)
            continue
        if name == "networks" and a.kept:
            text = networks_text(json.loads(a.kept.read_text(encoding="utf-8")))
        else:
            circumstances, rows = measure(program, words, common)
            circumstances += f"; {a.repetitions} repetitions"
            if name == "networks":
                results = {"circumstances": circumstances, "rows": rows,
                           "alone": measure(program, ["--variants", "ago"], common)[1]}
                text = networks_text(results)
                if a.save:
                    save(a.save, results)
            else:
                text = f"{circumstances}.\n\n{report(rows)}"
        if a.update:
            a.update.write_text(replace(a.update.read_text(encoding="utf-8"), name, text), encoding="utf-8")
        else:
            print(text)


if __name__ == "__main__":
    main()
