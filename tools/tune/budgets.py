#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the budget with which a random search finds nearly the best schedules of a subgraph, by its weight.

usage: budgets.py WEIGHTS TUNER... [--trials N] [--seeds 1,2,3] [--core N]

WEIGHTS is the program figure_8_weights, and the tuners are those of figure_8.hpp. A random search times N schedules of
each subgraph. From their times follows how long the best of any n of them takes on average. A line for each subgraph has
its weight, how many of the schedules are different, the time of the median one and of the best of 400, relative to the
default's, and with how many one comes within 5 % and 2 % of the best of 400: the medians over the seeds.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

MANY = 400


def times_of(tuner, trials, seed, prefix):
    """The least times of different schedules relative to the default's, in ascending order."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log.jsonl")
        subprocess.run(prefix + [str(tuner), "--output", f"{folder}/table.hpp", "--log", str(log), "--variant", "ago-nr",
                                 "--method", "random", "--budget", str(trials), "--seed", str(seed)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    found = {}
    for line in lines:
        if line["region"] == "result":
            continue
        before = found.get(tuple(line["incumbent"]), [1.0])  # not the default any more
        ratio = line["contender_least_s"] / line["incumbent_least_s"]  # medians vary more
        found.setdefault(tuple(line["contender"]), []).append(ratio * before[-1])
    return sorted(statistics.mean(r) for r in found.values())


def expected_best(times, n):
    """The mean of the least of n of these times, which are in ascending order, drawn without replacement."""
    count = len(times)
    if n >= count:
        return times[0]
    mean, chance = 0, n / count  # that this time is the least
    for i, time in enumerate(times):
        mean += chance * time
        if count - i - 1 < n:
            break
        chance *= (count - i - n) / (count - i - 1)
    return mean


def budget(times, margin):
    """The least n whose expected best is so much longer than that of many."""
    enough = (1 + margin) * expected_best(times, MANY)
    return next(n for n in range(1, len(times) + 1) if expected_best(times, n) <= enough)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=pathlib.Path)
    parser.add_argument("tuners", nargs="+", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=800)
    parser.add_argument("--seeds", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--core", type=int, help="pin to this core")
    a = parser.parse_args()
    prefix = ["taskset", "-c", str(a.core)] if a.core is not None else []
    output = subprocess.run([a.weights.resolve()], check=True, capture_output=True, text=True).stdout
    weights = dict(line.split() for line in output.splitlines())
    print("| size, channels, operators | weight | schedules | median | best of 400 | within 5 % | within 2 % |")
    print("|---|---|---|---|---|---|---|")
    for tuner in a.tuners:
        name = tuner.name.removeprefix("tune_figure_8_")
        all_times = [times_of(tuner.resolve(), a.trials, seed, prefix) for seed in a.seeds]
        median = lambda f: statistics.median(f(times) for times in all_times)
        print(f"| {', '.join(name.split('_'))} | {float(weights[name]):.0f} | {median(len):.0f} "
              f"| {median(statistics.median):.3f} | {median(lambda t: expected_best(t, MANY)):.3f} "
              f"| {median(lambda t: budget(t, .05)):.0f} | {median(lambda t: budget(t, .02)):.0f} |", flush=True)


if __name__ == "__main__":
    main()
