#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that mistakes do not compile, and that the compiler says why in a few lines.

usage: run.py [-I <directory>]... [--only <name>]... [--table] <compiler> [flag...]

Each .cpp in this folder contains one mistake, and comments that describe the compiler's output:
    // expect: <regular expression>      must match the output; there may be several
    // misfit: <fault> <op> <layer number> <expects> <gets>
                                         likewise layer_fits<...> with these, on the source line that ends in `// here`
    // lines: <number>                   the largest number of lines of output (default: 15)
    // flags: <flag>...                  the mistake is to compile with these; every such line is another mistake
    // clang: <flag>...                  likewise, for clang only, which knows all targets
    // cure: <flag>...                   with these added to its flags, every mistake must compile
With -DAGO_POSITIVE the file has no mistake and must compile, which shows that it is the mistake that fails.
"""
import argparse
import functools
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def misfit(words, lines):
    """The expected output for layer_fits<...>."""
    here = [number for number, line in enumerate(lines, 1) if line.endswith("// here")]
    what, where, layer, expected, actual = words.split()
    return (rf"layer_fits<ago::fault::{what}, ago::op::{where}, ago::layer_number<{layer}>, "
            rf"ago::source_line<{here[0] if len(here) == 1 else '?'}>, ago::expects<{expected}>, ago::gets<{actual}>")


def statements(source):
    """The statements in a file's comments: kind and text."""
    lines = source.read_text().splitlines()
    stated = [m.groups() for line in lines
              if (m := re.match(r"// (expect|misfit|lines|flags|clang|cure): (.+)", line))]
    return [("expect", misfit(text, lines)) if kind == "misfit" else (kind, text) for kind, text in stated]


def compile_file(command, source, *flags):
    environment = dict(os.environ, LC_ALL="C")
    return subprocess.run([*command, *flags, "-fsyntax-only", source.name], cwd=FOLDER, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def check_mistake(command, source, flags, stated):
    """Faults of one mistake, and the number of lines of its output."""
    limit = next((int(text) for kind, text in stated if kind == "lines"), 15)
    patterns = [text for kind, text in stated if kind == "expect"]
    if any(flag.startswith("--target") for flag in flags):  # for another processor
        command = [word for word in command if not word.startswith(("-march=", "-mcpu="))]
    wrong = compile_file(command, source, *flags)
    printed = len(wrong.stdout.splitlines())
    faults = ["the mistake compiles"] if wrong.returncode == 0 else []
    faults += [f"no match for: {p}" for p in patterns if not re.search(p, wrong.stdout)]
    if printed > limit:
        faults.append(f"{printed} lines, more than {limit}")
    for cure in (text for kind, text in stated if kind == "cure"):
        cured = compile_file(command, source, *flags, *cure.split())
        if cured.returncode:
            faults.append(f"it does not compile even with {cure}:\n{cured.stdout}")
    if faults:
        faults.append(f"the compiler printed, with {' '.join(flags) or 'no flags'}:\n{wrong.stdout}")
    return faults, printed


def check(command, source):
    """Faults of one file, and the most lines of output among its mistakes."""
    stated = statements(source)
    if not any(kind == "expect" for kind, _ in stated):
        raise ValueError(f"{source.name} expects nothing")
    faults, most = [], 0
    right = compile_file(command, source, "-DAGO_POSITIVE")
    if right.returncode:
        faults.append(f"it does not compile even without the mistake:\n{right.stdout}")
    kinds = ("flags", "clang") if is_clang(command[0]) else ("flags",)
    for flags in [text.split() for kind, text in stated if kind in kinds] or [[]]:
        found, printed = check_mistake(command, source, flags, stated)
        faults += found
        most = max(most, printed)
    return faults, most


@functools.cache
def is_clang(compiler):
    return "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("-I", dest="include", action="append", default=[])
    arguments.add_argument("--only", action="append", default=[], help="name of a file, without .cpp")
    arguments.add_argument("--table", action="store_true", help="print the number of lines for each mistake")
    arguments.add_argument("compiler", nargs=argparse.REMAINDER)
    options = arguments.parse_args()
    command = [*options.compiler, "-std=c++20", *(f"-I{path}" for path in options.include)]
    sources = [s for s in sorted(FOLDER.glob("*.cpp")) if not options.only or s.stem in options.only]
    failed = 0
    for source in sources:
        faults, printed = check(command, source)
        failed += bool(faults)
        for fault in faults:
            print(f"{source.name}: {fault}")
        if options.table:
            print(f"{printed:4} {source.stem}")
    print(f"{len(sources)} mistakes, {failed} not reported correctly")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
