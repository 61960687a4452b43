#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the table of whole networks in docs/benchmarks.md and the chart in README.md have the figures of
bench/results/zen5.json.

usage: check_speed.py <repository>
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "bench"))
import chart  # noqa: E402
import report  # noqa: E402


def main():
    results = json.loads((ROOT / "bench/results/zen5.json").read_text(encoding="utf-8"))
    page, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/benchmarks.md", "README.md"))
    faults = []
    if report.replace(page, "networks", report.networks_text(results)) != page:
        faults.append("docs/benchmarks.md: the table is not what bench/report.py --only networks --from makes of zen5.json")
    for theme in chart.THEMES:
        picture = f"docs/images/speed-{theme}.svg"
        if (ROOT / picture).read_text(encoding="utf-8") != chart.chart(results, theme):
            faults.append(f"{picture} is not what bench/chart.py draws from zen5.json")
        if picture not in readme:
            faults.append(f"README.md does not show {picture}")
    others = [multiple for network, size, _ in chart.NETWORKS
              for name, multiple, _ in chart.bars_of(results["rows"], network, size) if name != "ago"]
    if f"{min(others):.2f} to {max(others):.2f} times" not in readme:
        faults.append(f"README.md does not describe the chart with {min(others):.2f} to {max(others):.2f} times")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
