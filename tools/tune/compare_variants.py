#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tuners with each variant of the search, several budgets and seeds, and prints their results.

usage: compare_variants.py TUNER... [--budgets 25,50,...] [--seeds 1,2,3] [--core N]

One line for each tuner and variant: for every budget, the tuned network's time relative to the default's, as the median
over the seeds; both are timed in turns in the last trial. A search with nothing left to try ends early, so a large
budget costs no more than that.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

VARIANTS = ("ago", "ago-nr", "ago-ni")


def tune(tuner, variant, budget, seed, prefix):
    """(time / the default's time, number of trials) of one search."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log.jsonl")
        subprocess.run(prefix + [str(tuner), "--output", f"{folder}/table.hpp", "--log", str(log), "--variant", variant,
                                 "--budget", str(budget), "--seed", str(seed)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        trials = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    last = trials[-1]
    if last["region"] != "result":
        return 1.0, len(trials)  # nothing is faster than the default
    ratio = last["contender_s"] / last["incumbent_s"]
    return (ratio if variant == "ago-ni" else min(ratio, 1.0)), len(trials)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tuners", nargs="+", type=pathlib.Path)
    numbers = lambda text: [int(n) for n in text.split(",")]
    parser.add_argument("--budgets", type=numbers, default=[25, 50, 100, 200, 400, 2000])
    parser.add_argument("--seeds", type=numbers, default=[1, 2, 3])
    parser.add_argument("--core", type=int, help="pin to this core")
    a = parser.parse_args()
    prefix = ["taskset", "-c", str(a.core)] if a.core is not None else []
    print(f"{'subgraph':24}{'variant':9}" + "".join(f"{b:>8}" for b in a.budgets) + f"{'trials':>8}")
    for tuner in a.tuners:
        for variant in VARIANTS:
            cells, used = "", 0
            for budget in a.budgets:
                results = [tune(tuner.resolve(), variant, budget, seed, prefix) for seed in a.seeds]
                cells += f"{statistics.median(r for r, _ in results):8.3f}"
                used = max(n for _, n in results)
            print(f"{tuner.name.removeprefix('tune_'):24}{variant:9}{cells}{used:8}", flush=True)


if __name__ == "__main__":
    main()
