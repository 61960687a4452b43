# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How well the times of steps are predicted: part of report.py."""
import itertools
import math


def ranks(numbers):
    """The rank of each number, from 0; equal numbers share the mean of theirs."""
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    found = [0.] * len(numbers)
    for _, same in itertools.groupby(enumerate(order), key=lambda pair: numbers[pair[1]]):
        places, which = zip(*same)
        for i in which:
            found[i] = sum(places) / len(places)
    return found


def rank_correlation(a, b):
    """Spearman's coefficient: 1 if both put everything in the same order."""
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    products = [sum((x - mean) * (y - mean) for x, y in zip(p, q)) for p, q in ((a, b), (a, a), (b, b))]
    return products[0] / math.sqrt(products[1] * products[2])


def of(rows):
    """The head of a table, and its rows: one for each network and size, and one for all of their steps. They say how far
    the predicted times are from the measured ones. Most of the sum of a network are few large steps; every step counts the
    same in the other columns."""
    lines = []

    def add(network, size, steps):
        measured, predicted = ([step[name] for step in steps] for name in ("median_us", "predicted_us"))
        errors = sorted(abs(p / m - 1) for p, m in zip(predicted, measured))
        lines.append([network, size, str(len(steps)), f"{sum(measured) / 1e3:.3f}", f"{sum(predicted) / 1e3:.3f}",
                      f"{100 * errors[len(errors) // 2]:.0f}", f"{100 * errors[len(errors) * 9 // 10]:.0f}",
                      f"{rank_correlation(predicted, measured):.3f}" if len(steps) > 2 else ""])

    runs = {}
    for r in rows:
        if r["step"] != "all":
            runs.setdefault((r["network"], r["size"]), []).append(r)
    for (network, size), steps in runs.items():
        add(network, str(size), steps)
    add("all", "", [step for steps in runs.values() for step in steps])
    return ["network", "size", "steps", "ms measured", "ms predicted", "median error, %", "of 9 in 10 at most, %",
            "rank correlation"], lines
