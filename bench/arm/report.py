#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what networks would cost on Arm cores by a timing model (docs/arm.md), as Markdown.

  networks     milliseconds of ago, as it is and with the device given, beside other engines
  floors       the least time that the arithmetic of ago allows, and the goals of the project
  fusion       ago against ago without intensive fusion
  losses       where the time goes beyond multiply-adds, by kind of step
  memory       misses and their traffic
  kernels      cycles a multiply-add by kind of kernel
  steps        the steps of the networks
  loops        the innermost loops of the networks
  calibration  ncnn's own networks, against its published times

Programs are built as they are needed, in build/arm64-bench (preset arm64-bench), one at a time. Other engines take part
if CMake finds them: --cmake=-DCMAKE_PREFIX_PATH=FOLDER tells it where ncnn is installed; or --peers-from names a page whose
tables keep their figures, which changes of ago do not affect. A run is repeated only after a change of its program. With
--update, the text of a page between `<!-- report: NAME -->` and `<!-- /report -->` is replaced.
"""
import argparse
import pathlib
import sys

import ruler
from ruler import CORES, geometric_mean, middle, milliseconds

sys.path.insert(0, str(ruler.ROOT / "bench"))
from report import replace, table  # noqa: E402  (bench/report.py)

NETWORKS = {"mobilenet_v2": (224, 112, 56), "mnasnet": (224, 112, 56), "squeezenet": (224, 112, 56),
            "shufflenet_v2": (224, 112, 56), "bert_tiny": (128,), "mobilevit_s": (256, 224)}
DEFAULTS = {"network": ["mobilenet_v2", "mnasnet", "squeezenet", "shufflenet_v2", "bert_tiny"], "size": [224, 128, 56],
            "core": ["a55", "a76"]}
PEERS = {"ncnn": "ncnn", "xnnpack": "XNNPACK"}
# By core and size: the share of the better engine's time that ago is meant to take.
GOALS = {("a55", 224): .65, ("a55", 56): .8, ("a76", 224): .6, ("a76", 56): .8}
MIB = 1 << 20
LOSSES = ["multiply-adds", "rest of the core", "misses of L1", "of L2", "unforeseen"]
# ncnn's least times with one thread, from benchmark/README.md of its repository (commit a4d2ea1, 2026-07-22): core, type of
# numbers (ncnn uses halves where the processor computes with them), and by network the size of the image and milliseconds.
BOARDS = {
    "Raspberry Pi 3B+, Cortex-A53 at 1.4 GHz": ("a53", "fp32", {"mobilenet_v2": (224, 158.69), "mnasnet": (224, 148.12),
                                                               "squeezenet": (227, 125.34), "shufflenet_v2": (224, 74.28)}),
    "Station P2 (RK3568), Cortex-A55 at 2.0 GHz": ("a55", "fp16", {"mobilenet_v2": (224, 60.15), "mnasnet": (224, 55.38),
                                                                  "squeezenet": (227, 54.31), "shufflenet_v2": (224, 35.48)}),
    "Raspberry Pi 5, Cortex-A76 at 2.4 GHz": ("a76", "fp16", {"mobilenet_v2": (224, 16.21), "mnasnet": (224, 12.93),
                                                             "squeezenet": (227, 11.77), "shufflenet_v2": (224, 7.07)}),
}


class Measured:
    """Programs of the chosen networks, sizes and cores, each built and run when it is first asked for."""

    def __init__(self, options):
        self.options = options
        self.subjects = [(n, s) for n in options.network for s in NETWORKS[n] if s in options.size]
        self.cores = options.core

    def program(self, name):
        ruler.build([name], self.options.cmake)
        self.options.cmake = []
        return ruler.BUILD / "bench" / "arm" / name

    def ago(self, network, size, device="default", policy="ago"):
        if device == "cortex_a55":  # the default
            device = "default"
        return ruler.run(self.program(f"arm_{network}_{size}_{policy}_{device}"))

    def peer(self, engine, network, size, core):
        """None if it does not take part."""
        little = CORES[core].model == "in_order"
        choice = {"xnnpack": "nhwc", "ncnn": "little" if little else ""}[engine]
        report = ruler.run(self.program(f"arm_{network}_{size}_peers"), [engine, *([choice] if choice else [])], core)
        if report:
            difference = ruler.difference(self.ago(network, size), report)
            if not difference <= ruler.TOLERANCE:
                sys.exit(f"{engine} computes something else for {network} at {size}: difference {difference:g}")
        return report


def time(range_of):
    return f"{middle(range_of):.1f} ({range_of[0]:.1f} ... {range_of[1]:.1f})"


def kept(page, name, *subject):
    """The rows on a network, size and core in table `name` of the page that keeps other engines' figures: cells by title."""
    text = page.read_text(encoding="utf-8").split(f"<!-- report: arm-{name} -->")[1].split("<!-- /report -->")[0]
    head, _, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line.startswith("|"))
    return [dict(zip(head, row)) for row in rows if row[:3] == [str(word) for word in subject]]


def peers(measured, network, size, core):
    """(cells of other engines, the better one's milliseconds or None)"""
    page = measured.options.peers_from
    if page:
        (row,), (goal,) = (kept(page, name, network, size, core.upper()) for name in ("networks", "floors"))
        cells = [row[title] for title in PEERS.values()]
        if goal["goal, ms"]:  # has another digit
            return cells, float(goal["goal, ms"]) / GOALS[core, size]
        return cells, min((float(cell.split()[0]) for cell in cells if cell), default=None)
    times = [p and milliseconds(p.total, core) for p in (measured.peer(e, network, size, core) for e in PEERS)]
    return [time(p) if p else "" for p in times], min((middle(p) for p in times if p), default=None)


def networks_report(measured):
    head = ["network", "size", "core", "ago", "with its device", *PEERS.values(), "the better / ago", "the better / with its device"]
    lines, ratios = [], {}
    for network, size in measured.subjects:
        for core in measured.cores:
            own = milliseconds(measured.ago(network, size).total, core)
            given = milliseconds(measured.ago(network, size, CORES[core].device).total, core)
            others, best = peers(measured, network, size, core)
            cells = [f"{best / middle(t):.2f}" if best else "" for t in (own, given)]
            if best:
                ratios.setdefault((core, size), []).append(best / middle(given))
            lines.append([network, str(size), core.upper(), time(own), time(given), *others, *cells])
    means = ", ".join(f"{core.upper()} at {size}: {geometric_mean(r):.2f}" for (core, size), r in sorted(ratios.items()))
    return table(head, lines) + (f"\n\nGeometric means of the last column: {means}." if means else "")


def floors_report(measured):
    head = ["network", "size", "core", "multiply-adds, ms", "others, ms", "misses, ms", "floor, ms", "goal, ms", "above the floor", "ago, ms", "ago / floor",
            "ago / goal"]
    lines = []
    for network, size in measured.subjects:
        for core in measured.cores:
            report = measured.ago(network, size, CORES[core].device)
            parts, own = ruler.floor(report, core), middle(milliseconds(report.total, core))
            least = sum(parts)
            _, best = peers(measured, network, size, core)
            goal = GOALS[core, size] * best if best and (core, size) in GOALS else None
            lines.append([network, str(size), core.upper(), *(f"{t:.2f}" for t in (*parts, least)),
                          *((f"{goal:.2f}", "yes" if goal > least else "no") if goal else ("", "")), f"{own:.2f}", f"{own / least:.2f}",
                          f"{own / goal:.2f}" if goal else ""])
    return table(head, lines)


def fusion_report(measured):
    head = ["network", "size", "core", "ago, ms", "ago-ni, ms", "ago-ni / ago", "MiB beyond L2: ago", "ago-ni"]
    lines, ratios = [], {}
    for network, size in measured.subjects:
        for core in measured.cores:
            device = CORES[core].device
            own, plain = (measured.ago(network, size, device, policy).total for policy in ("ago", "ago_ni"))
            times = [milliseconds(t, core) for t in (own, plain)]
            ratio = middle(times[1]) / middle(times[0])
            if network != "bert_tiny":
                ratios.setdefault((core, size), []).append(ratio)
            lines.append([network, str(size), core.upper(), *map(time, times), f"{ratio:.2f}",
                          *(f"{t[core + '_l2'] * 64 / MIB:.1f}" for t in (own, plain))])
    means = ", ".join(f"{core.upper()} at {size}: {geometric_mean(r):.2f}" for (core, size), r in sorted(ratios.items()))
    return f"{table(head, lines)}\n\nGeometric means of the convolutional networks: {means}."


def memory_report(measured):
    """Traffic, and the share of misses that no prefetcher would foresee."""
    head = ["network", "size", "core", "engine", "MiB loaded", "beyond L1", "beyond L2", "unforeseen beyond L1, %", "beyond L2, %"]
    lines = []
    for network, size in measured.subjects:
        for core in measured.cores:
            page = measured.options.peers_from
            engines = {"ago": measured.ago(network, size, CORES[core].device),
                       **({} if page else {title: measured.peer(engine, network, size, core) for engine, title in PEERS.items()})}
            for title, report in engines.items():
                if not report:
                    continue
                t = report.total
                shares = (100 * (1 - t[f"{core}_{level}_foreseen"] / max(1, t[f"{core}_{level}"])) for level in ("l1", "l2"))
                lines.append([network, str(size), core.upper(), title, f"{t['loaded_bytes'] / MIB:.0f}",
                              *(f"{t[f'{core}_{level}'] * 64 / MIB:.1f}" for level in ("l1", "l2")), *(f"{s:.0f}" for s in shares)])
            if page:
                lines += [list(row.values()) for row in kept(page, "memory", network, size, core.upper()) if row["engine"] != "ago"]
    return table(head, lines)


def losses_report(measured):
    """Of whole networks, and of the kinds of steps that take at least a twentieth. Compiled for the device of the core."""
    head = ["network", "size", "core", "steps", "ms", *LOSSES]
    lines = []
    for network, size in measured.subjects:
        for core in measured.cores:
            kinds = {}
            for step in measured.ago(network, size, CORES[core].device).steps:
                spent = ruler.losses(step, core)
                kinds[step["kernel"]] = [a + b for a, b in zip(kinds.get(step["kernel"], [0] * len(spent)), spent)]
            whole = [sum(parts) for parts in zip(*kinds.values())]
            rows = sorted(((kind, parts) for kind, parts in kinds.items() if sum(parts) >= sum(whole) / 20),
                          key=lambda row: -sum(row[1]))
            for kind, parts in [("all", whole), *rows]:
                lines.append([network, str(size), core.upper(), kind, f"{sum(parts):.2f}", *(f"{n:.2f}" for n in parts)])
    return table(head, lines)


def kernels_report(measured):
    """By the function that a block belongs to. Compiled for the device of the core."""
    head = ["network", "size", "kernel", "M multiply-adds", "A55: cycles a multiply-add", "% of cycles", "A76: multiply-adds a cycle",
            "% of cycles"]
    lines = []
    for network, size in measured.subjects:
        by, columns = {}, []
        for core in "a55", "a76":
            report = measured.ago(network, size, CORES[core].device)
            symbols = ruler.Symbols(report.program)
            column = 4 if core == "a55" else 5
            sums = {}
            for b in report.blocks:
                entry = sums.setdefault(ruler.kernel_of(symbols.at(b[0])).kind, [0, 0])
                entry[0] += b[1] * b[3] / 4
                entry[1] += b[column]
            columns.append((sums, sum(c for _, c in sums.values())))
            for kind, (_, spent) in sums.items():
                by[kind] = by.get(kind, 0) + spent / columns[-1][1]
        for kind in sorted(by, key=by.get, reverse=True):
            (little, all_little), (big, all_big) = columns
            n, c = little.get(kind, (0, 0))
            m, d = big.get(kind, (0, 0))
            if by[kind] < .005:
                continue
            lines.append([network, str(size), kind, f"{n / 1e6:.2f}" if n else "", f"{c / n:.2f}" if n else "", f"{100 * c / all_little:.0f}",
                          f"{m / d:.2f}" if m else "", f"{100 * d / all_big:.0f}"])
    return table(head, lines)


def steps_report(measured):
    parts = []
    for network, size in measured.subjects:
        for core in measured.cores:
            c = CORES[core]
            report = measured.ago(network, size, c.device if measured.options.device else "default")
            lines = []
            for step in report.steps:
                n, spent = ruler.multiply_adds(step), step[f"{c.model}_cycles"]
                rate = "" if n < 100 else f"{spent / n:.2f}" if c.model == "in_order" else f"{n / spent:.2f}"
                l1 = step[f"{core}_l1"]
                lines.append([str(step["step"]), step["kernel"], step["layers"], f"{n / 1e6:.3f}", rate,
                              time(tuple(1e3 * t for t in milliseconds(step, core))), f"{l1 * 64 / 1024:.0f}",
                              f"{100 * (1 - step[f'{core}_l1_foreseen'] / max(1, l1)):.0f}", f"{step[f'{core}_l2'] * 64 / 1024:.0f}"])
            unit = "cycles a multiply-add" if c.model == "in_order" else "multiply-adds a cycle"
            head = ["step", "kernel", "layers", "M multiply-adds", unit, "us", "KiB beyond L1", "unforeseen, %", "KiB beyond L2"]
            whole = time(milliseconds(report.total, core))
            parts.append(f"{network} at {size}, {c.title}: {whole} ms\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def loops_report(measured):
    """Of each kernel and tile, the block that takes most cycles."""
    parts = []
    for network, size in measured.subjects:
        for core in measured.cores:
            c = CORES[core]
            report = measured.ago(network, size, c.device if measured.options.device else "default")
            symbols = ruler.Symbols(report.program)
            column = 4 if c.model == "in_order" else 5
            hottest, total = {}, sum(b[column] for b in report.blocks)
            for b in report.blocks:
                kernel = ruler.kernel_of(symbols.at(b[0]))
                if kernel not in hottest or b[column] > hottest[kernel][column]:
                    hottest[kernel] = b
            lines = []
            for kernel, b in sorted(hottest.items(), key=lambda item: -item[1][column]):
                n, each = b[3] / 4, b[column] / b[1]
                if b[column] < total / 200:
                    continue
                lines.append([kernel.kind, kernel.tile, f"{100 * b[column] / total:.1f}", f"{b[0]:x}", str(b[2]), f"{n:g}", f"{each:.1f}",
                              (f"{each / n:.2f}" if c.model == "in_order" else f"{n / each:.2f}") if n else ""])
            unit = "cycles a multiply-add" if c.model == "in_order" else "multiply-adds a cycle"
            head = ["kernel", "tile", "% of cycles", "address", "instructions", "multiply-adds", "cycles", unit]
            parts.append(f"{network} at {size}, {c.title}:\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def calibration_report(measured):
    """ncnn's own networks, which are not those of examples/networks to the last layer."""
    lines, ratios = [], {}
    for board, (core, numbers, published) in BOARDS.items():
        little = "little" if CORES[core].model == "in_order" else "big"
        for network, (size, least) in published.items():
            model = measured.options.models / f"{network}.param"
            report = ruler.run(measured.program("arm_ncnn"), [str(model), str(size), numbers, little], core)
            estimate = milliseconds(report.total, core)
            ratios.setdefault(board, []).append(middle(estimate) / least)
            lines.append([board, numbers, network, time(estimate), f"{least:.1f}", f"{ratios[board][-1]:.2f}"])
    means = ", ".join(f"{board.split(',')[0]}: {geometric_mean(r):.2f}" for board, r in ratios.items())
    return f"{table(['board', 'numbers', 'network', 'model, ms', 'published, ms', 'ratio'], lines)}\n\nGeometric means: {means}."


REPORTS = {"calibration": calibration_report, "networks": networks_report, "floors": floors_report, "fusion": fusion_report,
           "losses": losses_report, "memory": memory_report, "kernels": kernels_report, "steps": steps_report, "loops": loops_report}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=list(REPORTS), required=True)
    parser.add_argument("--network", action="append", choices=list(NETWORKS))
    parser.add_argument("--size", action="append", type=int)
    parser.add_argument("--core", action="append", choices=list(CORES))
    parser.add_argument("--device", action="store_true", help="steps, loops: compile for each core's device, not the default")
    parser.add_argument("--models", type=pathlib.Path, help="calibration: the folder benchmark/models of ncnn's sources")
    parser.add_argument("--cmake", action="append", default=[], metavar="OPTION", help="for configuring the build, as -DNAME=VALUE")
    parser.add_argument("--peers-from", type=pathlib.Path, metavar="PAGE", help="page that keeps other engines' figures")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="page to update, such as docs/arm.md")
    options = parser.parse_args()
    for name, value in DEFAULTS.items():
        if not getattr(options, name):
            setattr(options, name, value)
    if options.table == "calibration" and not options.models:
        parser.error("--table calibration needs --models")
    why = ruler.missing()
    if why:
        sys.exit(why)
    text = f"{ruler.circumstances()}.\n\n{REPORTS[options.table](Measured(options))}"
    if options.update:
        page = options.update.read_text(encoding="utf-8")
        options.update.write_text(replace(page, f"arm-{options.table}", text), encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
