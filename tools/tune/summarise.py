#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the results of tuners, from the banners of their headers, as a Markdown table."""
import argparse
import math
import pathlib
import re

NETWORK = re.compile(r"^// (.+), ([\w+]+), device: (.*)$")
RESULT = re.compile(r"^//   result: (.*)$")
TIMES = re.compile(r"default ([\d.]+) (us|ms|s), tuned ([\d.]+) (us|ms|s) \(.*confidence ([\d.]+)\)")
TRIALS = re.compile(r", (\d+) of \d+ trials$")
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def results(text):
    """(network, instruction set, trials, result) for each part of a banner."""
    network = trials = None
    for line in text.splitlines():
        if found := NETWORK.match(line):
            network = found
        elif found := TRIALS.search(line):
            trials = found[1]
        elif found := RESULT.match(line):
            yield network[1], network[2], trials, found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("headers", nargs="+", metavar="HEADER", type=pathlib.Path)
    headers = parser.parse_args().headers
    for header in headers:
        if not header.is_file():
            parser.error(f"there is no file {header}")
    gains = {}
    print("| network | for | trials | default | tuned | change | confidence |\n|---|---|---|---|---|---|---|")
    for header in headers:
        for network, isa, trials, result in results(header.read_text(encoding="utf-8")):
            name = network.removeprefix("networks::")
            found = TIMES.match(result)
            if not found:
                stays = re.search(r"[\d.]+ (us|ms|s)", result)
                gains.setdefault(isa, []).append(1.0)
                print(f"| {name} | {isa} | {trials} | {stays[0] if stays else ''} | the default stays | | |")
                continue
            usual, tuned = (float(found[k]) * SECONDS[found[k + 1]] for k in (1, 3))
            gains.setdefault(isa, []).append(usual / tuned)
            print(f"| {name} | {isa} | {trials} | {found[1]} {found[2]} | {found[3]} {found[4]} | "
                  f"{100 * (tuned / usual - 1):+.1f} % | {found[5]} |")
    for isa, all_of_one in gains.items():
        mean = math.exp(sum(map(math.log, all_of_one)) / len(all_of_one))
        print(f"\n{isa}: default / tuned {mean:.3f} in the geometric mean of {len(all_of_one)}")


if __name__ == "__main__":
    main()
