#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what llvm-mca predicts for the inner loops on Cortex-A76.

Compiles MobileNet-V2 and all register tiles that the default schedule may choose (tests/assembly) for aarch64 with
every compiler found. Of each innermost loop, llvm-mca runs the path with the most multiply-adds, on neoverse-n1 (the
core of Cortex-A76; LLVM's model for cortex-a76 is that of Cortex-A57). LLVM's model of cortex-a55 is of no use: it starts
two multiply-adds of four floats in a cycle and a load of 16 bytes as well, where the processor starts one or the other.
report.py --table loops has a model of both processors, for whole networks.

  tile        pixels x vectors of channels; depthwise: columns x rows. *: used by MobileNet-V2
  A76         multiply-adds in % of the capacity of the two vector pipes
  bound       the same if only those pipes limited it; epilogue and stores use them as well
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "assembly"))
import compilers

CORE = "neoverse-n1"
TOOLS = ["llvm-mca-19", "llvm-mca", "llvm-mca-14"]
ITERATIONS = 100


def cycles(tool, text):
    """Cycles of one iteration."""
    run = subprocess.run([tool, "-mtriple=aarch64", f"-mcpu={CORE}", f"-iterations={ITERATIONS}"], input=text,
                         capture_output=True, text=True)
    found = re.search(r"Total Cycles:\s+(\d+)", run.stdout)
    if not found:
        sys.exit(f"{tool}: {run.stderr[:2000]}")
    return int(found[1]) / ITERATIONS


def vector_operations(loop):
    """Cycles for which a vector pipe is busy: arithmetic, moves, and stores of vectors (`str`: two)."""
    count = 0
    for i in loop.path:
        if i.name.startswith("f") or i.name in ("mov", "movi", "dup") and i.operands.startswith("v"):
            count += 1
        elif i.name.startswith("st") and re.match(r"q|\{", i.operands):
            count += 1 if i.name == "st1" else 2
    return count


def measure(tool, found):
    loop = found.loop
    return {
        "kernel": found.kernel + found.window, "tile": found.tile, "instructions": len(loop.path),
        "multiply_adds": loop.multiply_adds, "loads": loop.loads, "stack": len(loop.stack()),
        "n1_percent": 100 * loop.multiply_adds / 2 / cycles(tool, loop.text()),
        "n1_bound_percent": 100 * loop.multiply_adds / vector_operations(loop),
    }


def is_main(found):
    """Excludes loops over the rest of K after steps of four, and single columns."""
    if found.kernel == "depthwise":
        return found.loop.multiply_adds % (found.pixels * found.vectors) == 0 and found.loop.multiply_adds > \
            found.pixels * found.vectors * 4
    return found.loop.multiply_adds == 4 * found.pixels * found.vectors


def rows(tool, name, command, optimize, flags, menu, xsimd):
    """One row for each main loop; the slowest if a tile occurs several times."""
    def loops_of(source):
        text = compilers.assembly(command, "neon", optimize, compilers.HERE / source, flags, xsimd)
        return [k for k in compilers.kernel_loops(text, "neon") if is_main(k)]

    used = loops_of("network.cpp")
    names = {k.name for k in used}
    slowest = {}
    for k in used + [k for k in (loops_of("kernels.cpp") if menu else []) if k.name not in names]:
        row = {"compiler": name, "flags": " ".join([optimize, *flags]), "used": k.name in names, **measure(tool, k)}
        if k.name not in slowest or row["n1_percent"] < slowest[k.name]["n1_percent"]:
            slowest[k.name] = row
    return sorted(slowest.values(), key=lambda r: (r["kernel"], [*map(int, r["tile"].split("x"))][::-1]))


def show(table):
    print(f"{'kernel':22}{'tile':>6}  {'fmla':>4} {'loads':>5} {'insns':>5} {'stack':>5} {'A76 %':>6} {'bound':>6}")
    for r in table:
        print(f"{r['kernel']:22}{r['tile']:>6}{'*' if r['used'] else ' '} {r['multiply_adds']:>4} {r['loads']:>5} "
              f"{r['instructions']:>5} {r['stack']:>5} {r['n1_percent']:>6.0f} {r['n1_bound_percent']:>6.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--menu", action="store_true", help="all tiles on the menu, not only MobileNet-V2's")
    parser.add_argument("--optimize", default="-O2", help="optimisation level (default: -O2)")
    parser.add_argument("--flag", action="append", default=[], help="flag for the compilers, such as --flag=-mcpu=cortex-a55")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--xsimd", help="folder that contains xsimd/xsimd.hpp")
    options = parser.parse_args()

    tool = next(filter(shutil.which, TOOLS), None)
    if not tool:
        sys.exit("llvm-mca was not found; scripts/setup --with arm installs it")
    found = [(name, command) for name, command, isas in compilers.installed(True) if "neon" in isas]
    if not found:
        sys.exit("no compiler for aarch64 was found; scripts/setup --with arm installs one")
    result = []
    for name, command in found:
        table = rows(tool, name, command, options.optimize, options.flag, options.menu, options.xsimd)
        result += table
        if not options.json:
            version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout.splitlines()[0]
            print(f"\n{name} {' '.join([options.optimize, *options.flag])}: {version}; {tool}")
            show(table)
            sys.stdout.flush()
    if options.json:
        json.dump(result, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
