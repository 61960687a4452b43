#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the inner loops of the kernels keep everything in registers.

Compiles kernels.cpp, with all register tiles that the default schedule may choose, with every compiler found, and looks
for instructions that must not be in an innermost loop: on neon, any access to the stack, and multiplications, additions
and broadcasts where a multiply-add by a lane suffices; for cores that issue in order, any load of 128 bits; on x86, a vector that is stored to the stack or loaded from it
(general registers may be, because 14 pixels need more displacements than there are). Every loop of the menu must be found.
"""
import argparse
import re
import sys
import time

import compilers

EXIT_SKIPPED = 77
# g++ allocates registers differently when it tunes for a particular processor, as with -march=native.
TUNED = {("g++", "avx512"): ["-mtune=znver3"]}


IN_ORDER = "-DAGO_IN_ORDER"


def steps_of(isa, flags, pixels, vectors):
    """Steps of K in an iteration of the main loop."""
    if isa != "neon":
        return 1
    if IN_ORDER not in flags or (pixels > 1 and pixels * vectors < 6) or (pixels == 1 and vectors > 12):
        return 4
    fits = 6 * vectors + pixels + (vectors + 1) // 2 + 8 <= 2 * pixels * vectors
    return 2 if pixels > 1 and fits else 4


def multiply_adds_of(isa, flags, pixels, vectors):
    """In an iteration of the main loop. Of one pixel, every third vector of channels is multiplied in halves."""
    halved = (vectors + 2) // 3 if isa == "neon" and IN_ORDER in flags and pixels == 1 and vectors <= 12 else 0
    return steps_of(isa, flags, pixels, vectors) * (pixels * vectors + halved)


def faults(found, isa, flags):
    """The faults of one loop: (line of the assembly, instruction, sentence)."""
    loop = found.loop
    tile = found.pixels, found.vectors
    if found.kernel == "pointwise" and loop.multiply_adds > found.pixels * found.vectors and IN_ORDER in flags:
        halves = tile[1] <= 12 if tile[0] == 1 else tile[0] * tile[1] >= 6
        wide = [i for i in loop.all if i.name.startswith("ld") and re.match(r"q\d|\{", i.operands)]
        allowed = 4 * (tile[1] - (tile[1] + 2) // 3) if tile[0] == 1 else 0
        if halves and len(wide) > allowed:
            yield wide[allowed], "loads 128 bits"
    if IN_ORDER in flags and (found.kernel in ("depthwise", "transposed") or "rows_of_window" in loop.function):
        for i in loop.all:
            if i.name.startswith("ld") and re.match(r"q\d|\{", i.operands):
                yield i, "loads 128 bits"
    for i in loop.stack():
        if isa == "neon" or re.search(r"%[xyz]mm", i.operands):
            yield i, "touches the stack"
    if isa == "neon":
        for i in loop.all:
            if i.name in ("fmul", "fadd", "dup"):
                yield i, "is not a multiply-add"


def check(command, isa, flags, source, xsimd):
    """(number of loops, tiles of the main loops, complaints)."""
    text = compilers.assembly(command, isa, flags[0], source, flags[1:], xsimd)
    kernels = [k for k in compilers.kernel_loops(text, isa) if isa == "neon" or k.kernel != "depthwise"]
    tiles = {(k.pixels, k.vectors) for k in kernels
             if k.kernel == "pointwise" and k.loop.multiply_adds == multiply_adds_of(isa, flags, k.pixels, k.vectors)}
    complaints = [f"{k.name}: assembly line {i.line}: {i}: {what}"
                  for k in kernels for i, what in faults(k, isa, flags)]
    if isa == "neon" and source == compilers.HERE / "kernels.cpp":
        windows = {k.window for k in kernels if k.kernel == "depthwise"}
        for window in (" 3x3 stride 1", " 3x3 stride 2", " 5x5 stride 1", " 5x5 stride 2"):
            if window not in windows:
                complaints.append(f"depthwise{window}: the loop was not found")
        transposed = {k.vectors for k in kernels if k.kernel == "transposed" and k.loop.multiply_adds == 8 * k.vectors}
        for vectors in range(1, 6) if IN_ORDER in flags else ():  # two steps of K
            if vectors not in transposed:
                complaints.append(f"transposed 4x{vectors}: the loop was not found")
    return len(kernels), tiles, complaints


def expected_tiles(isa):
    """The menu of is_matrix_tile and longest_tile, written independently."""
    tiles = set()
    for pixels in range(1, 17):
        for vectors in range(1, 17):
            accumulators = pixels * vectors
            if isa == "neon":
                fits = accumulators + pixels + (4 if pixels < 5 else 2) <= 30
            else:
                fits = accumulators + vectors + 1 <= (32 if isa == "avx512" else 16)
            if fits and pixels <= (16 if vectors == 1 else 14):
                tiles.add((pixels, vectors))
    return tiles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every Clang found, every tuning, -O2 and -O3, neon's "
                        "loops for both kinds of cores by every compiler, and MobileNet-V2 as well")
    parser.add_argument("--source", help="another translation unit instead")
    parser.add_argument("--isa", choices=compilers.FLAGS, help="only this instruction set")
    parser.add_argument("--xsimd", help="folder that contains xsimd/xsimd.hpp")
    options = parser.parse_args()

    found = compilers.installed(options.full)
    several_for_arm = len({"clang" in name for name, _, isas in found if "neon" in isas}) > 1
    if not any("neon" in isas for _, _, isas in found):
        print("no compiler for aarch64 was found: neon is not checked")
    sources = [compilers.HERE / name for name in ["kernels.cpp", *(["network.cpp"] if options.full else [])]]
    if options.source:
        sources = [compilers.pathlib.Path(options.source).resolve()]
    bad = done = 0
    for name, command, isas in found:
        for isa in isas if not options.isa else {options.isa} & {*isas}:
            levels = ["-O2", "-O3"] if options.full else ["-O2"]
            tuned = [["-O2", flag] for flag in TUNED.get((command[0], isa), ())]
            variants = [[level] for level in levels] if options.full or not tuned else []
            variants += tuned
            if isa == "neon":  # the longest by far: of several compilers, g++ has one kind of cores, Clang the other
                in_order = ["-O2", IN_ORDER]
                if options.full or not several_for_arm:
                    variants.append(in_order)
                elif "clang" not in name:
                    variants = [in_order]
            for flags in variants:
                for source in sources:
                    start = time.monotonic()
                    count, tiles, complaints = check(command, isa, flags, source, options.xsimd)
                    if source.name == "kernels.cpp":
                        missing = sorted(expected_tiles(isa) ^ tiles)
                        complaints += [f"pointwise {p}x{v}: differs from the menu" for p, v in missing]
                    print(f"{name} {isa} {' '.join(flags)} {source.name}: {count} loops, {len(complaints)} faults "
                          f"({time.monotonic() - start:.0f} s)", *complaints[:20], sep="\n  ", flush=True)
                    bad += len(complaints)
                    done += 1
    if not done:
        print("skipped: no compiler was found")
        return EXIT_SKIPPED
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
