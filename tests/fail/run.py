#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that mistakes do not compile, and that the compiler says why in a few lines.

usage: run.py [-I <directory>]... [--only <name>]... [--of <n> [--part <i>]...] [--mistakes] [--table] <compiler> [flag...]

Each .cpp in this folder contains one mistake, and comments that describe the compiler's output:
    // expect: <regular expression>      must match the output; there may be several
    // misfit: <fault> <op> <layer number> <expects> <gets>
                                         likewise layer_fits<...> with these, on the source line that ends in `// here`
    // lines: <number>                   the largest number of lines of output (default: 15)
    // flags: <flag>...                  the mistake is to compile with these; every such line is another mistake
    // clang: <flag>...                  likewise, for clang only, which knows all targets
    // cure: <flag>...                   with these added to its flags, every mistake must compile
With -DAGO_POSITIVE the file has no mistake and must compile, which shows that it is the mistake that fails. Files with
the same headers are then compiled as one, each in a namespace of its own, and one by one if that fails. It is the same for
all compilers, so that one of them suffices.
"""
import argparse
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent


def misfit(words, lines):
    """The expected output for layer_fits<...>."""
    here = [number for number, line in enumerate(lines, 1) if line.endswith("// here")]
    what, where, layer, expected, actual = words.split()
    own = "ago::lowering::"
    return (rf"layer_fits<ago::ir::fault::{what}, ago::ir::op::{where}, {own}layer_number<{layer}>, "
            rf"{own}source_line<{here[0] if len(here) == 1 else '?'}>, {own}expects<{expected}>, {own}gets<{actual}>")


def statements(source):
    """The statements in a file's comments: kind and text."""
    lines = source.read_text().splitlines()
    stated = [m.groups() for line in lines
              if (m := re.match(r"// (expect|misfit|lines|flags|clang|cure): (.+)", line))]
    return [("expect", misfit(text, lines)) if kind == "misfit" else (kind, text) for kind, text in stated]


class Compiler:
    """A compiler with its flags, and ago.hpp as it has precompiled it: that header takes most of the time otherwise."""

    def __init__(self, command, folder):
        self.command = command
        header = pathlib.Path(folder, "precompiled.hpp")
        header.write_text("#include <ago/ago.hpp>\n")
        clang = is_clang(command[0])
        output = header.with_name("precompiled.pch" if clang else "precompiled.hpp.gch")
        subprocess.run([*command, "-x", "c++-header", str(header), "-o", str(output)], check=True)
        self.precompiled = ["-include-pch", str(output)] if clang else ["-include", str(header)]

    def run(self, source, *flags):
        command = self.command
        if any(flag.startswith("--target") for flag in flags):  # for another processor
            command = [word for word in command if not word.startswith(("-march=", "-mcpu="))]
        # The output then names a file of this folder as the expectations do.
        name = source.name if source.parent == FOLDER else str(source)
        return subprocess.run([*command, *flags, "-fsyntax-only", name], cwd=FOLDER,
                              env=dict(os.environ, LC_ALL="C"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)

    def run_precompiled(self, source, *flags):
        """Likewise, with the precompiled header where it changes no line of the output but the names of files: if the
        source includes ago.hpp first, and the flags define nothing but the source's own macros."""
        first = re.search(r"#include <(.*)>", source.read_text())
        if first and first[1] == "ago/ago.hpp" and all(re.match("-D[A-Z]", flag) for flag in flags):
            flags = (*flags, *self.precompiled)
        return self.run(source, *flags)


def faults_of_output(wrong, limit, patterns):
    """What is wrong with the output for a mistake."""
    printed = len(wrong.stdout.splitlines())
    faults = ["the mistake compiles"] if wrong.returncode == 0 else []
    faults += [f"no match for: {p}" for p in patterns if not re.search(p, wrong.stdout)]
    if printed > limit:
        faults.append(f"{printed} lines, more than {limit}")
    return faults


def check_mistake(compiler, source, flags, stated):
    """Faults of one mistake, and the number of lines of its output."""
    limit = next((int(text) for kind, text in stated if kind == "lines"), 15)
    patterns = [text for kind, text in stated if kind == "expect"]
    wrong = compiler.run_precompiled(source, *flags)
    faults = faults_of_output(wrong, limit, patterns)
    if faults:  # Clang prints a line more with the precompiled header
        wrong = compiler.run(source, *flags)
        faults = faults_of_output(wrong, limit, patterns)
    for cure in (text for kind, text in stated if kind == "cure"):
        cured = compiler.run(source, *flags, *cure.split())
        if cured.returncode:
            faults.append(f"it does not compile even with {cure}:\n{cured.stdout}")
    if faults:
        faults.append(f"the compiler printed, with {' '.join(flags) or 'no flags'}:\n{wrong.stdout}")
    return faults, len(wrong.stdout.splitlines())


def headers(source):
    """The headers that a file includes, whatever its macros."""
    return tuple(re.findall(r"^#include <.*>$", source.read_text(), re.MULTILINE))


def compiling_without_mistakes(compiler, sources, folder):
    """Those of several files that compile without their mistakes, as far as one compilation for all files with the same
    headers shows it."""
    by_headers = {}
    for source in sources:
        by_headers.setdefault(headers(source), []).append(source)
    found = set()
    for number, (includes, group) in enumerate(by_headers.items()):
        whole = pathlib.Path(folder, f"without_mistakes_{number}.cpp")
        parts = [f'namespace of_{s.stem} {{\n#include "{s}"\n}}' for s in group]
        whole.write_text("\n".join([*includes, *parts, ""]))
        if len(group) > 1 and compiler.run_precompiled(whole, "-DAGO_POSITIVE").returncode == 0:
            found.update(group)
    return found


def check(compiler, source, known_as_right):
    """Faults of one file, and the most lines of output among its mistakes."""
    stated = statements(source)
    if not any(kind == "expect" for kind, _ in stated):
        raise ValueError(f"{source.name} expects nothing")
    faults, most = [], 0
    if not known_as_right:
        right = compiler.run_precompiled(source, "-DAGO_POSITIVE")
        if right.returncode:
            faults.append(f"it does not compile even without the mistake:\n{right.stdout}")
    kinds = ("flags", "clang") if is_clang(compiler.command[0]) else ("flags",)
    for flags in [text.split() for kind, text in stated if kind in kinds] or [[]]:
        found, printed = check_mistake(compiler, source, flags, stated)
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
    arguments.add_argument("--of", type=int, default=1, help="number of parts into which the files are divided")
    arguments.add_argument("--part", type=int, action="append", default=[], help="only this part, counted from 0")
    arguments.add_argument("--mistakes", action="store_true", help="do not compile files without their mistakes")
    arguments.add_argument("--table", action="store_true", help="print the number of lines for each mistake")
    arguments.add_argument("compiler", nargs=argparse.REMAINDER)
    options = arguments.parse_args()
    command = [*options.compiler, "-std=c++20", *(f"-I{path}" for path in options.include)]
    sources = [s for s in sorted(FOLDER.glob("*.cpp")) if not options.only or s.stem in options.only]
    sources = [s for i, s in enumerate(sources) if i % options.of in (options.part or range(options.of))]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(command, folder)
        right = sources if options.mistakes else compiling_without_mistakes(compiler, sources, folder)
        for source in sources:
            faults, printed = check(compiler, source, source in right)
            failed += bool(faults)
            for fault in faults:
                print(f"{source.name}: {fault}")
            if options.table:
                print(f"{printed:4} {source.stem}")
    print(f"{len(sources)} mistakes, {failed} not reported correctly")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
