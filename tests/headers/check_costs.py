#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the headers of expression/, graph/, passes/, recognition/ and partition/ include no expensive header, and
that ago.hpp has only includes.

usage: check_costs.py <include directory> <compiler> [flag...]
"""
import pathlib
import re
import subprocess
import sys

EXPENSIVE = re.compile(
    r"/c\+\+/(?:v?\d+)/(?:vector|algorithm|string|array|iostream|map|functional|memory|ranges)$"
    r"|/xsimd/|/Eigen/")


def included(include, compiler, header):
    """All files that the compiler opens for a header."""
    command = [*compiler, "-std=c++20", f"-I{include}", "-M", "-x", "c++", str(header)]
    rule = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return rule.partition(":")[2].replace("\\\n", " ").split()


def expensive_headers(include, compiler):
    headers = [h for folder in ("expression", "ir", "tracing", "operators", "recognition", "layers", "network", "passes", "partition") for h in sorted((include / "ago" / folder).rglob("*.hpp"))]
    if not headers:
        yield f"{include}: no headers found"
    for header in headers:
        for file in included(include, compiler, header):
            if EXPENSIVE.search(file):
                yield f"{header.relative_to(include)} pulls in {file}"


def declarations_of_umbrella(include):
    umbrella = include / "ago" / "ago.hpp"
    if not umbrella.exists():
        yield "ago/ago.hpp is missing"
        return
    for number, line in enumerate(umbrella.read_text().splitlines(), 1):
        code = line.partition("//")[0].strip()
        if code and not re.fullmatch(r"#pragma once|#include <[^>]+>", code):
            yield f"ago/ago.hpp:{number} is not an include: {code}"


def main():
    include, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    faults = [*expensive_headers(include, compiler), *declarations_of_umbrella(include)]
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
